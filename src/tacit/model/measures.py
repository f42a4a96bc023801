"""Table of measures, utility, and outcome of ``verify``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: The ways to read a release, in the order in which they are shown; the first is the one that measures without a suffix are about.
ESTIMATORS = ("uniform", "rule-aware", "debiased", "modelled")


@dataclass(frozen=True, slots=True)
class Utility:
    """The errors of what a release lets one estimate, for each way to read it.

    ``errors[estimator][measure]`` are shares; a measure is missing where there was nothing to measure, and ``notes`` say why. ``rules`` is how
    many positive rules the data have, ``queries`` how many questions were asked. ``condition`` is the condition number of the mixing of values
    in groups, ``figures`` are k, l and t, and ``guesses`` for how many people the most probable value is the true one.
    """

    n: int
    groups: int
    sensitive: str
    rules: int
    queries: int
    settings: Mapping[str, Any]
    errors: Mapping[str, Mapping[str, float]]
    condition: float
    figures: Mapping[str, float]
    guesses: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def measures(self) -> Mapping[str, float]:
        """All numbers by their names in ``MEASURES``."""
        out: dict[str, float] = {}
        for estimator in ESTIMATORS:
            suffix = "" if estimator == "uniform" else "_" + estimator.replace("-", "_")
            out |= {f"{name}{suffix}": value for name, value in self.errors.get(estimator, {}).items()}
        out |= {"positive_rules": self.rules, "queries": self.queries, "mixing_condition": self.condition}
        return out | dict(self.figures) | dict(self.guesses)

    def to_dict(self) -> dict[str, Any]:
        """The record."""
        finite = {name: value if abs(value) != float("inf") else None for name, value in self.measures.items()}
        return {
            "format": "tacit.utility/1",
            "n": self.n,
            "groups": self.groups,
            "sensitive": self.sensitive,
            "settings": dict(self.settings),
            "measures": finite,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Verification:
    """Outcome of ``verify``: findings that hold, and problems of others or of the record.

    ``listed`` and ``holding`` count proved findings by the code of their attack: those that the record writes out, and those that hold.
    ``estimates`` counts the listed findings that are estimates, which nobody can prove. ``open`` are sentences about what the record says and no
    proof shows; ``again`` says that a new audit gave the same record. ``unconfirmed`` says why a verdict that no finding decides is neither
    confirmed nor refuted; it is empty otherwise.
    """

    held: int
    problems: tuple[str, ...]
    listed: Mapping[str, int] = field(default_factory=dict, compare=False)
    holding: Mapping[str, int] = field(default_factory=dict, compare=False)
    estimates: Mapping[str, int] = field(default_factory=dict, compare=False)
    open: tuple[str, ...] = ()
    again: bool = False
    unconfirmed: str = ""

    @property
    def ok(self) -> bool:
        """True if everything holds."""
        return not self.problems and not self.unconfirmed

    @property
    def proved(self) -> int:
        """Number of findings that the record lists as proved."""
        return sum(self.listed.values())

    def to_dict(self) -> dict[str, Any]:
        """The record."""
        return {
            "format": "tacit.verification/1",
            "holds": self.ok,
            "audited_again": self.again,
            "not_confirmed": [*([self.unconfirmed] if self.unconfirmed else []), *self.open],
            "proved": self.proved,
            "held": self.held,
            "attacks": {code: {"listed": number, "held": self.holding.get(code, 0)} for code, number in self.listed.items()},
            "estimates": dict(self.estimates),
            "rejected": len(self.problems),
            "problems": list(self.problems),
        }


@dataclass(frozen=True, slots=True)
class Measure:
    """A row of the table."""

    name: str
    unit: str
    meaning: str


def _estimated(name: str, meaning: str) -> tuple[Measure, ...]:
    ways = {
        "": "by the shares of groups",
        "_rule_aware": "all assignments that fit the knowledge equally likely",
        "_debiased": "the mixing of groups undone",
        "_modelled": "by the model of B03",
    }
    return tuple(Measure(f"{name}{suffix}", "share", f"{meaning} ({way}; owner only)") for suffix, way in ways.items())


MEASURES: tuple[Measure, ...] = (
    Measure("itemsets", "itemsets", "how many itemsets are published"),
    Measure("rules", "rules", "how many rules are published"),
    Measure("cells", "cells", "how many cells the frequency tables of a release have, totals among them"),
    Measure("smallest_count", "people", "the smallest published count (its upper end where it is rounded)"),
    Measure("smallest_group", "people", "the smallest group that is proved to exist"),
    Measure("groups_of_one", "findings", "how many findings are about exactly one person"),
    Measure("all_channels", "channels", "all inference channels, maximal or not (I01 by `--algorithm naive`)"),
    Measure("channels_as_printed", "channels", "those that PMICD finds as its paper prints it (I01 by `--algorithm pmicd`)"),
    Measure("qi_combinations", "combinations", "how many combinations of quasi-identifiers occur"),
    Measure(
        "missing_rules",
        "rules",
        "patterns Q => x, Q a set of quasi-identifiers that somebody has, that a complete list leaves out; null: not counted (R02)",
    ),
    Measure(
        "missing_rules_kept",
        "rules",
        "those that do not follow from another missing rule with a smaller Q: no part of Q that is missing with x and has c count(Q) "
        "within the support threshold (Theorem 3; R02)",
    ),
    Measure(
        "variable_occurrences",
        "combinations",
        "how many combinations of quasi-identifiers match Q, summed over the missing rules kept (R02)",
    ),
    Measure(
        "max_posterior", "probability", "the largest estimated P(value | quasi-identifiers) (R02), or of anybody in a group (B02)"
    ),
    Measure("max_gain", "probability", "by how much an estimate exceeds the baseline, at most (R02)"),
    Measure("people_above_50", "people", "people whose most probable value has an estimate above 0.5 (R02)"),
    Measure("people_above_90", "people", "people whose most probable value has an estimate above 0.9 (R02)"),
    Measure("people_above_99", "people", "people whose most probable value has an estimate above 0.99 (R02)"),
    Measure(
        "posterior_entropy",
        "nats",
        "the entropy of the sensitive value, given the quasi-identifiers, that the estimate leaves (R02)",
    ),
    Measure("baseline_entropy", "nats", "the entropy of the sensitive value among all people: what an outsider does not know"),
    Measure("knowledge_gained", "nats", "divergence of the estimates from the baseline, mean over all people (R02)"),
    Measure("knowledge_gained_max", "nats", "divergence of the estimates from the baseline, largest of any combination (R02)"),
    Measure("l_distinct", "values", "l-diversity: the fewest values with an estimate of at least 0.001 in any combination (R02)"),
    Measure("l_entropy", "values", "entropy l-diversity: the smallest exp(entropy) of the estimates of any combination (R02)"),
    Measure(
        "t_closeness",
        "probability",
        "total variation distance of the estimates from the baseline, largest of any combination; of buckets: of any group",
    ),
    Measure(
        "t_closeness_mean", "probability", "total variation distance of the estimates from the baseline, mean over all people"
    ),
    Measure(
        "smallest_combination",
        "people",
        "the fewest people who share a combination: k of (alpha, k), with `max_posterior` as alpha",
    ),
    Measure(
        "people_outside_alpha_k",
        "people",
        "people in combinations of fewer than k people or with an estimate above `--max-posterior`, where that is set (R02)",
    ),
    Measure("max_violation", "share of people", "by how much the estimate misses the statement that it misses most (R02)"),
    Measure("duality_gap", "nats", "how far the entropy of the estimate may be from the largest (R02)"),
    Measure("people_certain", "people", "how many people are proved to have one sensitive value (R03, B02)"),
    Measure(
        "qi_certain", "combinations", "how many combinations of quasi-identifiers are proved to have one sensitive value (R03)"
    ),
    Measure(
        "bounds_open", "pairs", "pairs of combination and sensitive value whose bounds hold but may not be the tightest (R03)"
    ),
    Measure("buckets", "groups", "how many groups a bucketized release has"),
    Measure("vulnerable", "people", "people of whom fewer than l sensitive values are possible (B01)"),
    Measure("pinned", "people", "people of whom one sensitive value is possible (B01)"),
    Measure(
        "vulnerable_by_exclusion",
        "people",
        "people for whom fewer than l values of their group are not ruled out one by one, which finds no more than `vulnerable` (B01)",
    ),
    Measure("largest_group", "people", "the people of the largest group of a bucketized release"),
    Measure("mean_group", "people", "the mean number of people in a group of a bucketized release"),
    Measure("above_one_in_l", "people", "people whose most probable value has a probability above 1/l (B02)"),
    Measure(
        "people_approximate",
        "people",
        "people in groups with too many assignments to count, whose estimates are approximate (B02)",
    ),
    Measure("D_overall", "nats", "divergence of the estimate from the truth, mean over all people (owner only)"),
    Measure("D_individual_max", "nats", "divergence of the estimate from the truth, largest of any combination (owner only)"),
    Measure("top_guess_right", "people", "for how many people the most probable value is the true one (owner only)"),
    Measure("baseline_guess_right", "people", "for how many people the value that most people have is the true one (owner only)"),
    Measure(
        "sure_guess_right",
        "people",
        "people whose most probable value has an estimate above 0.9 and is the true one (owner only)",
    ),
    *_estimated(
        "confidence_error",
        "mean of |confidence in the release - in the data| / in the data, over the positive rules of the data",
    ),
    *_estimated(
        "identification_false_positive",
        "rules that the release shows and the data do not have, as a share of those that the data have",
    ),
    *_estimated("identification_false_negative", "rules of the data that the release does not show, as a share of them"),
    *_estimated("query_error", "mean of |answer of the release - true answer| / true answer, over questions that count people"),
    *_estimated("query_error_median", "the same, median"),
    Measure("positive_rules", "rules", "the positive rules of the data that confidence and identification errors are about"),
    Measure("queries", "questions", "the questions that query errors are about"),
    Measure(
        "mixing_condition", "ratio", "condition number of the mixing of values in groups: how far errors may grow in `_debiased`"
    ),
    Measure("k_anonymity", "people", "the people of the smallest group of a bucketized release"),
    Measure("l_diversity", "values", "the fewest different values of any group"),
    Measure("entropy_l", "values", "the smallest exp(entropy) of the values of any group"),
    Measure(
        "recursive_c",
        "ratio",
        "largest count of a group over its counts from the `l_diversity`-th on: recursive (c, l)-diversity",
    ),
    Measure("largest_share", "share", "the largest share that a value has in a group: alpha of (alpha, k)-anonymity"),
    Measure("beta_likeness", "ratio", "by how much a share in a group exceeds that among all, relative to it, at most"),
    Measure("enhanced_beta_likeness", "ratio", "the same, but at most -log of the smallest share among all"),
    Measure("delta_disclosure", "nats", "largest |log(share in a group / share among all)| of values that a group has"),
    Measure(
        "surviving_max_posterior", "probability", "the largest probability of anybody's value by what survives in groups (B03)"
    ),
    Measure("surviving_above_one_in_l", "people", "people whose most probable value has a probability above 1/l (B03)"),
    Measure("surviving_above_50", "people", "people whose most probable value has a probability above 0.5 (B03)"),
    Measure("surviving_above_90", "people", "people whose most probable value has a probability above 0.9 (B03)"),
    Measure("surviving_expected_right", "share", "people whose most probable value is the true one, if the model is right (B03)"),
    Measure("surviving_guess_right", "share", "people whose most probable value by B03 is the true one (owner only)"),
    Measure(
        "surviving_guess_right_exact",
        "share",
        "the same, counted while groups are made and it is known who is in which; of more than 40,000 people, in some groups (owner only)",
    ),
    Measure("surviving_above_90_right", "share", "of `surviving_above_90`, for how many it is the true one (owner only)"),
    Measure(
        "group_guess_right",
        "share",
        "people for whom the most frequent value of their group is the true one: what needs no model",
    ),
    Measure("cells_hidden", "cells", "condition and sensitive cells that are blank; sensitive cells of the rows named left out"),
    Measure("cells_hidden_ns", "cells", "blank sensitive cells of records that are not to be protected (ns)"),
    Measure("cells_hidden_nc", "cells", "blank condition cells of records that are not to be protected (nc)"),
    Measure("cells_hidden_sc", "cells", "blank condition cells of the records that are to be protected (sc)"),
    Measure(
        "records_at_risk", "records", "records whose sensitive cell is to be protected: those named, else all that are blank"
    ),
    Measure("records_told", "records", "of those, how many some rule tells (T01)"),
    Measure(
        "unsafe_rules", "rules", "rules about them with more than the support and more than the confidence of the policy (T01)"
    ),
    Measure("rule_confidence", "share", "the largest confidence of a rule about them with more than that support (T01)"),
    Measure("known_only_confidence", "share", "the same among records whose value is shown (T02)"),
    Measure(
        "null_share_confidence",
        "share",
        "the largest share of a protected record's value among the other blanks with a pattern of its cells (T02; owner only)",
    ),
    Measure("wildcard_confidence", "share", "as `rule_confidence`, a blank condition cell fitting every value (T02)"),
    Measure("entropy_posterior", "probability", "the same by the largest entropy that shows all rules with one condition (T02)"),
    Measure("entropy_inferred", "records", "records at risk whose value that gives more than the confidence of the policy (T02)"),
    Measure("model_posterior", "probability", "the largest that naive Bayes gives the value of a record at risk (T02)"),
    Measure("model_inferred", "records", "records at risk whose value it gives more than the confidence of the policy (T02)"),
    Measure("itemsets_lost", "itemsets", "published before the repair and not after it"),
    Measure("itemsets_ghost", "itemsets", "published after the repair and not before it"),
    Measure("supports_changed", "share", "of the itemsets published before and after, how many have another count"),
    Measure(
        "support_error_mean",
        "share",
        "mean of |new - old| / old over what is published before and after (withheld: the threshold)",
    ),
    Measure(
        "support_error_max",
        "share",
        "largest |new - old| / old over what is published before and after (withheld: the threshold)",
    ),
    Measure("rules_lost", "rules", "published before the repair and not after it"),
    Measure("values_withheld", "rules", "that printed a support before the repair, and are still published without one"),
    Measure(
        "information_lost",
        "nats",
        "by how much the repair raises `posterior_entropy`, the uncertainty that rules leave about a person's sensitive value",
    ),
    Measure("lines_lost", "lines", "of several releases, lines that a suggested repair takes out or keeps back"),
    Measure("lines_rounded", "lines", "of several releases, lines whose numbers a suggested repair rounds"),
    Measure("releases_lost", "releases", "how many of several releases a suggested repair keeps back"),
    Measure(
        "cells_lost", "cells", "cells of frequency tables that had a number, and are hidden or left out by a suggested repair"
    ),
    Measure("people_before", "people", "how many people the release was about before the repair, where it says so"),
    Measure("people_after", "people", "how many people the release is about after it, where it says so"),
    Measure("people_changed", "people", "how many people have other items after the repair, or are new, or gone"),
)
