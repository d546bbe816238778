"""How many threads a matrix product takes: for small ones, and for many, one is faster than several."""

from contextlib import AbstractContextManager, nullcontext
from functools import cache

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

ONE_THREAD_ANYWAY = 2**18
"""Multiplications up to which OpenBLAS takes one thread by itself: telling it so would take longer than they do."""


def one_thread(multiplications: int) -> AbstractContextManager[object]:
    """Products of so many multiplications on one thread: a second one would mostly wait for the first, and busily so."""
    if multiplications <= ONE_THREAD_ANYWAY:
        return nullcontext()
    limit: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return limit


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
