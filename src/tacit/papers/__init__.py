"""Reproductions: the papers' tables and figures compared with ours.

A paper's module has ``ITEMS``, all its numbered items, and a function ``reproduce(bench) -> (parts, left out)``. Every item has a claim in
some part. What needs no data always runs; what needs a public data set is left out, and said so, where the file is not there. What is run
depends on the data alone, never on how fast the machine is.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from tacit.model.audit import Progress, silent
from tacit.model.errors import OptionError, nearest_name
from tacit.model.reproduction import Part, Reproduction
from tacit.papers import atzori05, injector08, li07, pmicd08, zhu09
from tacit.papers.bench import Bench


@dataclass(frozen=True, slots=True)
class Paper:
    """Row of the table: ``reproduce`` returns the parts, ``items`` are all numbered items."""

    name: str
    citation: str
    items: tuple[str, ...]
    reproduce: Callable[[Bench], tuple[tuple[Part, ...], tuple[str, ...]]]


PAPERS: tuple[Paper, ...] = (
    Paper(
        "atzori05",
        "M. Atzori, F. Bonchi, F. Giannotti, D. Pedreschi, k-Anonymous Patterns, PKDD 2005",
        atzori05.ITEMS,
        atzori05.reproduce,
    ),
    Paper(
        "injector08",
        "T. Li, N. Li, Injector: Mining Background Knowledge for Data Anonymization, ICDE 2008",
        injector08.ITEMS,
        injector08.reproduce,
    ),
    Paper(
        "li07",
        "C. Li, H. Shirani-Mehr, X. Yang, Protecting Individual Information Against Inference Attacks in Data Publishing, DASFAA 2007",
        li07.ITEMS,
        li07.reproduce,
    ),
    Paper("pmicd08", "A new approach for detecting anonymity of patterns (PMICD), WAIM 2008", pmicd08.ITEMS, pmicd08.reproduce),
    Paper(
        "zhu09",
        "Z. Zhu, G. Wang, W. Du, Deriving Private Information from Association Rule Mining Results, ICDE 2009",
        zhu09.ITEMS,
        zhu09.reproduce,
    ),
)


def paper_named(name: str) -> Paper:
    """Return the row of this name."""
    papers = {paper.name: paper for paper in PAPERS}
    if name not in papers:
        remedy = nearest_name(name, list(papers), "papers")
        raise OptionError(f"there is no reproduction {name!r}", where="tacit reproduce", remedy=remedy)
    return papers[name]


def reproduce(
    name: str, *, data: str | os.PathLike[str] | None = None, time_limit: float | None = None, progress: Progress = silent
) -> Reproduction:
    """A paper's tables and figures compared with ours.

    ``data`` is a folder with the public data sets that the paper uses; without it, only what needs none is reproduced. What ``time_limit``
    leaves no time for is left out; without it, the result depends on the data alone.
    """
    paper = paper_named(name)
    bench = Bench.open(data, time_limit, progress)
    parts, left_out = paper.reproduce(bench)
    progress(1.0)
    return Reproduction(
        paper.name, paper.citation, parts, left_out, items=paper.items, times=tuple(bench.times), is_stopped=bench.is_stopped
    )
