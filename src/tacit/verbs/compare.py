"""The verb ``compare``: estimates of an audit held against the owner's data."""

from __future__ import annotations

from typing import Any

from tacit.files.engines import Engine
from tacit.files.inputs import require_table
from tacit.known import sensitive_values
from tacit.model.audit import Audit
from tacit.model.estimates import Comparison
from tacit.model.table import Names, Table


def compare(
    audit: Audit, people: Table | Any, *, qi: Names = None, sa: Names = None, engine: Engine | str | None = None
) -> Comparison:
    """Compare the estimates of an audit of rules with the true values of its people.

    Of several sensitive columns, the one that is the sensitive column of ``people`` is compared. People may be a file or frame, with ``qi`` and
    ``sa`` given; ``engine`` then merges its equal rows (see :func:`tacit.engine`).

    >>> import tacit
    >>> people = tacit.read_table({"sex": ["F", "F", "M"], "ill": ["yes", "yes", "no"]}, qi="sex", sa="ill")
    >>> audit = tacit.audit(tacit.mine_rules(people, min_support=1, min_confidence=1), known=people.qi)
    >>> round(tacit.compare(audit, people).D_overall, 6)
    0.0
    """
    return sensitive_values.compare(audit, require_table(people, "compare", qi=qi, sa=sa, engine=engine))
