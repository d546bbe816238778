import re

from app.components.forest import as_html
from validation.results import Estimate


def test_a_row_stands_where_its_numbers_are_and_one_without_a_number_is_said_in_words() -> None:
    shown = as_html(
        [
            ("not known", Estimate.undefined("no_variation", n=4)),
            ("<b>all</b>", Estimate(value=0.25, low=-0.9, high=0.625, n=1200)),
            ("no interval", Estimate(value=1.0, n=3)),
        ],
        title="α",
        cut_off=0.7,
        lowest=-0.5,
    )
    # The axis is 1.5 long: 0.25 stands half way, 0.625 a quarter before the end, and what reaches beyond it is cut.
    assert re.findall(r"--low:(\S+?);--high:(\S+?);--value:(\S+?)\"", shown) == [
        ("0.00%", "25.00%", "50.00%"),
        ("100.00%", "0.00%", "100.00%"),
    ]
    assert "--cut:80.00%" in shown
    rows = re.findall(r"<p>(.*?)</p>", shown)
    assert rows[:2] == ["&lt;b&gt;all&lt;/b&gt;  ·  n 1,200", "no interval  ·  n 3"]
    assert rows[-1].startswith("not known  ·  n 4  ·  not defined: everybody gave the same answer")
    assert re.findall(r'<span style="left:([\d.]+%)">(.*?)</span>', shown) == [
        ("0.00%", "−0.5"),
        ("33.33%", "0"),
        ("66.67%", "0.5"),
        ("100.00%", "1"),
    ]


def test_of_many_rows_the_first_are_drawn_and_the_others_counted() -> None:
    known = Estimate(value=0.5, low=0.4, high=0.6, n=9)
    unknown = Estimate.undefined("no_variation", n=4)
    shown = as_html([*((f"m{k}", known) for k in range(59)), ("x", unknown), ("y", unknown)], title="rate")
    assert shown.count("title=") == 59
    assert re.findall(r"<p>([^<]*)</p>", shown)[-2:] == [
        "x  ·  n 4  ·  not defined: everybody gave the same answer, so agreement cannot be told from chance",
        "… and 1 more, which the table has.",
    ]
