"""What a verb works with: its options, then ``tacit.toml``, then the organisation's policy, then the defaults; and the data read accordingly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tacit.errors import OptionError

if TYPE_CHECKING:
    from fractions import Fraction

    from tacit.config import Config
    from tacit.model.hierarchy import Hierarchy
    from tacit.model.number import Threshold
    from tacit.model.policy import Policy
    from tacit.model.release import Header
    from tacit.model.table import Table
    from tacit.model.transactions import Transactions

ROLES = ("qi", "sa", "missing", "missing_rule")
#: The limits of a policy that have an option.
POLICY_OPTIONS = ("k", "l", "max_posterior", "max_gain")


@dataclass(frozen=True)
class Settings:
    """Options as given, with those of ``tacit.toml`` and the organisation's policy behind them.

    >>> from tacit.config import Config
    >>> settings = Settings({"qi": (), "sa": ("pay",), "k": None}, Config(qi=("age",), sa=("ill",), policy={"k": 5}))
    >>> settings["qi"], settings["sa"], settings.policy.k
    (('age',), ('pay',), 5)
    """

    given: Mapping[str, Any]
    config: Config
    organisation: Config | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any], *, near: str | None, releases: Sequence[str] = ()) -> Settings:
        """The settings of a verb about the data in ``near``; none are read from beside the ``releases`` that it is given."""
        from tacit.cli.output import note
        from tacit.config import load_config, load_policy

        if given.get("engine") is not None:
            from tacit.engines import engine_entry

            engine_entry(given["engine"])  # a mistyped name is said before long work
        config = load_config(given["config"], near=near or None, releases=releases)
        if config.beside:
            note(f"{config.beside}: not read, since it lies beside a release. Name it with --config to use it.")
        return cls(given, config, load_policy(given.get("policy_file")))

    def __getitem__(self, name: str) -> Any:
        return _first(self.given.get(name), getattr(self.config, name, None))

    def needed(self, name: str, example: str) -> Any:
        """An option that must stand on the command line or in ``tacit.toml``."""
        value = self[name]
        if _is_unset(value):
            option = "--" + name.replace("_", "-")
            raise OptionError(
                "is missing", where=option, remedy=f"Write for instance {option} {example}, or set it in tacit.toml"
            )
        return value

    @property
    def min_support(self) -> Threshold:
        """The support threshold."""
        from tacit.model.number import Threshold

        return Threshold.parse(self.needed("min_support", "5%"), where="--min-support")

    @property
    def min_confidence(self) -> Fraction:
        """The confidence threshold."""
        from tacit.model.number import share

        return share(self.needed("min_confidence", "60%"), where="--min-confidence")

    @property
    def policy(self) -> Policy:
        """What the publisher accepts."""
        from tacit.config import Config, joined_policy

        given = {name: self.given[name] for name in POLICY_OPTIONS if not _is_unset(self.given.get(name))}
        return joined_policy(given, self.config, self.organisation or Config(), today=self.given.get("date"))

    def read(self, path: str, *, header: Header | None = None) -> Table | Transactions:
        """The people in a file, with roles and missing-value rule from the options, else from the release, else from ``tacit.toml``."""
        from tacit.api import read_data
        from tacit.formats.transactions import TRANSACTION_ENDINGS
        from tacit.model.table import Table

        pairs = {name: self.given.get(name) for name in ("id_column", "item_column")}
        given = {**self.given, "sa": ()} if header is not None and header.no_sa else self.given
        roles = {name: _first(given.get(name), getattr(header, name, None)) for name in ROLES}
        if not any(pairs.values()) and not path.casefold().removesuffix(".gz").endswith(TRANSACTION_ENDINGS):
            # What tacit.toml says about columns is about a table; transactions have none.
            if header is None or header.missing_rule is None:  # a release that was mined from a table says itself how to read it
                roles = {name: _first(value, getattr(self.config, name)) for name, value in roles.items()}
            roles["identifying"] = self.config.identifying
        people = read_data(path, **{name: value for name, value in (roles | pairs).items() if not _is_unset(value)})
        return grouped(people, self.given["engine"]) if isinstance(people, Table) and self.given.get("engine") else people

    def hierarchies_of(self, people: Table | Transactions, columns: Sequence[str]) -> dict[str, Hierarchy] | None:
        """The hierarchies of these columns, where a folder of them is given."""
        from tacit.formats.hierarchies import read_hierarchies
        from tacit.model.table import Table

        folder = self["hierarchies"]
        if folder is None:
            return None
        if not isinstance(people, Table):
            if self.given.get("hierarchies") is None:
                return None  # what tacit.toml says about columns is about a table
            raise OptionError(
                "the data are transactions, which have no columns", where="--hierarchies", remedy="Leave it out, or give a table"
            )
        return read_hierarchies(folder, columns)


def _first(*values: Any) -> Any:
    """The first value that is set; an empty text is one (it can be the mark of a missing value)."""
    return next((value for value in values if not _is_unset(value)), values[-1])


def _is_unset(value: Any) -> bool:
    return value is None or value == ()


def grouped(people: Table, engine: str) -> Table:
    """The same people with equal rows merged by the engine."""
    import numpy as np

    from tacit.engines import open_engine
    from tacit.model.table import Column

    rows = open_engine(engine, people)
    try:
        groups = rows.groups(people.names)
    finally:
        rows.close()
    columns = tuple(Column.from_texts(name, [values[i] for values, _ in groups]) for i, name in enumerate(people.names))
    return replace(people, columns=columns, weights=np.array([count for _, count in groups], np.int64))
