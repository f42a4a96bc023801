"""Parts of the screen Verdict as markup, made by the process that keeps the release read.

``head`` has the verdict and its numbers, ``body`` the heat map, the findings and the release, ``proof`` one finding, ``lines`` what can be
decided by hand. Nothing is decided here:
:mod:`tacit.verbs.live` audits, :mod:`tacit.reports.browse` chooses what is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from tacit.model.changes import line_at
from tacit.reports.audit import audit_head, audit_sections, size_figure
from tacit.reports.browse import PAGE_OF_LINES, Browser, Filter, Page
from tacit.reports.document import Section, nonempty
from tacit.reports.pages import environment
from tacit.reports.repair import change_subject, number_words
from tacit.reports.sentences import Summary
from tacit.verbs.live import Point, Step
from tacit.web import texts
from tacit.web.plot import FLOOR, HEIGHT, LEFT, RIGHT, WIDTH, Plotted, height_of

Query = Mapping[str, Any]


def head(step: Step, query: Query) -> str:
    """Return the verdict, the numbers and the worst findings in short.

    ``told`` is what a command has said about these settings, with attacks that are not finished here.
    """
    document = audit_head(step.audit, release=step.release, advises=False)
    sizes = size_figure(Summary(step.audit))
    told = query.get("told") if step.pending else None
    return _render(
        "live_head.html",
        document=document,
        opening=nonempty(document.opening),
        pictures=[one for one in (document.picture, sizes) if one is not None],
        runs=[run for run in step.audit.runs if run.status != "not-relevant"],
        pending=step.pending,
        told=told,
        is_open=bool(step.pending) and step.audit.verdict == "incomplete" and not told,
        verdict=told["verdict"] if told else step.audit.verdict,
        lead=[told["headline"]] if told else document.lead,
    )


def body(step: Step, query: Query) -> str:
    """Return the heat map, pages of findings and releases, and the rest."""
    asked = _filter(query)
    browser = Browser(step.audit, step.releases, asked)
    only_used = query.get("lines") == "used"
    tables = []
    for owner, release in enumerate(step.releases):
        own = query.get("release", "1") == str(owner + 1)
        line = _whole(query.get("line")) or None
        number = _whole(query.get("lines-page")) if own else 1
        page, table = browser.lines(owner, number, only_used=only_used, line=line if own else None)
        tables.append((owner + 1, release, page, table))
    return _render(
        "live_body.html",
        browser=browser,
        filter=asked,
        heat=browser.heat,
        findings=browser.findings(_whole(query.get("page"))),
        tables=tables,
        only_used=only_used,
        sections=list(_rest(step)),
    )


def proof(step: Step, query: Query) -> str:
    """Return one finding with its proof, its picture and the lines that it rests on."""
    browser = Browser(step.audit, step.releases, Filter())
    found = browser.proof(_whole(query.get("rank")))
    if found is None:
        return _render("live_proof.html", proof=None, cited=(), total=len(step.audit.findings), rank=0)
    shown, cited = found
    return _render("live_proof.html", proof=shown, cited=cited, total=len(step.audit.findings), rank=_whole(query.get("rank")))


def lines(step: Step, query: Query) -> str:
    """Return a page of the lines of each release, to be kept or hidden."""
    tables = []
    for number, release in enumerate(step.releases, start=1):
        own = query.get("release", "1") == str(number)
        page = Page.of(_whole(query.get("lines-page")) if own else 1, PAGE_OF_LINES, release.n_lines)
        records = islice(release.records(), max(0, page.first - 1), page.last)
        shown = [line_at(release, index, record) for index, record in enumerate(records, start=page.first - 1)]
        rows = [(str(one.line), change_subject(one), number_words(one.before) or texts.NO_NUMBER) for one in shown]
        tables.append((number, release.source.name if release.source else "", page, rows))
    is_several = len(tables) > 1
    return _render("live_lines.html", tables=tables, is_several=is_several, leaves_out=query.get("method") == "lines")


PARTS: Mapping[str, Callable[[Step, Query], str]] = {"head": head, "body": body, "proof": proof, "lines": lines}


def curves(found: Mapping[str, Sequence[Point]], lines: int) -> str:
    """Return curves of changes whose points can be chosen."""
    drawn = []
    for name, points in found.items():
        if len(points) > 1:
            most = max(point.findings for point in points)
            places = [
                Plotted(
                    x=LEFT + (WIDTH - LEFT - RIGHT) * number / (len(points) - 1),
                    y=height_of(point.findings, most),
                    address=f"?{name}={point.value}",
                    label=f"{point.value:,}",
                    tells=_tell(name, point, lines),
                    style="open" if point.is_open and not point.findings else "exposed" if point.findings else "clean",
                )
                for number, point in enumerate(points)
            ]
            drawn.append((name, places, most))
    return _render("live_curves.html", curves=drawn, texts=texts, width=WIDTH, height=HEIGHT, left=LEFT, right=RIGHT, floor=FLOOR)


def _tell(name: str, point: Point, lines: int) -> str:
    lost = f", {100 * point.lines_lost / max(1, lines):.1f} % of the lines left out" if point.lines_lost else ""
    left = f"{point.findings:,} findings" if point.findings else "nothing found so far" if point.is_open else "nothing found"
    return f"{texts.SLIDERS[name][0]} {point.value:,}: {left}{lost}"


def _rest(step: Step) -> Any:
    for section in audit_sections(step.audit, release=step.release):
        if "html" in section.forms and (parts := nonempty(section.parts)):
            yield Section(section.title, parts, section.forms, section.is_folded)


def _filter(query: Query) -> Filter:
    size = query.get("size", "").partition("-")
    return Filter(query.get("attack", ""), query.get("column", ""), size=_whole(size[0]), size_to=_whole(size[2]))


def _whole(text: str | None) -> int:
    """Return a number of an address, or 0 where it is none."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else 0


def _render(template: str, **context: Any) -> str:
    return environment("tacit.web").get_template(template).render(**context)
