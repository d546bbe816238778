"""Where people begin."""

from collections.abc import Mapping

from impactbench.domain import Role

LANDS_ON: Mapping[Role, str] = {
    Role.EXPERT: "/rate",
    Role.METHODOLOGIST: "/study",
    Role.MAINTAINER: "/contested",
}
"""Role -> the address of its first page."""
SIGN_IN = "/sign-in"
"""Where the way in is, also where the root shows what is released."""
