"""The few pages in front of the workbench, which a browser gets before anybody is signed in: plain HTML, no script."""

from html import escape

from reviews.members.devices import SIGNED_IN_DAYS

_FRAME = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark"><meta name="referrer" content="same-origin">
<style>
 body {{ font: 1.1rem/1.6 system-ui, sans-serif; max-width: 34rem; margin: 4rem auto; padding: 0 1rem;
   color: CanvasText; background: Canvas }}
 h1 {{ font-size: 1.4rem }}
 button {{ font: inherit; font-weight: 600; padding: .6rem 1.2rem; border: 0; border-radius: .5rem;
   background: #0b5fa5; color: #fff; cursor: pointer }}
 button:focus-visible {{ outline: 3px solid #8cc2f5; outline-offset: 2px }}
 a {{ color: LinkText }}
</style></head><body><main><h1>{title}</h1>
{text}
</main></body></html>"""


def start(pseudonym: str) -> str:
    """Whose link it is, and the one button that uses it."""
    return _FRAME.format(
        title="Welcome to ImpactBench",
        text=f"""<p>This is the personal link of <strong><bdi>{escape(pseudonym)}</bdi></strong>. If that is not you, please close
this page: answers given here would count as theirs.</p>
<p>It works once. It signs you in on this device, in this browser, for {SIGNED_IN_DAYS} days; you can sign out at any
time, and make a link for another device yourself.</p>
<p><strong>On a computer that others use too</strong>, sign out when you leave: until then, whoever opens this
browser is taken for you.</p>
<form method="post"><button type="submit">Start on this device</button></form>""",
    )


def no_entry(*, used: bool) -> str:
    """Why a link opens nothing, and how to get another."""
    because = (
        "It has been used already, on another device or in another browser; each link works once. If that was you, open"
        " “Another device” there, which makes a link for this one. Otherwise please"
        if used
        else "It may have run out, or a newer link was made for you since. Please"
    )
    return _FRAME.format(
        title="This link does not work",
        text=f"""<p>{because} ask the person who sent it to you for a new link.</p>
<p>Nothing that you have saved is lost.</p>""",
    )


def leaving(pseudonym: str) -> str:
    """What signing out means where each link works once."""
    return _FRAME.format(
        title="Sign out of this device?",
        text=f"""<p>You are signed in as <strong><bdi>{escape(pseudonym)}</bdi></strong>. Everything that you have entered is kept.</p>
<p>To come back on this device you will need a new link: from the person who invited you, or made by you on another
device where you are signed in.</p>
<form method="post"><button type="submit">Sign out</button></form>
<p><a href="/">Stay signed in</a></p>""",
    )


def not_from_here() -> str:
    """A request that another site's page has sent."""
    return _FRAME.format(
        title="Not done",
        text="<p>This came from the page of another site, so nothing was changed. <a href='/'>Go to ImpactBench</a></p>",
    )
