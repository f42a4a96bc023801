"""R02 sensitive-values: how probable each sensitive value is for whoever has given quasi-identifiers, by maximum entropy.

Infers
    P(value | quasi-identifiers) for every combination that somebody has: of all distributions that published and missing rules allow, the one
    that assumes nothing else, which is the one of largest entropy.
Assumes
    Everybody's quasi-identifiers are known, and the values that the sensitive column can have. What rules say is read in whole people: a
    rule that is published reaches its thresholds, one that is missing from a complete list does not.
Claim
    Estimates. A probability is no proof; it counts against a release only where the policy sets a limit for it.
Cost
    People whom the same rules speak of are one class. About a dozen steps, each with one system of equations of the size of the rules;
    missing rules enter only where they change something.
Example
    5 of 6 doctorates earn much, and all 4 women among them do: a male doctorate earns much with probability 1/2.
Reference
    Zhu, Wang, Du, Deriving Private Information from Association Rule Mining Results, ICDE 2009.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.errors import LimitReached
from tacit.known.case import LINE, Estimate, Listed, PeopleCase, RuleCase, count_missing, estimate
from tacit.known.releases import SeveralCase
from tacit.model.arrays import Floats
from tacit.model.audit import SURE, AttackRun, Caution, Target, cautions_of
from tacit.model.event import BoxEvent
from tacit.model.finding import Finding
from tacit.model.numbers import Bound
from tacit.model.release import Rules


def influence_of_lines(case: RuleCase, found: Estimate, over: npt.NDArray[np.bool_]) -> Floats:
    """For each line, how strongly it raises the estimates that are ``over`` a limit, summed over the people they are about.

    The logarithm of P(v | q) grows with the multiplier of a statement about value w by ``[v = w] - P(w | q)``, for every q that the statement
    is about. Values that single statements settle have no multiplier; there each line about the combination that says "all" or "nobody" counts.
    """
    problem, solution = found.problem, found.solution
    weights = np.zeros(len(case.release))
    if not over.any():
        return weights
    n_classes, n_values = problem.closed.shape
    # How many people of each class are over the limit with each value.
    people = np.zeros((n_classes, n_values))
    which, value = np.nonzero(over)
    np.add.at(people, (problem.class_of[which], value), case.population.people[which])
    owner = np.repeat(np.arange(n_classes), np.diff(problem.starts))
    rows = problem.rows
    about = problem.values[rows]
    for v in range(n_values):
        slope = (about == v) - solution.share[owner, about]
        push = np.maximum(solution.multipliers[rows] * slope, 0.0) * people[owner, v]
        for row, total in enumerate(np.bincount(rows, push, len(problem.values))):
            for origin in problem.origins[row] if total > 0 else ():
                if isinstance(origin, tuple) and origin[0] == LINE:
                    weights[origin[1]] += total
    settled = people.sum(axis=1) * (problem.closed.sum(axis=1) == n_values - 1)
    if settled.any():
        by_combination = np.zeros(len(case.population))
        inside = np.unique(which)
        by_combination[inside] = case.population.people[inside] * (settled[problem.class_of[inside]] > 0)
        lo, hi = case.counts
        for line, holders in enumerate(case.holders):
            if lo[line] == case.wholes[line] or hi[line] == 0:
                weights[line] += by_combination[holders].sum()
    if not weights.any():  # settled by several lines together: whichever speaks of these people may be one of them
        concerned = np.where(over.any(axis=1), case.population.people, 0)
        return np.array([float(concerned[holders].sum()) for holders in case.holders])
    return weights


CODE = "R02"
NAME = "sensitive-values"
#: Findings of estimates come behind those that are proved, whatever their size.
BEHIND_PROOFS = 1 << 50
#: An estimate over more lines of several releases is not made: every step would solve as many equations.
MOST_LINES = 4_000


def run(target: Target) -> AttackRun:
    """The probability of every sensitive value for every combination; findings where it passes what the policy allows."""
    case = target.case
    if not isinstance(case, RuleCase | SeveralCase):
        return AttackRun(CODE, NAME, "estimates", "unavailable", why_not(target))
    if isinstance(case, SeveralCase) and case.n_lines > MOST_LINES:
        many = f"{case.n_lines:,} lines are more than an estimate takes together, which are {MOST_LINES:,}"
        return AttackRun(CODE, NAME, "estimates", "stopped", many)
    try:
        found = estimate(case, case.missing, check=lambda: target.limits.check(CODE))
    except LimitReached:
        return AttackRun(CODE, NAME, "estimates", "stopped", "the time limit was reached before there was an estimate")
    if not found.solution.converged:
        return AttackRun(CODE, NAME, "estimates", "stopped", "the estimate did not converge; no number is given")
    return _outcome(target, case, found)


def why_not(target: Target) -> str:
    """Why nothing can be said about anybody's sensitive value."""
    release = target.release
    if release.kind == "rules" and (release.items.pairs is None or not release.header.sa):
        return "the file does not say which of its columns are quasi-identifying and which is sensitive: name them with --qi and --sa"
    if release.header.coarser:
        return f"the {release.kind} use coarser values, which are not looked up among known people: mine them without hierarchies"
    return "needs everybody's quasi-identifiers: give them with --known, or the data with --data"


