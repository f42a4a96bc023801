"""Tacit shows what a release reveals about individuals before you publish it.

==================  =========================================================================
read                :func:`read_table`, :func:`read_transactions`, :func:`read_release`, :func:`read_buckets`;
                    :func:`read_tree`, :func:`read_forest`, :func:`read_naive_bayes` (models);
                    :func:`read_releases` (of a folder);
                    :func:`read_partial` (tables with blank cells)
mine                :func:`mine_itemsets`, :func:`mine_rules`, :func:`mine_negative_rules`, :func:`build_hierarchies`;
                    :func:`tabulate` (frequency tables)
attack              :func:`audit` with a :class:`Policy`; :data:`ATTACKS` lists what it runs; several releases with :class:`Same`,
                    :class:`Nested`, :class:`Churn`, :class:`Changed` or :class:`Unknown` people
ask                 :func:`support_of` a pattern, :func:`all_channels`, :func:`posterior_of` somebody, :func:`members_of` a group
check               :func:`verify` the proved findings of an audit, by their certificates
repair              :func:`repair` with a method of :data:`REPAIRS`; :func:`bucketize` a table, :func:`hide` cells of one;
                    :func:`suggest` the cheapest that would do
measure             :func:`utility` of a bucketized release, :func:`compare` estimates with the truth
choose              :func:`sweep_itemsets`, :func:`sweep_rules` (thresholds), :func:`sweep_rounding` (precision), :func:`sweep_repairs` (repairs)
write               :func:`write_release`
==================  =========================================================================

Everything is imported on first use, so that ``import tacit`` is immediate.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

#: Public names and the modules that define them, read from the stub: the one table of public names, which type checkers read too.
_HOMES = {
    alias.name: line.module
    for line in ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body
    if isinstance(line, ast.ImportFrom) and line.module
    for alias in line.names
}

__all__ = sorted(_HOMES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    """Import a public name from its home on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
