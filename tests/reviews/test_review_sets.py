from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Engine
from sqlmodel import col, select

from impactbench.domain import LabelStatus, LabelVerdict, Panel, Role
from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.store.engine import connect, writing
from reviews.assignment import Member, PlanRefused
from reviews.design.drafts import ReviewSetDraft
from reviews.design.progress import count_slots
from reviews.design.review_sets import draft_review_set, save
from reviews.members.raters import add_person, parse_rater, read_raters
from tests.reviews.invented_study import add_imported_labels, add_raters, add_study

FOUR = [parse_rater(text) for text in ("Ada:internal", "Bo:internal", "Cy:external", "Di:external")]


def draft_of(engine: Engine, **more: object) -> ReviewSetDraft:
    arguments = {"overlap": 3, "seed": 7, "raters": FOUR, **more}
    return draft_review_set(engine, "winter", **arguments)  # type: ignore[arg-type]


def stored(engine: Engine) -> set[tuple[str, str, str, int]]:
    """(run, conversation, rater, position)."""
    rows = frames.assignments(engine, "winter").merge(
        frames.conversations(engine, "winter"), on="conversation_id"
    )
    return set(zip(rows["run"], rows["conversation"], rows["rater"], rows["position"], strict=True))


def test_a_saved_set_holds_the_plan_of_the_preview(engine: Engine) -> None:
    add_study(engine)
    draft = draft_of(engine)
    assert frames.assignments(engine, "winter").empty
    saved = save(engine, draft)
    assert saved.added == saved.asked == 48
    assert stored(engine) == {(*s.item.split("::"), s.rater, s.position) for s in draft.plan.seats}
    frame = frames.assignments(engine, "winter")
    assert set(frame["inclusion_probability"]) == {1.0}
    assert Counter(frame["stratum"])["kindness/m01 | positive | Tansy | teen"] == 2 * 3
    assert frame.groupby("conversation_id")["panel"].nunique().eq(2).all()
    assert frame["rater"].value_counts().eq(12).all()


def test_codes_are_unguessable_and_no_part_of_the_plan(engine: Engine, sqlite_url: str) -> None:
    add_study(engine)
    save(engine, draft_of(engine))
    codes = frames.assignments(engine, "winter")["code"]
    assert codes.is_unique
    assert codes.str.fullmatch("[0-9a-f]{20}").all()
    if engine.url.get_backend_name() == "postgresql":
        other = connect(sqlite_url)
        add_study(other)
        save(other, draft_of(other))
        assert not set(codes) & set(frames.assignments(other, "winter")["code"])
        assert stored(other) == stored(engine)


def test_the_plan_does_not_depend_on_row_ids(engine: Engine, tmp_path: Path, sqlite_template: Path) -> None:
    (tmp_path / "other.db").write_bytes(sqlite_template.read_bytes())
    other = connect(f"sqlite:///{tmp_path / 'other.db'}")
    add_study(engine)
    add_study(other, reverse=True)
    first, second = draft_of(engine, items=10), draft_of(other, items=10)
    assert first.plan.plan_hash == second.plan.plan_hash
    assert first.design_hash == second.design_hash
    other.dispose()


def test_opening_the_same_set_again_changes_nothing(engine: Engine) -> None:
    add_study(engine)
    save(engine, draft_of(engine))
    before = frames.assignments(engine, "winter")["code"].tolist()
    again = save(engine, draft_of(engine))
    assert (again.added, again.asked) == (0, 48)
    assert frames.assignments(engine, "winter")["code"].tolist() == before


def test_an_open_set_is_the_same_draft_even_after_later_sets(engine: Engine) -> None:
    add_study(engine)
    save(engine, draft_of(engine, items=4))
    later = [parse_rater(text) for text in ("Ed:internal", "Flo:external", "Gus:external")]
    save(engine, draft_of(engine, slug="second", raters=later))
    save(
        engine,
        draft_of(engine, slug="third", items=4, raters=[*FOUR, parse_rater("Hal:internal")], overlap=2),
    )
    assert save(engine, draft_of(engine, items=4)).added == 0


