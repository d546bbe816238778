"""A message with its Markdown formatted, made from the text alone: nothing loads, nothing links, nothing runs."""

from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

_LOWEST_HEADING = 4


@cache
def _markdown() -> MarkdownIt:
    """CommonMark with tables, but without raw HTML, images and links; addresses stay text."""
    return (
        MarkdownIt("commonmark", {"html": False, "linkify": False})
        .enable("table")
        .disable(["image", "link", "autolink", "html_inline", "html_block", "reference"])
    )


def formatted(text: str) -> str:
    """Safe HTML of a message.

    >>> formatted("**so** <b>it</b> ![x](http://y/z.png)").strip()
    '<p><strong>so</strong> &lt;b&gt;it&lt;/b&gt; ![x](http://y/z.png)</p>'
    """
    tokens = _markdown().parse(text)
    for token in tokens:
        _demote(token)
    return str(_markdown().renderer.render(tokens, _markdown().options, {}))


def _demote(token: Token) -> None:
    """A heading in a message is no heading of the page."""
    if token.type in {"heading_open", "heading_close"}:
        token.tag = f"h{min(6, _LOWEST_HEADING + int(token.tag[1]) - 1)}"
