"""How the people of several releases hang together, as whoever audits them declares it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tacit.errors import OptionError

_FORMS = "Write same, nested, unknown, or for instance left:0-3,joined:0-2"
_MOVED = re.compile(r"(left|joined):(\d{1,15})(?:-(\d{1,15}))?")


@dataclass(frozen=True, slots=True)
class Same:
    """All releases are about the very same people.

    >>> Same().to_text()
    'same'
    """

    def to_text(self) -> str:
        """The declaration as ``--people`` takes it."""
        return "same"


@dataclass(frozen=True, slots=True)
class Nested:
    """The people of release ``inner`` are among those of release ``outer``, as a filtered table's are.

    >>> Nested(outer=1, inner=0).to_text()
    'nested:1,0'
    """

    outer: int = 0
    inner: int = 1

    def __post_init__(self) -> None:
        if {self.outer, self.inner} != {0, 1}:
            remedy = "Write Nested(outer=0, inner=1), or Nested(outer=1, inner=0)"
            raise OptionError("outer and inner are the numbers of two releases, 0 and 1", where="--people", remedy=remedy)

    def to_text(self) -> str:
        """The declaration as ``--people`` takes it."""
        return "nested" if self.outer == 0 else "nested:1,0"


@dataclass(frozen=True, slots=True)
class Churn:
    """The second release is about the people of the first but for some who left and some who joined: the fewest and the most of each.

    >>> Churn(left=(0, 3), joined=(0, 2)).to_text()
    'left:0-3,joined:0-2'
    """

    left: tuple[int, int] = (0, 0)
    joined: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        for name in ("left", "joined"):
            pair = getattr(self, name)
            fits = isinstance(pair, (tuple, list)) and len(pair) == 2 and all(type(end) is int for end in pair)
            if not fits or not 0 <= pair[0] <= pair[1]:
                remedy = "Write for instance left=(0, 3): at least none, at most three"
                raise OptionError(f"{name} is no pair of the fewest and the most people", where="--people", remedy=remedy)
            object.__setattr__(self, name, (pair[0], pair[1]))

    def to_text(self) -> str:
        """The declaration as ``--people`` takes it."""
        return f"left:{self.left[0]}-{self.left[1]},joined:{self.joined[0]}-{self.joined[1]}"


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing is known about who is in which release.

    >>> Unknown().to_text()
    'unknown'
    """

    def to_text(self) -> str:
        """The declaration as ``--people`` takes it."""
        return "unknown"


People = Same | Nested | Churn | Unknown


def read_people(text: str) -> People:
    """The declaration that ``--people`` gives.

    >>> read_people("same"), read_people("left:0-3,joined:2")
    (Same(), Churn(left=(0, 3), joined=(2, 2)))
    """
    plain: dict[str, People] = {"same": Same(), "nested": Nested(), "nested:0,1": Nested(), "unknown": Unknown()}
    plain["nested:1,0"] = Nested(outer=1, inner=0)
    told = text.replace(" ", "").casefold()
    if told in plain:
        return plain[told]
    moved: dict[str, tuple[int, int]] = {}
    for part in told.split(","):
        found = _MOVED.fullmatch(part)
        if found is None or found[1] in moved:
            raise OptionError("does not say how the people of the releases hang together", where="--people", remedy=_FORMS)
        fewest = int(found[2])
        moved[found[1]] = (fewest, int(found[3]) if found[3] else fewest)
    return Churn(**moved)


def check_people(people: People | None, counts: list[int | None]) -> People:
    """What is declared, or the same people where nothing is and all releases say the same number of them; refuses what cannot be."""
    told = [n for n in counts if n is not None]
    if people is None:
        if len(told) < len(counts) or len(set(told)) > 1:
            what = "the releases are about different numbers of people" if len(set(told)) > 1 else "not every release says its n"
            remedy = "Declare who they are about: --people same, nested, left:0-3,joined:0-2 or unknown"
            raise OptionError(f"{what}, so they may be about different people", where="--people", remedy=remedy)
        return Same()
    if isinstance(people, Same) and len(set(told)) > 1:
        remedy = "Declare nested, left:0-3,joined:0-2 or unknown, or correct n"
        raise OptionError(
            "the same people are declared, and the releases say different numbers of them", where="--people", remedy=remedy
        )
    if isinstance(people, (Nested, Churn)) and len(counts) != 2:
        remedy = "Audit two of the releases at a time, or declare same or unknown"
        raise OptionError(f"this declaration is about two releases, and there are {len(counts)}", where="--people", remedy=remedy)
    first, second = counts[0], counts[-1]
    if first is not None and second is not None:
        _check_numbers(people, first, second)
    return people


def _check_numbers(people: People, first: int, second: int) -> None:
    """Refuse numbers of people that the declaration does not allow."""
    if isinstance(people, Nested) and (first < second) == (people.outer == 0) and first != second:
        remedy = "Name the larger release first, or declare left:..,joined:.."
        raise OptionError("the inner release is about more people than the outer one", where="--people", remedy=remedy)
    if isinstance(people, Churn):
        grown = second - first
        if not people.joined[0] - people.left[1] <= grown <= people.joined[1] - people.left[0]:
            remedy = "Allow more people to leave or to join, or correct n"
            raise OptionError("the numbers of people differ by more than this allows", where="--people", remedy=remedy)