def test_another_plan_under_the_same_name_is_refused(engine: Engine) -> None:
    add_study(engine)
    save(engine, draft_of(engine, slug="first"))
    with pytest.raises(PlanRefused, match="'first' of the study 'winter' is open with another design"):
        save(engine, draft_of(engine, slug="first", seed=8))
    assert len(frames.assignments(engine, "winter")) == 48


def test_a_rater_is_never_given_a_conversation_twice(engine: Engine) -> None:
    add_study(engine)
    save(engine, draft_of(engine, overlap=2, raters=FOUR))
    more = [*FOUR, parse_rater("Ed:internal"), parse_rater("Flo:external")]
    save(engine, draft_of(engine, overlap=2, slug="second", raters=more))
    frame = frames.assignments(engine, "winter")
    assert len(frame) == 64
    assert not frame.duplicated(["conversation_id", "rater"]).any()


def test_raters_who_have_everything_already_are_refused(engine: Engine) -> None:
    add_study(engine)
    save(engine, draft_of(engine))
    with pytest.raises(PlanRefused, match="too few of these raters are free for any of the 16 conversations"):
        draft_of(engine, slug="second")


def test_conversations_that_the_raters_have_are_left_out_of_a_later_set_and_counted(engine: Engine) -> None:
    add_study(engine)
    first = draft_of(engine, slug="first", items=6)
    save(engine, first)
    second = draft_of(engine, slug="second", items=10, seed=8)
    assert not set(first.plan.teams) & set(second.plan.teams)
    assert second.summary["conversations"] == 10
    assert "6 conversations are left out" in second.notes[0]
    assert save(engine, second).added == 30


def test_two_drafts_at_once_do_not_give_a_rater_an_item_twice(engine: Engine) -> None:
    add_study(engine)
    first, second = draft_of(engine, slug="first"), draft_of(engine, slug="second")
    save(engine, first)
    with pytest.raises(PlanRefused, match="made by somebody else since the preview"):
        save(engine, second)
    assert set(frames.assignments(engine, "winter")["review_set"]) == {"first"}


def test_saving_from_many_threads_at_once_opens_the_set_once(engine: Engine) -> None:
    add_study(engine)
    draft = draft_of(engine)
    with ThreadPoolExecutor(6) as pool:
        added = list(pool.map(lambda _: save(engine, draft).added, range(6)))
    assert sorted(added) == [0, 0, 0, 0, 0, 48]
    assert len(frames.assignments(engine, "winter")) == 48


def test_new_raters_are_added_with_their_panel_and_without_a_link(engine: Engine) -> None:
    add_study(engine)
    add_raters(engine, "Ada", panel=Panel.INTERNAL)
    draft = draft_of(engine)
    assert [member.name for member in draft.newcomers] == ["Bo", "Cy", "Di"]
    save(engine, draft)
    people = frames.raters(engine).set_index("rater")
    assert people["panel"].to_dict() == {
        "Ada": "internal",
        "Bo": "internal",
        "Cy": "external",
        "Di": "external",
    }
    assert not people["may_sign_in"].any()


def test_without_names_every_active_expert_rates_and_nobody_else(engine: Engine) -> None:
    add_study(engine)
    add_raters(engine, "Ada", "Bo")
    add_raters(engine, "Max", role=Role.METHODOLOGIST)
    add_raters(engine, "Gone")
    add_imported_labels(engine, "Old hand")
    with writing(engine) as session:
        session.exec(select(t.Rater).where(t.Rater.pseudonym == "Gone")).one().active = False
    draft = draft_of(engine, raters=[], overlap=2)
    assert list(draft.plan.loads) == ["Ada", "Bo"]


def test_a_rater_of_imported_labels_takes_part_when_named_and_not_on_what_they_labelled(
    engine: Engine,
) -> None:
    add_study(engine)
    add_imported_labels(engine, "Old hand", conversations=3)
    draft = draft_of(engine, raters=[parse_rater("Old hand"), *FOUR], overlap=2)
    save(engine, draft)
    frame = frames.assignments(engine, "winter")
    assert not frame.duplicated(["conversation_id", "rater"]).any()
    assert draft.plan.loads["Old hand"] > 0


