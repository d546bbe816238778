import numpy as np
import pandas as pd
import pytest

from validation.ratings import MISSING, Ratings, RatingsError

FRAME = pd.DataFrame(
    {
        "unit": ["u2", "u1", "u2", "u1", "u3"],
        "rater": ["b", "b", "a", "a", "a"],
        "value": ["pass", "fail", "pass", None, "fail"],
        "metric": ["m1", "m1", "m1", "m1", "m2"],
    }
)
CATEGORIES = ["fail", "borderline", "pass"]


def test_units_and_raters_keep_the_order_of_first_appearance() -> None:
    ratings = Ratings.from_frame(FRAME, categories=CATEGORIES)
    assert ratings.units == ("u2", "u1", "u3")
    assert ratings.raters == ("b", "a")
    assert ratings.codes.tolist() == [[2, 2], [0, MISSING], [MISSING, 0]]


def test_counts_hold_a_column_for_every_declared_category_used_or_not() -> None:
    ratings = Ratings.from_frame(FRAME, categories=CATEGORIES)
    assert ratings.counts.tolist() == [[0, 0, 2], [1, 0, 0], [1, 0, 0]]
    assert ratings.ratings_per_unit.tolist() == [2, 1, 1]
    assert ratings.pairable.tolist() == [True, False, False]
    assert ratings.n_ratings == 4


def test_a_unit_whose_only_rating_is_empty_keeps_its_row() -> None:
    frame = pd.DataFrame({"unit": [1, 2], "rater": ["a", "a"], "value": ["pass", None]})
    assert len(Ratings.from_frame(frame, categories=CATEGORIES).units) == 2


def test_other_column_names_can_be_given() -> None:
    frame = FRAME.rename(columns={"unit": "item", "rater": "who", "value": "label"})
    ratings = Ratings.from_frame(frame, categories=CATEGORIES, unit="item", rater="who", value="label")
    assert ratings.n_ratings == 4


def test_clusters_are_numbered_by_unit() -> None:
    ratings = Ratings.from_frame(FRAME, categories=CATEGORIES, cluster="metric")
    assert ratings.clusters is not None
    assert ratings.clusters.tolist() == [0, 0, 1]
    assert ratings.n_clusters == 2


def test_selected_units_have_their_clusters_numbered_anew() -> None:
    ratings = Ratings.from_frame(FRAME, categories=CATEGORIES, cluster="metric")
    last = ratings.select(np.array([False, False, True]))
    assert last.units == ("u3",)
    assert last.raters == ratings.raters
    assert last.clusters is not None
    assert last.clusters.tolist() == [0]


def test_numbers_read_with_gaps_still_match_whole_numbered_categories() -> None:
    frame = pd.DataFrame({"unit": [1, 1, 2], "rater": ["a", "b", "a"], "value": [1.0, np.nan, 2.0]})
    assert Ratings.from_frame(frame, categories=[1, 2]).codes.tolist() == [[0, MISSING], [1, MISSING]]


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (FRAME.drop(columns="rater"), "there is no column 'rater'"),
        (
            FRAME.assign(value=["pass", "fial", "pass", None, "fail"]),
            "row 2: 'fial' is not one of the declared",
        ),
        (FRAME.assign(rater=["b", "b", "a", "a", None]), "row 5: the column 'rater' is empty"),
        (FRAME.assign(unit=["u2", "u1", "u2", "u1", None]), "row 5: the column 'unit' is empty"),
        (
            FRAME.assign(rater=["b", "b", "b", "a", "a"]),
            "rows 1 and 3: two ratings of unit 'u2' by rater 'b'",
        ),
    ],
)
def test_a_table_that_is_not_one_is_refused_by_row_and_value(frame: pd.DataFrame, words: str) -> None:
    with pytest.raises(RatingsError, match=words):
        Ratings.from_frame(frame, categories=CATEGORIES)


def test_a_category_declared_twice_is_refused() -> None:
    with pytest.raises(RatingsError, match="declared twice"):
        Ratings.from_frame(FRAME, categories=["pass", "fail", "pass"])


def test_a_unit_in_two_clusters_is_refused() -> None:
    frame = FRAME.assign(metric=["m1", "m1", "m2", "m1", "m2"])
    with pytest.raises(RatingsError, match="row 3: unit 'u2' stands in two clusters"):
        Ratings.from_frame(frame, categories=CATEGORIES, cluster="metric")


def test_a_cluster_without_a_name_is_refused() -> None:
    frame = FRAME.assign(metric=["m1", None, "m1", "m1", "m2"])
    with pytest.raises(RatingsError, match="row 2: the column 'metric' is empty"):
        Ratings.from_frame(frame, categories=CATEGORIES, cluster="metric")


def test_an_empty_table_has_no_units_and_counts_of_the_right_width() -> None:
    ratings = Ratings.from_table([], categories=CATEGORIES)
    assert ratings.units == ()
    assert ratings.counts.shape == (0, 3)
    assert ratings.n_ratings == 0


def test_a_wide_table_is_the_same_as_its_long_form() -> None:
    wide = Ratings.from_table([["pass", "fail"], [None, "pass"]], categories=CATEGORIES)
    long = Ratings.from_frame(
        pd.DataFrame({"unit": [0, 0, 1], "rater": ["r1", "r2", "r2"], "value": ["pass", "fail", "pass"]}),
        categories=CATEGORIES,
    )
    assert np.array_equal(wide.codes, long.codes)
