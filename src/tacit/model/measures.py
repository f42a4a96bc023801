"""Table of measures, utility, and outcome of ``verify``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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


#: The measures with their units. A name with ``*`` stands for a measure of each estimator, which only the owner can compute.
_TABLE = """\
itemsets | itemsets | how many itemsets are published
rules | rules | how many rules are published
cells | cells | how many cells the frequency tables of a release have, totals among them
smallest_count | people | the smallest published count (its upper end where it is rounded)
smallest_group | people | the smallest group that is proved to exist
groups_of_one | findings | how many findings are about exactly one person
all_channels | channels | all inference channels, maximal or not (I01 by `--algorithm naive`)
channels_as_printed | channels | those that PMICD finds as its paper prints it (I01 by `--algorithm pmicd`)
qi_combinations | combinations | how many combinations of quasi-identifiers occur
missing_rules | rules | patterns Q => x, Q a set of quasi-identifiers that somebody has, that a complete list leaves out; null: \
not counted (R02)
missing_rules_kept | rules | those that do not follow from another missing rule with a smaller Q: no part of Q that is missing \
with x and has c count(Q) within the support threshold (Theorem 3; R02)
variable_occurrences | combinations | how many combinations of quasi-identifiers match Q, summed over the missing rules kept (R02)
max_posterior | probability | the largest estimated P(value | quasi-identifiers) (R02), or of anybody in a group (B02)
max_gain | probability | by how much an estimate exceeds the baseline, at most (R02)
people_above_50 | people | people whose most probable value has an estimate above 0.5 (R02)
people_above_90 | people | people whose most probable value has an estimate above 0.9 (R02)
people_above_99 | people | people whose most probable value has an estimate above 0.99 (R02)
posterior_entropy | nats | the entropy of the sensitive value, given the quasi-identifiers, that the estimate leaves (R02)
baseline_entropy | nats | the entropy of the sensitive value among all people: what an outsider does not know
knowledge_gained | nats | divergence of the estimates from the baseline, mean over all people (R02)
knowledge_gained_max | nats | divergence of the estimates from the baseline, largest of any combination (R02)
l_distinct | values | l-diversity: the fewest values with an estimate of at least 0.001 in any combination (R02)
l_entropy | values | entropy l-diversity: the smallest exp(entropy) of the estimates of any combination (R02)
t_closeness | probability | total variation distance of the estimates from the baseline, largest of any combination; of \
buckets: of any group
t_closeness_mean | probability | total variation distance of the estimates from the baseline, mean over all people
smallest_combination | people | the fewest people who share a combination: k of (alpha, k), with `max_posterior` as alpha
people_outside_alpha_k | people | people in combinations of fewer than k people or with an estimate above `--max-posterior`, \
where that is set (R02)
max_violation | share of people | by how much the estimate misses the statement that it misses most (R02)
duality_gap | nats | how far the entropy of the estimate may be from the largest (R02)
people_certain | people | how many people are proved to have one sensitive value (R03, B02)
qi_certain | combinations | how many combinations of quasi-identifiers are proved to have one sensitive value (R03)
bounds_open | pairs | pairs of combination and sensitive value whose bounds hold but may not be the tightest (R03)
buckets | groups | how many groups a bucketized release has
vulnerable | people | people of whom fewer than l sensitive values are possible (B01)
pinned | people | people of whom one sensitive value is possible (B01)
vulnerable_by_exclusion | people | people for whom fewer than l values of their group are not ruled out one by one, which finds \
no more than `vulnerable` (B01)
largest_group | people | the people of the largest group of a bucketized release
mean_group | people | the mean number of people in a group of a bucketized release
above_one_in_l | people | people whose most probable value has a probability above 1/l (B02)
people_approximate | people | people in groups with too many assignments to count, whose estimates are approximate (B02)
D_overall | nats | divergence of the estimate from the truth, mean over all people (owner only)
D_individual_max | nats | divergence of the estimate from the truth, largest of any combination (owner only)
top_guess_right | people | for how many people the most probable value is the true one (owner only)
baseline_guess_right | people | for how many people the value that most people have is the true one (owner only)
sure_guess_right | people | people whose most probable value has an estimate above 0.9 and is the true one (owner only)
confidence_error* | share | mean of |confidence in the release - in the data| / in the data, over the positive rules of the data
identification_false_positive* | share | rules that the release shows and the data do not have, as a share of those that the \
data have
identification_false_negative* | share | rules of the data that the release does not show, as a share of them
query_error* | share | mean of |answer of the release - true answer| / true answer, over questions that count people
query_error_median* | share | the same, median
positive_rules | rules | the positive rules of the data that confidence and identification errors are about
queries | questions | the questions that query errors are about
mixing_condition | ratio | condition number of the mixing of values in groups: how far errors may grow in `_debiased`
k_anonymity | people | the people of the smallest group of a bucketized release
l_diversity | values | the fewest different values of any group
entropy_l | values | the smallest exp(entropy) of the values of any group
recursive_c | ratio | largest count of a group over its counts from the `l_diversity`-th on: recursive (c, l)-diversity
largest_share | share | the largest share that a value has in a group: alpha of (alpha, k)-anonymity
beta_likeness | ratio | by how much a share in a group exceeds that among all, relative to it, at most
enhanced_beta_likeness | ratio | the same, but at most -log of the smallest share among all
delta_disclosure | nats | largest |log(share in a group / share among all)| of values that a group has
surviving_max_posterior | probability | the largest probability of anybody's value by what survives in groups (B03)
surviving_above_one_in_l | people | people whose most probable value has a probability above 1/l (B03)
surviving_above_50 | people | people whose most probable value has a probability above 0.5 (B03)
surviving_above_90 | people | people whose most probable value has a probability above 0.9 (B03)
surviving_expected_right | share | people whose most probable value is the true one, if the model is right (B03)
surviving_guess_right | share | people whose most probable value by B03 is the true one (owner only)
surviving_guess_right_exact | share | the same, counted while groups are made and it is known who is in which; of more than \
40,000 people, in some groups (owner only)
surviving_above_90_right | share | of `surviving_above_90`, for how many it is the true one (owner only)
group_guess_right | share | people for whom the most frequent value of their group is the true one: what needs no model
cells_hidden | cells | condition and sensitive cells that are blank; sensitive cells of the rows named left out
cells_hidden_ns | cells | blank sensitive cells of records that are not to be protected (ns)
cells_hidden_nc | cells | blank condition cells of records that are not to be protected (nc)
cells_hidden_sc | cells | blank condition cells of the records that are to be protected (sc)
records_at_risk | records | records whose sensitive cell is to be protected: those named, else all that are blank
records_told | records | of those, how many some rule tells (T01)
unsafe_rules | rules | rules about them with more than the support and more than the confidence of the policy (T01)
rule_confidence | share | the largest confidence of a rule about them with more than that support (T01)
known_only_confidence | share | the same among records whose value is shown (T02)
null_share_confidence | share | the largest share of a protected record's value among the other blanks with a pattern of its \
cells (T02; owner only)
wildcard_confidence | share | as `rule_confidence`, a blank condition cell fitting every value (T02)
entropy_posterior | probability | the same by the largest entropy that shows all rules with one condition (T02)
entropy_inferred | records | records at risk whose value that gives more than the confidence of the policy (T02)
model_posterior | probability | the largest that naive Bayes gives the value of a record at risk (T02)
model_inferred | records | records at risk whose value it gives more than the confidence of the policy (T02)
itemsets_lost | itemsets | published before the repair and not after it
itemsets_ghost | itemsets | published after the repair and not before it
supports_changed | share | of the itemsets published before and after, how many have another count
support_error_mean | share | mean of |new - old| / old over what is published before and after (withheld: the threshold)
support_error_max | share | largest |new - old| / old over what is published before and after (withheld: the threshold)
rules_lost | rules | published before the repair and not after it
values_withheld | rules | that printed a support before the repair, and are still published without one
information_lost | nats | by how much the repair raises `posterior_entropy`, the uncertainty that rules leave about a person's \
sensitive value
lines_lost | lines | of several releases, lines that a suggested repair takes out or keeps back
lines_rounded | lines | of several releases, lines whose numbers a suggested repair rounds
releases_lost | releases | how many of several releases a suggested repair keeps back
cells_lost | cells | cells of frequency tables that had a number, and are hidden or left out by a suggested repair
people_before | people | how many people the release was about before the repair, where it says so
people_after | people | how many people the release is about after it, where it says so
people_changed | people | how many people have other items after the repair, or are new, or gone
"""
#: The estimators, by the ends of the names of their measures.
_WAYS = {
    "": "by the shares of groups",
    "_rule_aware": "all assignments that fit the knowledge equally likely",
    "_debiased": "the mixing of groups undone",
    "_modelled": "by the model of B03",
}


def _read_table() -> Iterator[Measure]:
    for line in _TABLE.splitlines():
        name, unit, meaning = line.split(" | ", 2)
        if not name.endswith("*"):
            yield Measure(name, unit, meaning)
        else:
            yield from (Measure(name[:-1] + end, unit, f"{meaning} ({way}; owner only)") for end, way in _WAYS.items())


MEASURES = tuple(_read_table())
