"""Tables that are part of the page: on a phone a cell of many figures still says what it is."""

import re

from app.components.plain_table import as_html

COLUMNS = ("Figure", "Value", "n <items>", "Says")
ROWS = [("α", "0.74", "72", "")]


def test_a_row_of_many_figures_names_the_column_of_each() -> None:
    shown = as_html("Coefficients", COLUMNS, ROWS, of="figures")
    assert re.findall(r'data-of="([^"]*)"', shown) == ["Value", "n &lt;items&gt;", "Says"]
    assert 'class="ib-table ib-figures ib-many"' in shown


def test_words_and_few_figures_do_not() -> None:
    for shown in (
        as_html("Reasons", COLUMNS, ROWS, of="words"),
        as_html("Few", COLUMNS[:3], [row[:3] for row in ROWS], of="figures"),
    ):
        assert "data-of=" not in shown.partition("</style>")[2]


def test_rows_and_columns_are_said_for_those_who_cannot_see_them() -> None:
    shown = as_html("Coefficients", COLUMNS, ROWS, of="figures").partition("</style>")[2]
    assert 'role="region" aria-label="Coefficients"' in shown
    assert shown.count('role="columnheader"') == 4
    assert shown.count('role="rowheader"') == 1
    assert shown.count('role="cell"') == 3
