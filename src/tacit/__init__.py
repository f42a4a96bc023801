"""Tacit tells a data owner what a release gives away about single people, before it is published.

==================  =========================================================================
read                :func:`read_table`, :func:`read_transactions`, :func:`read_release`, :func:`read_buckets`, :func:`read_tree`;
                    :func:`read_releases` (of a folder);
                    :func:`read_partial` (tables with blank cells)
mine                :func:`mine_itemsets`, :func:`mine_rules`, :func:`mine_negative_rules`; :func:`tabulate` (frequency tables)
attack              :func:`audit` with a :class:`Policy`; :data:`ATTACKS` lists what it runs; several releases with :class:`Same`,
                    :class:`Nested`, :class:`Churn`, :class:`Changed` or :class:`Unknown` people
ask                 :func:`support_of` a pattern, :func:`all_channels`, :func:`posterior_of` somebody, :func:`members_of` a group
check               :func:`verify` the proved findings of an audit, by their certificates
repair              :func:`repair` with a method of :data:`REPAIRS`; :func:`bucketize` a table, :func:`hide` cells of one;
                    :func:`suggest` the cheapest that would do
measure             :func:`utility` of a bucketized release, :func:`compare` estimates with the truth
choose              :func:`sweep_itemsets`, :func:`sweep_rules` (thresholds), :func:`sweep_rounding` (precision)
write               :func:`write_release`
==================  =========================================================================

Everything is imported on first use, so that ``import tacit`` is immediate.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tacit.version import __version__

if TYPE_CHECKING:
    from tacit.attacks import ATTACKS
    from tacit.auditing_releases import audit, mine_itemsets, mine_rules, repair
    from tacit.bucketizing import bucketize
    from tacit.errors import (
        Contradiction,
        EngineError,
        Infeasible,
        InputError,
        InternalError,
        LimitReached,
        OptionError,
        RepairError,
        TacitError,
    )
    from tacit.formats.buckets import read_buckets
    from tacit.formats.partial import read_partial
    from tacit.formats.releases import read_release, read_releases, write_release
    from tacit.formats.table_files import read_table
    from tacit.formats.transactions import read_transactions
    from tacit.formats.trees import read_tree
    from tacit.hiding_cells import hide
    from tacit.measures.posterior import compare
    from tacit.measures.table import MEASURES, Utility, Verification
    from tacit.measuring import utility
    from tacit.model.audit import Audit
    from tacit.model.buckets import Buckets
    from tacit.model.comparison import Channel, Comparison, PatternSupport, PersonEstimate
    from tacit.model.finding import Finding
    from tacit.model.frequencies import FrequencyTable
    from tacit.model.negative import NegativeRules
    from tacit.model.partial import PartialTable
    from tacit.model.people import Changed, Churn, Nested, Same, Unknown
    from tacit.model.policy import Policy, Waiver
    from tacit.model.release import Itemsets, Rules
    from tacit.model.suggestion import Bucketized, Hidden, Repair, Suggestion, Suggestions
    from tacit.model.table import Table, Transactions
    from tacit.queries import all_channels, members_of, posterior_of, support_of
    from tacit.repairs import REPAIRS
    from tacit.reporting import write_acro, write_report
    from tacit.suggesting import suggest
    from tacit.sweeps.rules import sweep_itemsets, sweep_rounding, sweep_rules
    from tacit.tabulating import mine_negative_rules, tabulate
    from tacit.verifying import verify

_HOMES = {
    "tacit.auditing_releases": (
        "audit",
        "compare",
        "mine_itemsets",
        "mine_rules",
        "read_release",
        "read_releases",
        "read_table",
        "read_transactions",
        "repair",
        "write_release",
    ),
    "tacit.attacks": ("ATTACKS",),
    "tacit.bucketizing": ("bucketize",),
    "tacit.errors": (
        "Contradiction",
        "EngineError",
        "Infeasible",
        "InputError",
        "InternalError",
        "LimitReached",
        "OptionError",
        "RepairError",
        "TacitError",
    ),
    "tacit.measures.table": ("MEASURES",),
    "tacit.measuring": ("utility",),
    "tacit.formats.buckets": ("read_buckets",),
    "tacit.formats.partial": ("read_partial",),
    "tacit.formats.trees": ("read_tree",),
    "tacit.hiding_cells": ("hide",),
    "tacit.model.audit": ("Audit",),
    "tacit.model.suggestion": ("Bucketized",),
    "tacit.model.buckets": ("Buckets",),
    "tacit.model.comparison": ("Comparison",),
    "tacit.model.finding": ("Finding",),
    "tacit.model.frequencies": ("FrequencyTable",),
    "tacit.model.suggestion": ("Hidden",),
    "tacit.model.negative": ("NegativeRules",),
    "tacit.model.partial": ("PartialTable",),
    "tacit.model.people": ("Changed", "Churn", "Nested", "Same", "Unknown"),
    "tacit.model.comparison": ("PersonEstimate",),
    "tacit.model.policy": ("Policy",),
    "tacit.model.release": ("Itemsets", "Rules"),
    "tacit.model.suggestion": ("Repair",),
    "tacit.model.suggestion": ("Suggestion", "Suggestions"),
    "tacit.model.comparison": ("Channel", "PatternSupport"),
    "tacit.model.table": ("Table",),
    "tacit.model.table": ("Transactions",),
    "tacit.measures.table": ("Utility",),
    "tacit.measures.table": ("Verification",),
    "tacit.model.policy": ("Waiver",),
    "tacit.tabulating": ("mine_negative_rules",),
    "tacit.queries": ("all_channels", "members_of", "posterior_of", "support_of"),
    "tacit.repairs": ("REPAIRS",),
    "tacit.reporting": ("write_acro", "write_report"),
    "tacit.suggesting": ("suggest",),
    "tacit.sweeps.rules": ("sweep_itemsets", "sweep_rounding", "sweep_rules"),
    "tacit.tabulating": ("tabulate",),
    "tacit.verifying": ("verify",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "ATTACKS",
    "MEASURES",
    "REPAIRS",
    "Audit",
    "Bucketized",
    "Buckets",
    "Changed",
    "Channel",
    "Churn",
    "Comparison",
    "Contradiction",
    "EngineError",
    "Finding",
    "FrequencyTable",
    "Hidden",
    "Infeasible",
    "InputError",
    "InternalError",
    "Itemsets",
    "LimitReached",
    "NegativeRules",
    "Nested",
    "OptionError",
    "PartialTable",
    "PatternSupport",
    "PersonEstimate",
    "Policy",
    "Repair",
    "RepairError",
    "Rules",
    "Same",
    "Suggestion",
    "Suggestions",
    "Table",
    "TacitError",
    "Transactions",
    "Unknown",
    "Utility",
    "Verification",
    "Waiver",
    "__version__",
    "all_channels",
    "audit",
    "bucketize",
    "compare",
    "hide",
    "members_of",
    "mine_itemsets",
    "mine_negative_rules",
    "mine_rules",
    "posterior_of",
    "read_buckets",
    "read_partial",
    "read_release",
    "read_releases",
    "read_table",
    "read_transactions",
    "read_tree",
    "repair",
    "suggest",
    "support_of",
    "sweep_itemsets",
    "sweep_rounding",
    "sweep_rules",
    "tabulate",
    "utility",
    "verify",
    "write_acro",
    "write_release",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its home on first use."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return __all__
