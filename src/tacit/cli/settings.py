"""Settings of a verb, from options to defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tacit.cli.options import OF_TABLES, Options, ReleaseOptions, refuse_options
from tacit.errors import OptionError

if TYPE_CHECKING:
    from tacit.model.partial import Thresholds
    from tacit.model.policy import Level, Policy
    from tacit.model.release import Release
    from tacit.model.table import MissingRule
    from tacit.verbs.settings import Config

Value = TypeVar("Value")
Given = TypeVar("Given", bound=Options)
Given_co = TypeVar("Given_co", bound=Options, covariant=True)

#: The limits of a policy that have an option.
POLICY_OPTIONS = ("k", "l", "max_posterior", "max_gain")


@dataclass(frozen=True)
class Settings(Generic[Given_co]):
    """Options, completed by ``tacit.toml`` and the organisation's policy.

    >>> from tacit.verbs.settings import Config
    >>> settings = Settings(Options(sa=("pay",)), Config(qi=("age",), sa=("ill",), policy={"k": 5}))
    >>> settings.qi, settings.sa, settings.policy.k
    (('age',), ('pay',), 5)
    """

    given: Given_co
    config: Config
    organisation: Config | None = None

    @property
    def qi(self) -> tuple[str, ...]:
        """Quasi-identifiers."""
        return self.given.qi or self.config.qi

    @property
    def sa(self) -> tuple[str, ...]:
        """Sensitive columns."""
        return self.given.sa or self.config.sa

    @property
    def missing(self) -> str | None:
        """Mark of a missing value, possibly empty."""
        return first_set(self.given.missing, self.config.missing)

    @property
    def missing_rule(self) -> MissingRule | None:
        """Meaning of the mark."""
        return self.given.missing_rule or self.config.missing_rule

    @property
    def hierarchies(self) -> str | None:
        """Folder of hierarchy files."""
        return first_set(self.given.hierarchies, self.config.hierarchies)

    @property
    def policy(self) -> Policy:
        """Policy that options, ``tacit.toml`` and the organisation make together."""
        from tacit.verbs.settings import Config, joined_policy

        limits = {name: value for name in POLICY_OPTIONS if (value := getattr(self.given, name)) is not None}
        return joined_policy(limits, self.config, self.organisation or Config(), today=self.given.today)

    def require_roles(self, *, sa: str) -> None:
        """Raise if a role has no column."""
        require(self.qi, "--qi", "age,sex")
        require(self.sa, "--sa", sa)


def load_settings(given: Given, *, near: str | None, releases: Sequence[str] = ()) -> Settings[Given]:
    """Load the settings for the data in ``near``.

    No ``tacit.toml`` is read from beside the ``releases``: whoever submits one must not bring its limits.
    """
    from tacit.cli.output import note
    from tacit.verbs.settings import load_config, load_policy

    if given.engine is not None:
        from tacit.files.duckdb import check_engine

        check_engine(given.engine)  # refuse a mistyped name before long work
    config = load_config(given.config, near=near or None, releases=releases)
    if config.beside:
        note(f"{config.beside}: not read, because it lies beside a release. Name it with --config to use it.")
    return Settings(given, config, load_policy(given.policy_file))


def first_set(*values: Value | None) -> Value | None:
    """Return the first value that is set.

    >>> first_set(None, "", "?"), first_set((), None)
    ('', None)
    """
    return next((value for value in values if value not in (None, ())), None)


def require(value: Value | None, option: str, example: str) -> Value:
    """Return a required option or setting."""
    if value is None or value == ():
        remedy = f"Write for instance {option} {example}, or set it in tacit.toml"
        raise OptionError("is missing", where=option, remedy=remedy)
    return value


def policy_for(release: Release, settings: Settings[ReleaseOptions]) -> Policy:
    """Return the policy; refuse options of other kinds."""
    from tacit.model.partial import PartialTable

    given = settings.given
    policy = settings.policy
    if not isinstance(release, PartialTable):
        refuse_options(given, OF_TABLES, "applies to tables with blank cells; this release is not one")
        return policy
    thresholds = rule_thresholds(settings, release.n, given.min_confidence, given.min_support)
    exact: Any = thresholds.confidence  # a fraction is as good a share as a float, and keeps what was written
    own: dict[str, Level] = {name: "option" for name in ("min_confidence", "min_support") if getattr(given, name) is not None}
    return replace(policy, min_confidence=exact, min_support=thresholds.support, origin={**policy.origin, **own})


def rule_thresholds(settings: Settings[Options], n: int, confidence: str | None, support: str | None) -> Thresholds:
    """Return the thresholds of rules that reveal cells."""
    from tacit.model.partial import Thresholds
    from tacit.verbs.settings import refuse_looser

    policy = settings.policy
    thresholds = Thresholds.of(
        n=n,
        min_confidence=policy.min_confidence if confidence is None else confidence,
        min_support=policy.min_support if support is None else support,
    )
    refuse_looser("min_confidence", thresholds.confidence, settings.organisation)
    refuse_looser("min_support", thresholds.support, settings.organisation)
    return thresholds
