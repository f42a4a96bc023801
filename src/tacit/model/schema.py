"""What the columns of a table mean for privacy, and what a missing value means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from tacit.errors import OptionError, nearest_column, nearest_name

MissingRule = Literal["category", "drop", "drop-any"]
MISSING_RULES: tuple[MissingRule, ...] = get_args(MissingRule)


@dataclass(frozen=True, slots=True)
class Missing:
    """The mark that stands for a missing value, and what it means.

    ``category``: a value like any other. ``drop``: rows with the mark in a column in use are left out. ``drop-any``: rows with the mark in
    any column are left out.
    """

    mark: str | None = None
    rule: MissingRule = "category"

    def __post_init__(self) -> None:
        if self.rule not in MISSING_RULES:
            raise OptionError(
                f"unknown rule {self.rule!r}", where="--missing-rule", remedy=nearest_name(self.rule, MISSING_RULES, "rules")
            )
        if self.mark is None and self.rule != "category":
            raise OptionError(
                f"--missing-rule {self.rule} needs a mark",
                where="--missing-rule",
                remedy="Name the mark, for instance --missing '?'",
            )


@dataclass(frozen=True, slots=True)
class Schema:
    """The roles of the columns; columns that are not named here are insensitive."""

    qi: tuple[str, ...] = ()
    sa: tuple[str, ...] = ()
    identifying: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        seen: dict[str, str] = {}
        for role, names in (("--qi", self.qi), ("--sa", self.sa), ("identifying", self.identifying)):
            for name in names:
                if seen.get(name) == role:
                    raise OptionError(f"column {name!r} is named twice", where=role, remedy="Name each column once")
                if name in seen:
                    raise OptionError(
                        f"column {name!r} is also given as {seen[name]}", where=role, remedy="Give each column one role"
                    )
                seen[name] = role

    @property
    def used(self) -> tuple[str, ...]:
        """The columns with the roles QI and SA."""
        return self.qi + self.sa

    def check(self, columns: Sequence[str], *, where: str) -> None:
        """Raise when a named column does not exist."""
        for name in self.qi + self.sa + self.identifying:
            require_column(name, columns, where=where)


def require_column(name: str, columns: Sequence[str], *, where: str) -> None:
    """Raise an :class:`OptionError` that names the nearest column and all columns when ``name`` is not one."""
    if name not in columns:
        raise OptionError(f"there is no column {name!r}", where=where, remedy=nearest_column(name, columns))
