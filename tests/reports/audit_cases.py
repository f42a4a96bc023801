"""Small audits made by hand, for tests of what is shown about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.model.audit import AttackRun, Audit, Target
from tacit.model.finding import Finding, ItemEvent
from tacit.model.numbers import Bound
from tacit.model.policy import Policy
from tacit.model.release import Decimals, Header, Items, Itemsets, Rules, Sets
from tacit.reports.audit import audit_document
from tacit.reports.pages import render_html, render_markdown
from tacit.verbs.attacks import ATTACKS
from tacit.verbs.kinds import kind_of

LEAKING: dict[str, int] = {"a": 50, "b": 80, "a b": 49}
ADVERSARY = {"knows_n": True, "knows_that_the_list_is_complete": True, "rounding": "nearest"}


def audit_html(audit: Audit, **how: Any) -> str:
    return render_html(audit_document(audit, **how))


def audit_markdown(audit: Audit, **how: Any) -> str:
    return render_markdown(audit_document(audit, **how))


def itemsets(counts: Mapping[str, int], *, n: int = 100, **header: Any) -> Itemsets:
    """A release with these counts; items are single words."""
    names = tuple(sorted({item for text in counts for item in text.split()}))
    sets = Sets.from_lists([names.index(item) for item in text.split()] for text in counts)
    lo = np.array(list(counts.values()), np.int64)
    return Itemsets(sets, lo, lo, Items(names), Header(**{"n": n, "complete": True, "min_support": int(lo.min())} | header))


def rules(*, withheld: bool = False, digits: bool = False) -> Rules:
    """One rule about 100 people: exact, withheld, or printed with two digits."""
    lo, hi = np.array([30]), np.array([40] if withheld or digits else [30])
    header = Header(n=100, min_support=30, min_confidence=Fraction(3, 5), strict=withheld)
    support = Decimals(np.array([35]), np.array([2], np.int8)) if digits else None
    whole = np.array([50 if withheld or digits else 40])
    items = Items.of_columns([("sex", "F"), ("ill", "yes")])
    return Rules(Sets.from_lists([[0]]), Sets.from_lists([[1]]), lo, hi, np.array([40]), whole, items, header, support)


def audit_of(release: Itemsets, *, k: int = 10, **described: Any) -> Audit:
    """What the attack I01 finds in a release."""
    runs = tuple(attack.run(Target(release, Policy(k=k))) for attack in ATTACKS if attack.code == "I01")
    about = {"kind": "itemsets", "n": release.n, "lines": len(release), "min_support": release.min_support, "only": release.only}
    about |= {"file": "itemsets.csv", "sha256": "ab" * 32} | described
    return Audit((about,), ADVERSARY, Policy(k=k), runs, kind_of(release).measures(release, runs))


def ended(audit: Audit, **changes: Any) -> Audit:
    """The same audit with its first attack ended differently."""
    return replace(audit, runs=(replace(audit.runs[0], **changes), *audit.runs[1:]))


def with_many_findings(number: int, *, k: int = 10) -> Audit:
    """An audit of so many findings that none may be written out needlessly; every finding shown is counted."""
    sizes = np.arange(number, dtype=np.int64) % (k - 1) + 1

    def show(index: int) -> Finding:
        many_shown.append(index)
        count = Bound.of(int(sizes[index]))
        return Finding("I01", ItemEvent((f"item{index}",)), count, f"{count.lo} have item{index}.")

    many_shown: list[int] = []
    columns = {"count": sizes, "count_hi": sizes, "shown": many_shown}
    run = AttackRun("I01", "inference-channels", "proves", "ran", people=9, columns=columns, severity=sizes, show=show)  # type: ignore[arg-type]
    return Audit(({"kind": "itemsets", "n": 10**9, "file": None, "sha256": None},), ADVERSARY, Policy(k=k), (run,), {})
