"""What a reader may choose on a page: one form whose choices are in the address, so that a link shows what its sender saw.

It works without a script; with one (`page.js`) the page follows every choice by itself.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from markupsafe import Markup

_ONE = Markup(
    '<p class="ib-field"><label for="{id}">{label}</label><select id="{id}" name="{name}" data-default="{first}">{options}</select></p>'
)
_OPTION = Markup('<option value="{word}"{chosen}>{shown}</option>')
_SWITCH = Markup('<fieldset class="ib-field ib-switch"><legend>{label}</legend>{options}</fieldset>')
_RADIO = Markup(
    '<label><input type="radio" name="{name}" value="{word}" data-default="{first}"{chosen}><span>{shown}</span></label>'
)
_SEARCH = Markup(
    '<p class="ib-field ib-search"><label for="{id}">{label}</label><input type="search" id="{id}" name="{name}" value="{value}"'
    ' placeholder="{hint}" data-default="" autocomplete="off"></p>'
)
_NUMBER = Markup(
    '<p class="ib-field"><label for="{id}">{label}</label><input type="number" id="{id}" name="{name}" value="{value:g}"'
    ' min="{low:g}" max="{high:g}" step="{step:g}" data-default="{default:g}"></p>'
)
_KEPT = Markup('<input type="hidden" name="{name}" value="{value}">')
_BEHIND = Markup('<details class="ib-further"{opened}><summary>{label}</summary>{fields}</details>')
_FORM = Markup(
    '<form class="ib-choices" method="get">{kept}{fields}<p class="ib-show"><button type="submit">Show</button></p></form>'
)


class Choices:
    """Collects the choices of a page in the order in which it asks for them.

    Whatever the address says that is no option counts for the first one.
    """

    def __init__(self, asked: Mapping[str, str]) -> None:
        self._asked = asked
        self._fields: list[Markup] = []
        self._kept: dict[str, str] = {}
        self._number = 0
        self._changed = False

    def one(self, label: str, options: Mapping[str, str], *, name: str, kept: bool = False) -> str:
        """One of several, by the word that stands in the address; no field where there is no choice.

        Args:
            label: of the field.
            options: word -> what the reader sees; one or more.
            name: of the choice in the address.
            kept: whether the address holds it also where there is nothing to choose.
        """
        chosen, first = self._chosen(options, name)
        if len(options) > 1:
            self._fields.append(self._select(label, options, name, chosen, "" if kept else first))
        elif kept:
            self.keep(name, chosen)
        return chosen

    def switch(self, label: str, options: Mapping[str, str], *, name: str) -> str:
        """One of a few that stand side by side."""
        chosen, first = self._chosen(options, name)
        self._fields.append(self._radios(label, options, name, chosen, first))
        return chosen

    def search(self, label: str, *, name: str, hint: str) -> str:
        """Words to look for."""
        value = self._asked.get(name, "")
        self._fields.append(_SEARCH.format(id=self._id(), label=label, name=name, value=value, hint=hint))
        return value

    def number(self, label: str, *, name: str, default: float, most: float, step: float) -> float:
        """A number from 0."""
        try:
            asked = float(self._asked.get(name, default))
        except ValueError:
            asked = default
        value = min(max(asked, 0.0), most) if asked == asked else default
        self._changed |= value != default
        self._fields.append(
            _NUMBER.format(
                id=self._id(),
                label=label,
                name=name,
                value=value,
                low=0.0,
                high=most,
                step=step,
                default=default,
            )
        )
        return value

    def keep(self, name: str, value: str) -> None:
        """Have the address hold something that is no choice of the form."""
        self._kept[name] = value

    @contextmanager
    def behind(self, label: str) -> Iterator[None]:
        """Choices that stand behind a heading, open where one of them was made."""
        outer, self._fields = self._fields, []
        before, self._changed = self._changed, False
        yield
        inner, self._fields = self._fields, outer
        if any(inner):
            opened = _mark("open", when=self._changed)
            self._fields.append(_BEHIND.format(label=label, opened=opened, fields=Markup("").join(inner)))
        self._changed |= before

    def form(self) -> Markup:
        """The form; nothing where nothing can be chosen."""
        if not self._fields:
            return Markup("")
        kept = [_KEPT.format(name=name, value=value) for name, value in self._kept.items()]
        return _FORM.format(kept=Markup("").join(kept), fields=Markup("").join(self._fields))

    def _chosen(self, options: Mapping[str, str], name: str) -> tuple[str, str]:
        """The word that was chosen, and the one that counts where none was."""
        first = next(iter(options))
        asked = self._asked.get(name)
        chosen = asked if asked in options else first
        self._changed |= chosen != first
        return str(chosen), first

    def _select(self, label: str, options: Mapping[str, str], name: str, chosen: str, default: str) -> Markup:
        shown = [
            _OPTION.format(word=word, shown=said, chosen=_mark("selected", when=word == chosen))
            for word, said in options.items()
        ]
        return _ONE.format(
            id=self._id(), label=label, name=name, first=default, options=Markup("").join(shown)
        )

    def _radios(self, label: str, options: Mapping[str, str], name: str, chosen: str, default: str) -> Markup:
        shown = [
            _RADIO.format(
                name=name, word=word, first=default, shown=said, chosen=_mark("checked", when=word == chosen)
            )
            for word, said in options.items()
        ]
        return _SWITCH.format(label=label, options=Markup("").join(shown))

    def _id(self) -> str:
        self._number += 1
        return f"choice-{self._number}"


def _mark(word: str, *, when: bool) -> Markup:
    """An attribute that is there or not."""
    return Markup(f" {word}") if when else Markup("")  # noqa: S704 (a word of ours)