@pytest.mark.parametrize(
    ("raters", "sentence"),
    [
        (["Max:internal", "Ada"], "'Max' is a methodologist, and only experts rate"),
        (
            ["Ada:external", "Bo"],
            "'Ada' is on record as expert of the internal panel, not in the external panel",
        ),
        (["Gone", "Ada"], "'Gone' is no longer active"),
        (["Ada", "Zoe"], "'Zoe' is not known yet; write Zoe:internal or external"),
        (["Ada", "Ada"], "rater 'Ada' is named twice"),
    ],
)
def test_raters_who_cannot_rate_are_refused(sqlite_engine: Engine, raters: list[str], sentence: str) -> None:
    add_study(sqlite_engine)
    add_raters(sqlite_engine, "Ada", "Bo", "Gone", panel=Panel.INTERNAL)
    add_raters(sqlite_engine, "Max", role=Role.METHODOLOGIST)
    with writing(sqlite_engine) as session:
        session.exec(select(t.Rater).where(t.Rater.pseudonym == "Gone")).one().active = False
    with pytest.raises(PlanRefused, match=sentence):
        draft_of(sqlite_engine, raters=[parse_rater(text) for text in raters], overlap=2)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"metrics": ["m09"]}, "no complete conversation of a metric 'm09'; there are m01, m02"),
        (
            {"runs": ["run-x"]},
            "no complete conversation of a run 'run-x'; there are run-corvid-7, run-tansy-2",
        ),
        ({"strata": ["mood"]}, "'mood' cannot name strata"),
        ({"items": 17}, "give a number from 1 to 16"),
        ({"overlap": 5}, "overlap 5 needs 5 raters and there are 4"),
        ({"seed": -1}, "seed -1 cannot be kept; give a whole number from 0 to 2147483647"),
        ({"seed": 2**31}, "seed 2147483648 cannot be kept"),
    ],
)
def test_what_cannot_be_drafted_is_refused(
    sqlite_engine: Engine, arguments: dict[str, object], sentence: str
) -> None:
    add_study(sqlite_engine)
    with pytest.raises(PlanRefused, match=sentence):
        draft_of(sqlite_engine, **arguments)


def test_an_unknown_study_is_refused_with_those_there_are(sqlite_engine: Engine) -> None:
    with pytest.raises(PlanRefused, match="no study 'summer'; import a run first"):
        draft_review_set(sqlite_engine, "summer", overlap=2, seed=1)
    add_study(sqlite_engine)
    with pytest.raises(PlanRefused, match="no study 'summer'; there are winter"):
        draft_review_set(sqlite_engine, "summer", overlap=2, seed=1)


