"""The choices of a page that is written to a file: links to the files of the other choices."""

from collections.abc import Mapping

from markupsafe import Markup

from app.public.choices import Choices
from app.public.site.published import Published, Query

_FORM = Markup('<nav class="ib-choices" aria-label="Choices">{}</nav>')
_FIELD = Markup('<div class="ib-field ib-switch"><p>{}</p><ul>{}</ul></div>')
_LINK, _HERE = (
    Markup('<li><a href="{}">{}</a></li>'),
    Markup('<li><strong aria-current="true">✓ {}</strong></li>'),
)
_BEHIND = Markup("<details><summary>{}</summary>{}</details>")
_MANY = 8
"""More links than these stand behind a heading."""


class Links(Choices):
    """Chooses as `Choices` does, and shows of the other options those that have a file."""

    def __init__(self, asked: Query, *, path: str, published: Published) -> None:
        super().__init__(asked)
        self._path, self._published = path, published

    def search(self, label: str, *, name: str, hint: str) -> str:
        return ""

    def number(self, label: str, *, name: str, default: float, most: float, step: float) -> float:
        return default

    def form(self) -> Markup:
        shown = [one for one in self._fields if one]
        return _FORM.format(Markup("").join(shown)) if shown else Markup("")

    def _select(self, label: str, options: Mapping[str, str], name: str, chosen: str, default: str) -> Markup:
        shown = [
            _HERE.format(said) if word == chosen else _LINK.format(where, said)
            for word, said in options.items()
            if (where := self._where(name, word, default)) is not None or word == chosen
        ]
        if len(shown) < 2:
            return Markup("")
        field = _FIELD.format(label, Markup("").join(shown))
        return field if len(shown) <= _MANY else _BEHIND.format(f"{label}: {options[chosen]}", field)

    _radios = _select

    def _where(self, name: str, word: str, default: str) -> str | None:
        """The file of another option with all else as it is, or with nothing else chosen; None where there is none."""
        first = {} if word == default else {name: word}
        others = {key: value for key, value in self._asked.items() if key != name}
        alone = {key: value for key, value in others.items() if key in ("study", "metric")}
        for query in ({**others, **first}, {**others, name: word}, {**alone, **first}):
            found = self._published.find(self._path, query)
            if found is not None and "#" not in found:
                return f"/{found}"
        return None
