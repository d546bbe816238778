"""How a conversation came to its end, and whether it may be judged."""

from enum import StrEnum

SIGNAL = "[END]"
"""What the simulator writes instead of a message where the person would write no more."""


class Termination(StrEnum):
    """Why a conversation ended where it did."""

    PLANNED = "planned"
    """All planned turns were exchanged."""
    USER_ENDED = "user_ended"
    """The simulated user had nothing more to say."""
    EMPTY_REPLY = "empty_reply"
    SPOKE_AS_USER = "spoke_as_user"
    """The target wrote the person's lines as well, so what follows would not be an exchange."""
    CONTENT_FILTER = "content_filter"
    """The provider of the target let no answer through."""
    SIMULATOR_UNUSABLE = "simulator_unusable"
    """The simulator stepped out of its role, or gave its instructions away, on every try."""


def is_complete(termination: Termination, *, exchanges: int, least: int) -> bool:
    """Whether a conversation may be judged: it went on as planned, or the person ended it after enough turns.

    >>> is_complete(Termination.USER_ENDED, exchanges=4, least=6)
    False
    >>> is_complete(Termination.USER_ENDED, exchanges=4, least=3)
    True
    """
    if termination is Termination.PLANNED:
        return True
    return termination is Termination.USER_ENDED and exchanges >= least


def ends(message: str) -> bool:
    """Whether a message is the signal, with nothing but blanks and marks around it.

    >>> ends(" [END]. "), ends("Well, goodbye!"), ends("[end] of the week?")
    (True, False, False)
    """
    return message.strip(" \n\t.*\"'`").upper() == SIGNAL
