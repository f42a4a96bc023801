"""Every exception Tacit raises on purpose.

::

    TacitError
    ├── InputError         a file, frame or array cannot be read as declared
    │   └── Contradiction  the published numbers cannot all be true
    ├── OptionError        an option, threshold or name that makes no sense
    ├── EngineError        an engine is not installed, or failed
    ├── LimitReached       time ran out; what was found so far is kept
    ├── RepairError        no repair met the policy
    │   └── Infeasible     nothing that could be published meets it
    ├── Exposed            an audit that has to be clean is not
    └── InternalError      a bug in Tacit

Every message is one sentence ``where: what is wrong. what to do.`` and never holds a cell's value: positions, column names and
counts only; but for ``Exposed``, which says what was found. Causes whose text may hold a value are dropped with ``from None``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class TacitError(Exception):
    """Base of all errors; its parts are attributes, its text is the sentence."""

    def __init__(self, what: str, *, where: str, remedy: str) -> None:
        self.where = where
        self.what = what.rstrip(".")
        self.remedy = remedy.rstrip(".")
        super().__init__(f"{self.where}: {self.what}. {self.remedy}.")


class InputError(TacitError):
    """A file, frame or array cannot be read as declared.

    ``asks_for`` names an option that would settle it, such as ``n``; empty if there is none.
    """

    asks_for: str = ""


class Contradiction(InputError):
    """The published numbers cannot all be true of any database.

    ``lines`` are the lines of the file that clash, as far as they are known.
    """

    def __init__(self, what: str, *, where: str, remedy: str, lines: Iterable[int] = ()) -> None:
        self.lines = tuple(lines)
        super().__init__(what, where=where, remedy=remedy)


class OptionError(TacitError, ValueError):
    """An option, threshold or name that makes no sense."""


class EngineError(TacitError):
    """An engine is not installed, or failed."""


class LimitReached(TacitError):
    """Time ran out."""


class RepairError(TacitError):
    """No repair met the policy."""


class Infeasible(RepairError):
    """Nothing that could be published meets what is asked.

    ``rows`` are the people who prevent it, counted from 0, as far as they are known.
    """

    def __init__(self, what: str, *, where: str, remedy: str, rows: Iterable[int] = ()) -> None:
        self.rows = tuple(rows)
        super().__init__(what, where=where, remedy=remedy)


class Exposed(TacitError):
    """An audit that has to be clean is not.

    The text holds the headline and the worst findings, which describe people.
    """

    def __init__(self, verdict: str, headline: str, statements: Sequence[str] = ()) -> None:
        self.verdict = verdict
        self.statements = tuple(statements)
        remedy = " ".join(statements) or "audit.report(..) says what was not decided"
        super().__init__(headline, where="the release", remedy=remedy)


class InternalError(TacitError):
    """A bug in Tacit."""


def numbered(lines: Sequence[int], *, most: int = 8) -> str:
    """Line numbers as in a sentence, cut after ``most`` of them.

    >>> numbered([3]), numbered([3, 5, 9]), numbered([3, 5, 9, 12], most=2)
    ('line 3', 'lines 3, 5 and 9', 'lines 3, 5 and 2 more')
    """
    if len(lines) == 1:
        return f"line {lines[0]}"
    shown = [str(line) for line in lines[:most]]
    last = f"{len(lines) - most} more" if len(lines) > most else shown.pop()
    return f"lines {', '.join(shown)} and {last}"


def nearest(got: str, known: Iterable[str], cutoff: float = 0.7) -> str | None:
    """The closest of the known names; None where none is close.

    >>> nearest("hidden_bellow", ["any", "hidden_below"]), nearest("Complete", ["complete"]), nearest("x", ["complete"])
    ('hidden_below', 'complete', None)
    """
    names = sorted(known)
    near = get_close_matches(got, names, n=1, cutoff=cutoff) or [name for name in names if name.casefold() == got.casefold()]
    return near[0] if near else None


def nearest_column(got: str, columns: Iterable[str]) -> str:
    """Return a remedy that names the closest column and no other.

    Where a file has no line of names, its first line is a person, whose values must not be shown.

    >>> nearest_column("salry", ["age", "salary"])
    "Did you mean 'salary'? There are 2 columns, named in the first line"
    """
    names = list(columns)
    near = nearest(got, names, cutoff=0.6)
    hint = f"Did you mean {near!r}? " if near else ""
    return f"{hint}There {'is 1 column' if len(names) == 1 else f'are {len(names):,} columns'}, named in the first line"


def nearest_name(got: str, known: Iterable[str], noun: str = "names") -> str:
    """A remedy that names the closest of the known names, and lists all of them.

    >>> nearest_name("salry", ["age", "salary"], "columns")
    "Did you mean 'salary'? The columns are: age, salary"
    """
    names = list(known)
    near = get_close_matches(got, names, n=1, cutoff=0.5) or [name for name in names if name.casefold() == got.casefold()]
    hint = f"Did you mean {near[0]!r}? " if near else ""
    listed = ", ".join(names[:60]) + (f" and {len(names) - 60} more" if len(names) > 60 else "")
    return f"{hint}The {noun} are: {listed}" if names else f"{hint}There are no {noun}"