def test_filters_keep_to_metrics_and_runs(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    for metrics in (["m01"], ["kindness/m01"]):
        draft = draft_of(sqlite_engine, metrics=metrics, runs=["run-corvid-7"])
        assert {item.split("_")[0] for item in draft.plan.teams} == {"run-corvid-7::m01"}
        assert draft.summary["items"] == 4


def test_conversations_that_are_incomplete_or_have_no_transcript_are_not_sampled(
    sqlite_engine: Engine,
) -> None:
    add_study(sqlite_engine)
    with writing(sqlite_engine) as session:
        rows = session.exec(select(t.Conversation).order_by(col(t.Conversation.id))).all()
        rows[0].status, rows[1].status = "incomplete", "labels_only"
    assert draft_of(sqlite_engine).summary["conversations"] == 14


def test_the_summary_gives_the_numbers_of_the_preview(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    draft = draft_of(sqlite_engine, per_stratum=3)
    summary = draft.summary
    assert summary["items"] == 16
    assert summary["notes"] == ["8 strata have fewer than 3 conversations and give all they have."]
    assert [rater["items"] for rater in summary["raters"]] == [12, 12, 12, 12]
    assert all(rater["metrics"] == rater["families"] == 2 for rater in summary["raters"])
    assert draft.pair_matrix.loc["Ada", "Ada"] == 12
    assert draft.pair_matrix.to_numpy().sum() == 48 + 2 * 48
    assert summary["connected"]
    assert "Note" not in str(draft_of(sqlite_engine, items=5).summary["notes"])
    assert "strata have no item" in draft_of(sqlite_engine, items=5).summary["notes"][0]


def test_raters_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "raters.csv"
    path.write_text("rater,panel,note\nÁda,internal,x\n\nBo, External ,y\nCy,,\n", encoding="utf-8-sig")
    assert read_raters(path) == [
        Member(name="Áda", panel=Panel.INTERNAL),
        Member(name="Bo", panel=Panel.EXTERNAL),
        Member(name="Cy", panel=None),
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("rater;panel\nAda;internal\n", "has no column 'rater'; its first line must be rater,panel"),
        ("rater,panel\nAda,outer\n", "line 2: 'outer' is no panel; write internal or external"),
        ("rater,panel\nAda,internal\n ,external\n", "line 3: the column 'rater' is empty"),
    ],
)
def test_a_file_of_raters_that_is_wrong_is_refused_by_line(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "raters.csv"
    path.write_text(text)
    with pytest.raises(PlanRefused, match=sentence):
        read_raters(path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanRefused, match=r"none\.csv cannot be read"):
        read_raters(tmp_path / "none.csv")


def test_a_name_that_no_database_keeps_is_refused() -> None:
    with pytest.raises(PlanRefused, match="which no database can keep"):
        parse_rater("A\x00da:internal")


@pytest.mark.parametrize("text", [":internal", "  ", "Ada:outer"])
def test_a_rater_that_is_wrong_on_the_command_line_is_refused(text: str) -> None:
    with pytest.raises(PlanRefused, match="internal or external"):
        parse_rater(text)


def test_people_are_added_once(engine: Engine) -> None:
    assert add_person(engine, " Max ", role=Role.METHODOLOGIST)
    assert not add_person(engine, "Max", role=Role.METHODOLOGIST)
    with pytest.raises(PlanRefused, match="'Max' is known already as methodologist without a panel"):
        add_person(engine, "Max", role=Role.MAINTAINER)
    with pytest.raises(PlanRefused, match="a maintainer rates nothing"):
        add_person(engine, "Mia", role=Role.MAINTAINER, panel=Panel.INTERNAL)


def test_progress_is_counted_from_labels(engine: Engine) -> None:
    add_study(engine)
    save(engine, draft_of(engine))
    add_imported_labels(engine, "Old hand")
    frame = frames.assignments(engine, "winter")
    ada = frame[frame["rater"] == "Ada"]["assignment_id"].tolist()
    statuses = [(LabelStatus.SUBMITTED, LabelVerdict.PASS)] * 3
    statuses += [(LabelStatus.SKIPPED, None), (LabelStatus.CANNOT_JUDGE, None)]
    with writing(engine) as session:
        for assignment, (status, verdict) in zip(ada, statuses, strict=False):
            for revision in (1, 2):
                session.add(
                    t.Label(
                        assignment_id=assignment,
                        revision=revision,
                        operation=f"{assignment}-{revision}",
                        status=status,
                        verdict=verdict,
                    )
                )
    counts = count_slots(frames.assignments(engine, "winter", slots=True), frames.metrics(engine))
    by_rater = counts.by_rater.set_index("rater")
    assert by_rater.loc["Ada", ["asked", "done", "skipped", "cannot_judge", "waiting"]].tolist() == [
        12,
        3,
        1,
        1,
        7,
    ]
    assert "Old hand" not in by_rater.index
    by_metric = counts.by_metric
    assert by_metric["metric"].tolist() == ["kindness/m01", "kindness/m02"]
    assert by_metric[["items", "asked"]].sum().tolist() == [16, 48]
    assert by_metric["with_one_label"].sum() == by_metric["done"].sum() == 3


def test_progress_counts_raters_without_a_panel(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    add_raters(sqlite_engine, "Ada", "Bo")
    save(sqlite_engine, draft_of(sqlite_engine, raters=[], overlap=2))
    counts = count_slots(
        frames.assignments(sqlite_engine, "winter", slots=True), frames.metrics(sqlite_engine)
    )
    assert counts.by_rater["asked"].tolist() == [16, 16]
