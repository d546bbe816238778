"""The addresses of the public view: each answered with a whole page, without a session and without a script."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from urllib.parse import parse_qsl

import vl_convert
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from app.public import label_picture
from app.public.contents import PAGES, whole_sheet
from app.public.document import FILES, document, file_of_pages
from app.public.nutrition_label import LabelText, as_page
from app.public.pages import front, label
from app.public.pages.case_form import save_mark
from app.public.parts import Sheet, text, warning
from app.public.places import where_conversation_is
from app.public.visit import is_member, visit
from app.sign_in import is_own_page
from app.who import who
from impactbench.domain import ImpactBenchError
from impactbench.settings import Settings
from impactbench.store.tables import Rater
from reviews.public.cases import CaseRefused
from reviews.public.releasing import PublicStudy, public_studies

_KINDS: dict[str, tuple[str, Callable[[LabelText], str | bytes]]] = {
    "html": ("text/html", as_page),
    "svg": ("image/svg+xml", label_picture.as_svg),
    "png": ("image/png", label_picture.as_png),
}
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
    )
)
"""Marks in pictures are placed by the style of each; nothing else on a page may load or run what is not a file of ours."""
_NOT_KEPT = {"cache-control": "no-cache", "vary": "cookie", "content-security-policy": _POLICY}
_FOR_GOOD = {"cache-control": "public, max-age=31536000, immutable"}
_NOT_FOR_YOU = "This page is not for your role. If that is a mistake, ask whoever invited you."
_NOTHING = "No results have been released yet. Please come back later."
_NO_STUDY = "There is no study yet. Bring in a run folder of the pipeline first: impactbench import run path/to/benchmark"


def routes(engine: Engine, settings: Settings) -> list[Route]:
    """One for each page, the labels as files, the form of a case, and what pages load."""

    def page(path: str) -> Callable[[Request], Response]:
        def answered(request: Request) -> Response:
            return _page(engine, path, who(request, engine, settings), request)

        return _spoken(answered)

    def label_file(request: Request) -> Response:
        return _label_file(engine, who(request, engine, settings), request, request.path_params["kind"])

    async def mark(request: Request) -> Response:
        sent = dict(parse_qsl((await request.body()).decode(errors="replace")))
        return await run_in_threadpool(_marked, engine, settings, request, sent)

    front_of_all = _spoken(
        lambda request: front_page(engine, who(request, engine, settings), public_studies(engine))
    )
    read = {
        **{f"/{path}": page(path) for path in PAGES},
        "/about": front_of_all,
        "/label.{kind}": _spoken(label_file),
        "/files/{name}": _file,
    }
    small = [Middleware(GZipMiddleware, minimum_size=2_000, compresslevel=4)]
    return [
        *(Route(path, answered, methods=["GET"], middleware=small) for path, answered in read.items()),
        Route("/metrics", mark, methods=["POST"]),
    ]


def front_page(engine: Engine, looking: Rater | None, studies: Sequence[PublicStudy]) -> Response:
    """What has been released."""
    if looking is not None and not is_member(looking):
        return _refused("ImpactBench", looking)
    return _html(document(front.front(engine, studies), looking=looking))


def _page(engine: Engine, path: str, looking: Rater | None, request: Request) -> Response:
    title = PAGES[path].title
    if looking is not None and not is_member(looking):
        return _refused(title, looking)
    found = visit(engine, looking, dict(request.query_params))
    if found is None:
        said = _NOTHING if looking is None else _NO_STUDY
        return _html(document(Sheet(title, [text(said)]), path=path, looking=looking))
    sheet = whole_sheet(path, found)
    return _html(document(sheet, path=path, study=found.study.slug, looking=looking))


def _refused(title: str, looking: Rater | None) -> Response:
    return _html(document(Sheet(title, [warning(_NOT_FOR_YOU)]), looking=looking), status=403)


def _label_file(engine: Engine, looking: Rater | None, request: Request, kind: str) -> Response:
    allowed = looking is None or is_member(looking)
    found = visit(engine, looking, dict(request.query_params)) if allowed and kind in _KINDS else None
    of = label.label_in_view(found) if found is not None else None
    if found is None or of is None:
        return _html(document(Sheet("Nutrition label", [text(_NOTHING)]), looking=looking), status=404)
    media, made = _KINDS[kind]
    name = f"{found.study.slug}-{of[0]}-label.{kind}".encode("ascii", "replace").decode().replace('"', "-")
    headers = {**_NOT_KEPT, "content-disposition": f'attachment; filename="{name}"'}
    return Response(made(of[1]), media_type=media, headers=headers)


def _marked(engine: Engine, settings: Settings, request: Request, sent: dict[str, str]) -> Response:
    looking = who(request, engine, settings)
    found = visit(engine, looking, dict(request.query_params)) if is_member(looking) else None
    metric = None if found is None else found.results.by_word.get(found.asked.get("metric", ""))
    number = request.query_params.get("conversation", "")
    if not is_own_page(request, settings) or looking is None or found is None or not found.maintains:
        return _refused("Not saved", looking)
    try:
        if metric is None or not number.isdecimal():
            raise CaseRefused("the address names no conversation of this study")
        save_mark(
            engine,
            found.study.slug,
            metric,
            conversation_id=int(number),
            marked_by=looking.id or 0,
            sent=sent,
        )
    except CaseRefused as refused:
        said = [warning(f"{refused}."), text("What you had written:"), text(sent.get("note", ""))]
        return _html(document(Sheet("Not saved", said), looking=looking), status=400)
    return RedirectResponse(where_conversation_is(found.study, metric.key, int(number)), status_code=303)


def _file(request: Request) -> Response:
    name = request.path_params["name"]
    if name == "pictures.js":
        return Response(_pictures(), media_type="text/javascript", headers=_FOR_GOOD)
    if name not in FILES:
        return Response("There is no such file.", status_code=404, media_type="text/plain")
    return Response(file_of_pages(name), media_type=FILES[name][1], headers=_FOR_GOOD)


@lru_cache(maxsize=1)
def _pictures() -> bytes:
    """What draws pictures with tools; made on the first request, which takes some seconds."""
    return vl_convert.javascript_bundle("export { vegaEmbed };").encode()


def _spoken(answered: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """A database that is behind or away is said in a sentence."""

    def respond(request: Request) -> Response:
        try:
            return answered(request)
        except (ImpactBenchError, SQLAlchemyError) as mistake:
            said = [text(f"Please tell whoever runs it: {mistake}")]
            return _html(document(Sheet("This page cannot be shown", said)), status=503)

    return respond


def _html(page: str, *, status: int = 200) -> Response:
    return HTMLResponse(page, status_code=status, headers=_NOT_KEPT)
