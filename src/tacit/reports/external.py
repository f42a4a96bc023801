"""External records and texts: counts, verdicts and Tacit's own words only.

Whatever a verb writes goes through the same filter, which knows the names that Tacit gives to entries. An entry of another name is left out,
also one that a later version adds: the filter can say too little, never too much.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tacit.model.measures import MEASURES
from tacit.model.policy import ACRO_NAMES, LIMITS
from tacit.reports.document import bullet, fold, format_number
from tacit.reports.record import with_headline

EXTERNAL = "External report: it holds counts only, no description of a group, no value and no name of a column."
#: Entries whose texts are words of Tacit's own.
_TEXTS = frozenset(
    {
        *("format", "name", "version", "verdict", "code", "claim", "status", "text", "method", "suggested", "cheapest", "goal"),
        *(
            "of",
            "kind",
            "only",
            "rounding",
            "convention",
            "n_from",
            "withheld",
            "sha256",
            "header_sha256",
            "level",
            "role",
            "until",
        ),
        *("printed_as", "grouped_by", "listed", "rule", "attack", *LIMITS),
    }
)
#: Entries with other entries, or with numbers.
_ENTRIES = frozenset(
    {
        *("tool", "before", "after", "cost", "tried", "cautions", "release", "inputs", "adversary", "policy", "policy_from"),
        *("policy_files", "waivers", "attacks", "measures", "cells", "lowest", "settings", "finest", "richest", "repairs"),
        *("calibration", "by_region", "excluded_values", "by_chance", "other_columns", "finding", "explanation"),
        *("n", "lines", "people", "number", "findings", "undecided", "waived", "count", "groups", "combinations", "statements"),
        *("min_support", "min_confidence", "min_expectation", "min_conviction", "significance", "share", "published", "decided"),
        *("rules", "minimal_rules", "itemsets", "itemsets_counted", "own_excluded", "all", "closed", "maximal", "channels"),
        *(
            "groups_of_one",
            "deduced",
            "finished",
            "base",
            "decimals",
            "step",
            "digits",
            "posterior_entropy",
            "missing_rules_kept",
        ),
        *("people_above_90", "people_changed", "loss", "goal_met", "hidden_cells", "hidden_below", "zeros_shown", "complete"),
        *("strict", "above", "at_most", "estimated", "right", "top_guess_right", "baseline_guess_right", "sure_guess_right"),
        *(
            "proved",
            "baseline_is_published",
            "max_length",
            "dim",
            "selectivity",
            "queries",
            "seed",
            "holds",
            "audited_again",
            "held",
        ),
        *("estimates", "rejected", "residue", "merges", "suppressed", "beyond_bound", "ns", "nc", "sc", "sensitive_cells", "gap"),
        *("least_cells", "cells_hidden_share", "rules_lost", "rules_changed", "rules_new", "values_withheld"),
        *("information_lost", "information_lost_share"),
        *("lines_lost", "lines_rounded", "cells_lost", "changed_lines", "knows_n", "knows_that_the_list_is_complete"),
        *(
            "knows_who_is_in_which_group",
            "knows_all_values",
            "knows_no_value_is_negative",
            "knows_the_order_of_rules",
            "knows_quasi_identifiers",
        ),
        *("true_values_given", "rows_named", "background_facts", "max_posterior", "lower_bound", "optimal", "hidden"),
        *ACRO_NAMES,
    }
)
_CODE = re.compile(r"[A-Z][0-9]{2}|[0-9]+")
_MOST_SAID = 16  #: Numbers of one entry that a text lists.
#: Entries that a text leaves out: they are for programs.
_UNSAID = frozenset({"format", "tool", "headline", "report_kind", "policy", "excluded_values"})


def external_record(record: Mapping[str, Any], headline: str) -> dict[str, Any]:
    """Return what a record says without values, names and descriptions of groups."""
    own = _TEXTS | _ENTRIES | {measure.name for measure in MEASURES}
    told = dict(record)
    if isinstance(told.get("changes"), list):
        told["changed_lines"] = len(told["changes"])
    return with_headline(_filter(told, own) | {"report_kind": "external"}, headline)


def _filter(entries: Mapping[str, Any], own: frozenset[str]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in entries.items():
        if name not in own and not _CODE.fullmatch(name):
            continue
        if isinstance(value, Mapping):
            out[name] = _filter(value, own)
        elif isinstance(value, list | tuple):
            kept = [_filter(one, own) if isinstance(one, Mapping) else one for one in value]
            if all(isinstance(one, dict | int | float) for one in kept):
                out[name] = kept
        elif not isinstance(value, str) or name in _TEXTS:
            out[name] = value
    return out


def external_text(record: Mapping[str, Any], width: int) -> str:
    """Return the numbers of an external record in lines."""
    lines = fold(str(record["headline"]), width)
    facts = [line for fact in _facts(record) for line in bullet("-", fact, width)]
    return "\n".join([*lines, *facts]) + "\n"


def _facts(record: Mapping[str, Any]) -> Iterator[str]:
    for name, value in record.items():
        if name in _UNSAID or value is None or isinstance(value, list):
            continue
        said = name.replace("_", " ")
        if not isinstance(value, Mapping):
            yield f"{said}: {_render(value)}"
        elif "verdict" in value:
            yield f"{said}: {value['verdict']}"
        else:
            inner = {key: one for key, one in value.items() if one is not None and not isinstance(one, list | Mapping)}
            parts = [f"{key.replace('_', ' ')} {_render(one)}" for key, one in inner.items()]
            if len(parts) > _MOST_SAID:
                yield f"{said}: {len(parts)} (--json lists them)"
            elif parts:
                yield f"{said}: {', '.join(parts)}"


def _render(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_number(value) if isinstance(value, int | float) else str(value)