def _outcome(target: Target, case: PeopleCase, found: Estimate) -> AttackRun:
    posterior = found.posterior()
    people = case.population.people
    baseline = baseline_of(case, posterior)
    over = over_limit(target, posterior, baseline)
    which, value = np.nonzero(over)
    order = np.lexsort((value, which, -posterior[which, value]))
    which, value = which[order], value[order]
    listed = _listed(target, case) if isinstance(case, RuleCase) else None
    measures: dict[str, float | None] = {
        "qi_combinations": len(case.population),
        "max_posterior": float(posterior.max(initial=0.0)),
        "max_violation": found.solution.violation,
        "duality_gap": found.solution.gap,
        "posterior_entropy": found.solution.entropy,
    }
    if listed is not None:
        measures |= {
            "missing_rules": listed.missing,
            "missing_rules_kept": listed.kept,
            "variable_occurrences": listed.occurrences,
        }

    def event(index: int) -> BoxEvent:
        return event_of(case, int(which[index]), int(value[index]))

    def show(index: int) -> Finding:
        q, v = int(which[index]), int(value[index])
        text = f"Whoever has {described(case, q)} has {case.sensitive} {case.values[v]} with probability {posterior[q, v]:.3f}"
        steps = (
            f"By maximum entropy over {_counted(case)} and {found.missing_used:,} missing ones that matter.",
            f"Among all people the share is {baseline[v]:.3f}.",
        )
        return Finding(CODE, event(index), Bound(int(people[q]), int(people[q])), f"{text} (estimated).", steps=steps)

    return AttackRun(
        CODE,
        NAME,
        "estimates",
        "ran",
        "; ".join(why for why in _remarks(target, case, listed) if why),
        people=int(people[np.unique(which)].sum()),
        measures=measures,
        columns={
            "combination": which,
            "value": value,
            "count": people[which],
            "count_hi": people[which],
            "posterior": posterior[which, value],
        },
        severity=BEHIND_PROOFS + ((1 - posterior[which, value]) * 1e9).astype(np.int64),
        event=event,
        show=show,
        details={"posterior": posterior, **_influence(case, found, over)},
        cautions=_cautions(target, posterior, people),
    )


def _cautions(target: Target, posterior: npt.NDArray[np.float64], people: npt.NDArray[np.int64]) -> tuple[Caution, ...]:
    """Return how many people are nearly certain, where no limit judges that."""
    if not no_limit(target):
        return ()
    sure = posterior.max(axis=1, initial=0.0) > SURE
    return cautions_of(CODE, int(people[sure].sum()), int(people.sum()))


def _remarks(target: Target, case: PeopleCase, listed: Listed | None) -> tuple[str, ...]:
    """What belongs beside the estimates."""
    return together(target), withheld(case), "" if listed is None else listed.why_not, no_limit(target)


def withheld(case: PeopleCase) -> str:
    """That numbers are withheld, where they are: then an attacker who assumes more guesses more."""
    releases = (case.release,) if isinstance(case, RuleCase) else case.releases if isinstance(case, SeveralCase) else ()
    if not any(isinstance(release, Rules) and len(release) and release.is_withheld for release in releases):
        return ""
    return (
        "numbers are withheld, and this attacker assumes nothing about them: "
        "who assumes that confidences spread above their threshold guesses more"
    )


def _counted(case: PeopleCase) -> str:
    """How many lines an estimate rests on, in words."""
    return f"{case.n_lines:,} published {'rules' if isinstance(case, RuleCase) else 'lines'}"


def _influence(case: PeopleCase, found: Estimate, over: npt.NDArray[np.bool_]) -> dict[str, npt.NDArray[np.float64]]:
    """Which lines push estimates over a limit; of one list of rules, which can be repaired line by line."""
    return {"influence": influence_of_lines(case, found, over)} if isinstance(case, RuleCase) else {}


def _listed(target: Target, case: RuleCase) -> Listed | None:
    """How many rules are missing; an estimate is not lost because counting them takes too long."""
    try:
        return count_missing(case, check=lambda: target.limits.check(CODE))
    except LimitReached:
        return Listed(None, None, None)


def together(target: Target) -> str:
    """That several releases were taken together, where they were."""
    case = target.case
    if not isinstance(case, SeveralCase) or len(case.releases) == 1:
        return ""
    told = f"over {case.n_lines:,} lines of {len(case.speaking)} releases together, which say all that each of them says"
    rest = f"{case.left_out:,} more are not about known columns and one sensitive value"
    return f"{told}; {rest}" if case.left_out else told


def baseline_of(case: PeopleCase, posterior: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The share of each value among all people: as published, else as estimated."""
    counts = case.sa_counts
    if counts:
        return np.array(counts) / max(1, sum(counts))
    return np.asarray(case.population.people @ posterior / max(1, case.population.n))


def no_limit(target: Target) -> str:
    """That no estimate can be a finding, where the policy has it so."""
    free = target.policy.max_posterior is None and target.policy.max_gain is None
    return "the policy sets no limit for estimates" if free else ""


def over_limit(target: Target, posterior: npt.NDArray[np.float64], baseline: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Where an estimate passes a limit of the policy."""
    policy = target.policy
    over = np.zeros(posterior.shape, np.bool_)
    if policy.max_posterior is not None:
        over |= posterior > float(policy.max_posterior)
    if policy.max_gain is not None:
        over |= posterior - baseline > float(policy.max_gain)
    return over


def event_of(case: PeopleCase, combination: int, value: int) -> BoxEvent:
    """Who has a combination and a sensitive value."""
    values: dict[str, tuple[str, ...]] = {column: (text,) for column, text in case.population.describe(combination).items()}
    return BoxEvent(values | {case.sensitive: (case.values[value],)})


def described(case: PeopleCase, combination: int) -> str:
    """A combination in words."""
    return ", ".join(f"{column}={text}" for column, text in case.population.describe(combination).items())
