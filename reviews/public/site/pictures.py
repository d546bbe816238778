"""Pictures as SVG: points with their intervals on a scale from 0 to 100, in the colour of the text around them."""

from collections.abc import Sequence

from markupsafe import Markup, escape

from validation.results import Estimate

_LEFT, _WIDTH, _ROW, _PAD, _LONGEST = 250, 320, 22, 26, 36


def intervals(rows: Sequence[tuple[str, Estimate, bool]], *, title: str) -> Markup:
    """Rates one below the other: name, rate, and whether it is known. What is not known is drawn hollow and broken."""
    height = _PAD + _ROW * len(rows) + 6
    parts = [
        Markup('<svg class="chart" role="img" viewBox="0 0 {} {}" aria-label="{}">').format(
            _LEFT + _WIDTH + 20, height, title
        )
    ]
    for tick in (0, 25, 50, 75, 100):
        x = _x(tick / 100)
        parts.append(
            Markup(
                '<line class="grid" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/><text x="{0}" y="14" class="tick">{3}%</text>'
            ).format(x, _PAD - 6, height - 4, tick)
        )
    parts += [_row(k, *row) for k, row in enumerate(rows)]
    return Markup("").join([*parts, Markup("</svg>")])


def _row(k: int, name: str, rate: Estimate, known: bool) -> Markup:
    y = _PAD + _ROW * k + _ROW // 2
    text = Markup('<text x="{}" y="{}" class="name">{}</text>').format(
        _LEFT - 10, y + 4, escape(name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…")
    )
    if rate.value is None:
        return text
    kind = "known" if known else "doubt"
    line = Markup("")
    if rate.low is not None and rate.high is not None:
        line = Markup('<line class="{0}" x1="{1}" x2="{2}" y1="{3}" y2="{3}"/>').format(
            kind, _x(rate.low), _x(rate.high), y
        )
    return (
        text + line + Markup('<circle class="{}" cx="{}" cy="{}" r="4.5"/>').format(kind, _x(rate.value), y)
    )


def _x(share: float) -> str:
    return f"{_LEFT + _WIDTH * share:.1f}"
