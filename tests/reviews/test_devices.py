"""Links that work once, and the devices that they sign in."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine, text
from sqlmodel import select

from impactbench.store import tables as t
from impactbench.store.engine import reading
from reviews.members import people
from reviews.members.devices import (
    SIGNED_IN_DAYS,
    DeviceRefused,
    devices_of,
    end_device,
    end_this_device,
    rater_of_device,
)
from reviews.members.invitations import (
    ANOTHER_DEVICE_MINUTES,
    link_for_another_device,
    make_token,
    open_link,
    rater_of_token,
    rater_of_used_token,
    raters_without_way_in,
)
from tests.reviews.invented_study import add_raters


def now() -> datetime:
    return datetime.now(UTC)


def sign_in(engine: Engine, name: str) -> str:
    """The key of a new device of somebody."""
    opened = open_link(engine, make_token(engine, name), now=now())
    assert opened is not None
    return opened.key


def whose(engine: Engine, key: str, *, later: timedelta = timedelta(0)) -> str | None:
    person = rater_of_device(engine, key, now=now() + later)
    return person.pseudonym if person else None


def test_of_many_who_open_a_link_at_once_one_comes_in(engine: Engine) -> None:
    add_raters(engine, "Ada")
    token = make_token(engine, "Ada")
    assert rater_of_token(engine, token, now=now()) is not None
    with ThreadPoolExecutor(8) as threads:
        opened = list(threads.map(lambda _: open_link(engine, token, now=now()), range(8)))
    (one,) = [answer for answer in opened if answer is not None]
    assert (one.rater.pseudonym, whose(engine, one.key)) == ("Ada", "Ada")
    assert rater_of_token(engine, token, now=now()) is None
    used = rater_of_used_token(engine, token)
    assert used is not None
    assert used.pseudonym == "Ada"
    assert rater_of_used_token(engine, "never-was-one") is None


def test_the_key_of_a_device_is_not_in_the_database(engine: Engine) -> None:
    add_raters(engine, "Ada")
    key = sign_in(engine, "Ada")
    with reading(engine) as session:
        kept = session.connection().execute(text("SELECT * FROM device")).all()
    assert len(key) == 43
    assert key not in str(kept)


def test_a_device_stays_signed_in_for_its_days_and_is_seen_once_a_day(engine: Engine) -> None:
    add_raters(engine, "Ada")
    key = sign_in(engine, "Ada")
    today = now().date()
    for later, seen in ((0, today), (1, today + timedelta(days=1)), (0, today + timedelta(days=1))):
        assert whose(engine, key, later=timedelta(days=later)) == "Ada"
        with reading(engine) as session:
            assert session.exec(select(t.Device.last_seen_on)).one() == seen
    assert whose(engine, key, later=timedelta(days=SIGNED_IN_DAYS)) is None


def test_devices_are_ended_one_by_one_or_all_together_and_a_new_link_ends_none(engine: Engine) -> None:
    add_raters(engine, "Ada", "Bo")
    keys = [sign_in(engine, "Ada") for _ in range(3)]
    bos = sign_in(engine, "Bo")
    make_token(engine, "Ada")
    newest, *_ = devices_of(engine, "Ada")
    assert [one.devices for one in people.list_people(engine)] == [3, 1]
    end_device(engine, "Ada", newest.number)
    end_this_device(engine, keys[0])
    assert [whose(engine, key) for key in keys] == [None, "Ada", None]
    with pytest.raises(DeviceRefused, match=f"'Bo' is signed in on no device {newest.number - 1}"):
        end_device(engine, "Bo", newest.number - 1)
    assert people.revoke(engine, "Ada")
    assert not people.revoke(engine, "Ada")
    assert [whose(engine, key) for key in (*keys, bos)] == [None, None, None, "Bo"]
    people.deactivate(engine, "Bo")
    assert whose(engine, bos) is None


def test_a_link_for_another_device_is_soon_over_and_does_not_end_this_one(engine: Engine) -> None:
    add_raters(engine, "Ada")
    key, start = sign_in(engine, "Ada"), now()
    token = link_for_another_device(engine, "Ada", base_url="", now=start).removeprefix("/enter/")
    assert rater_of_token(engine, token, now=start + timedelta(minutes=ANOTHER_DEVICE_MINUTES)) is None
    assert open_link(engine, token, now=start + timedelta(minutes=ANOTHER_DEVICE_MINUTES)) is None
    second = open_link(engine, token, now=start + timedelta(minutes=ANOTHER_DEVICE_MINUTES - 1))
    assert second is not None
    assert [whose(engine, one) for one in (key, second.key)] == ["Ada", "Ada"]


def test_a_link_of_a_demonstration_signs_in_any_number_of_devices(engine: Engine) -> None:
    add_raters(engine, "Ada")
    token = make_token(engine, "Ada", reusable=True)
    keys = {opened.key for _ in range(3) if (opened := open_link(engine, token, now=now()))}
    assert len(keys) == 3
    assert rater_of_token(engine, make_token(engine, "Ada"), now=now()) is not None
    assert open_link(engine, token, now=now()) is None


def test_whoever_is_signed_in_or_has_a_link_has_a_way_in(engine: Engine) -> None:
    add_raters(engine, "Ada", "Bo", "Cy")
    key = sign_in(engine, "Ada")
    make_token(engine, "Bo")
    assert raters_without_way_in(engine, ["Cy", "Bo", "Ada"]) == ["Cy"]
    late = now() + timedelta(days=61)
    assert raters_without_way_in(engine, ["Cy", "Bo", "Ada"], now=late) == ["Cy", "Bo", "Ada"]
    end_this_device(engine, key)
    assert raters_without_way_in(engine, ["Ada"]) == ["Ada"]
