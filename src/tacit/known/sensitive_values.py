"""R02 sensitive-values: probability of each sensitive value given the quasi-identifiers, by maximum entropy.

Infers
    P(value | quasi-identifiers) for every combination that somebody has: of all distributions that published and missing rules allow, the
    maximum entropy distribution, which assumes nothing else.
Assumes
    Everybody's quasi-identifiers are known, and the values that the sensitive column can have. Rules are read in whole people: a published rule
    reaches its thresholds, a rule missing from a complete list does not.
Claim
    Estimates. A probability is not a proof; it counts against a release only if the policy sets a limit for it.
Cost
    People whom the same rules name are one class. About a dozen Newton steps, each with one system of equations of the size of the rules;
    missing rules enter only if the estimate violates them.
Example
    5 of 6 doctorates earn much, and all 4 women among them do: a male doctorate earns much with probability 1/2.
Reference
    Zhu, Wang, Du, Deriving Private Information from Association Rule Mining Results, ICDE 2009.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tacit.known.case import LINE, Estimate, Listed, PeopleCase, RuleCase, count_missing, estimate
from tacit.known.releases import SeveralCase
from tacit.model.arrays import Flags, Floats
from tacit.model.audit import SURE, AttackRun, Audit, Target, cautions_of
from tacit.model.errors import LimitReached, OptionError, nearest_column
from tacit.model.estimates import OTHER, Comparison, Posterior
from tacit.model.finding import BoxEvent, Claim, Finding, Share, remark
from tacit.model.numbers import Bound
from tacit.model.ordered import Order
from tacit.model.people import Population
from tacit.model.policy import Policy, time_limit
from tacit.model.release import FIRST_RULE
from tacit.model.table import Table
from tacit.solve.entropy import linear_algebra

#: Thresholds of the largest posterior above which people are counted, by the name of the measure.
ABOVE = {"people_above_50": 0.5, "people_above_90": 0.9, "people_above_99": 0.99}
_ROWS = 1 << 16  #: Rows of a table that are measured at a time.
HARDLY = 0.001  #: Less probable values do not count as ones that a person may have.


def posterior_measures(found: Posterior, policy: Policy, order: Sequence[str] = ()) -> Mapping[str, float]:
    """Return the ``MEASURES`` of estimates by name, if any.

    ``order`` names the sensitive values from the lowest to the highest; numbers have an order of their own.
    """
    if not found.is_estimated or len(found.population) == 0:
        return {}
    # Sums of a few thousand products: several threads would wait for each other longer than they take.
    with linear_algebra().limit(limits=1, user_api="blas"):
        return _measure(found, policy, order)


def _measure(found: Posterior, policy: Policy, order: Sequence[str]) -> Mapping[str, float]:
    people = found.population.people
    # Nothing is lost by a baseline of 0: it is the mean of the estimates, so that they are 0 there as well.
    known = np.where(found.baseline > 0, found.baseline, 1.0)
    log_known = np.log(known)
    gained = np.maximum(_by_rows(found.share, lambda part: (_times_log(part, part) - part * log_known).sum(axis=1)), 0.0)
    distance = _by_rows(found.gain, lambda part: np.abs(part).sum(axis=1) / 2)  # total variation
    out: dict[str, float] = {name: int(people[found.largest > above].sum()) for name, above in ABOVE.items()}
    out |= {
        "max_gain": float(found.gain.max()),
        "baseline_entropy": float(_entropies(found.baseline[None, :])[0]),
        "knowledge_gained": float(gained @ people / people.sum()),
        "knowledge_gained_max": float(gained.max()),
        "l_distinct": int((found.share >= HARDLY).sum(axis=1).min()),
        "l_entropy": float(np.exp(_entropies(found.share).min())),
        "t_closeness": float(distance.max()),
        "t_closeness_mean": float(distance @ people / people.sum()),
        "smallest_combination": int(people.min()),
    }
    if ordered := Order.of(found.values, order):
        moved = ordered.distances(found.share, found.baseline)
        out["t_closeness_ordered"] = float(moved.max())
        out["t_closeness_ordered_mean"] = float(moved @ people / people.sum())
    if policy.max_posterior is not None:
        outside = (people < policy.k) | (found.largest > policy.max_posterior)
        out["people_outside_alpha_k"] = int(people[outside].sum())
    return out


def _by_rows(table: Floats, measure: Callable[[Floats], Floats]) -> Floats:
    """Return a measure of each row, some rows at a time: large tables are not copied."""
    parts = [measure(table[first : first + _ROWS]) for first in range(0, len(table), _ROWS)]
    return np.concatenate(parts) if parts else np.empty(0)


def _entropies(share: Floats) -> Floats:
    """Return the entropy of each row, in nats."""
    return _by_rows(share, lambda part: np.asarray(-_times_log(part, part).sum(axis=1)) + 0.0)


def _times_log(factor: Floats, share: Floats) -> Floats:
    return np.asarray(factor * np.log(share, where=share > 0, out=np.zeros_like(share)))


def compare(audit: Audit, people: Table) -> Comparison:
    """Compare the estimates of an audit of rules with the true values of its people."""
    estimated = {one.sensitive: one for one in audit.posteriors if one.is_estimated}
    if not estimated:
        remedy = "Audit rules with known=people.qi, or with the data"
        raise OptionError("the audit estimated nobody's sensitive value", where="compare", remedy=remedy)
    if len(audit.posteriors) > 1 and len(people.schema.sa) > 1:
        remedy = f"Name one of them with --sa (Python: sa=): {', '.join(estimated)}"
        raise OptionError("the estimates are about several sensitive columns", where="compare", remedy=remedy)
    return compare_estimates(estimated.get(people.sa.name, next(iter(estimated.values()))), people)


def compare_estimates(posterior: Posterior, people: Table) -> Comparison:
    """Compare estimates of a sensitive column with the truth."""
    truth = _true_counts(posterior, people)
    n_q = truth.sum(axis=1, keepdims=True)
    share = truth / np.maximum(n_q, 1)
    ruled_out = (share > 0) & (posterior.share <= 0)  # infinitely far from the truth
    both = (share > 0) & ~ruled_out
    terms = np.where(both, share * (np.log(np.where(both, share, 1.0)) - np.log(np.where(both, posterior.share, 1.0))), 0.0)
    terms[ruled_out] = np.inf
    individual = np.maximum(terms.sum(axis=1), 0.0)
    overall = float((individual * n_q[:, 0]).sum() / max(1.0, n_q.sum()))
    return Comparison(posterior, truth, individual, overall)


def _true_counts(posterior: Posterior, people: Table) -> Floats:
    remedy = "Give the data that the audited rules were made from"
    sensitive = people.column(posterior.sensitive) if posterior.sensitive in people.schema.sa else people.sa
    if sensitive.name != posterior.sensitive:
        raise OptionError(
            f"the rules are about {posterior.sensitive!r}, and the sensitive column of the data is {sensitive.name!r}",
            where="compare",
            remedy=nearest_column(posterior.sensitive, people.names),
        )
    population = posterior.population
    kept = tuple(column for column in population.columns if column.name in people.names)
    if len(kept) < len(population.columns):
        # The first rule of a list follows from the other columns.
        told = Table(kept, population.people)
        missing = [name for name in population.names if name not in people.names]
        if not all(name.startswith(FIRST_RULE) for name in missing) or len(Population.of(told)) < len(population):
            raise OptionError(f"the data have no column {missing[0]!r}", where="compare", remedy=remedy)
        population = Population(kept, population.people)
    places = population.places_of(people)
    code = {value: number for number, value in enumerate(posterior.values)}
    values = np.array([code.get(value, code.get(OTHER, -1)) for value in sensitive.values], np.int64)[sensitive.codes]
    if (places < 0).any() or (values < 0).any():
        raise OptionError("the data hold people or values that the audit does not know", where="compare", remedy=remedy)
    size = len(posterior.population) * len(posterior.values)
    weights = people.weights.astype(np.float64)
    counts = np.bincount(places * len(posterior.values) + values, weights, size).reshape(posterior.share.shape)
    if (counts.sum(axis=1) != posterior.population.people).any():
        raise OptionError("the data hold other people than the audit is about", where="compare", remedy=remedy)
    return np.asarray(counts, np.float64)


CODE = "R02"
NAME = "sensitive-values"
BEHIND_PROOFS = 1 << 50  #: Severity from which estimates start, so that they follow proved findings.
MOST_LINES = 4_000  #: Most lines of several releases for an estimate: every step would solve as many equations.


def run(target: Target) -> AttackRun:
    """Estimate all sensitive values; report those above the limits."""
    case = target.case
    if not isinstance(case, RuleCase | SeveralCase):
        return not_run(target, CODE, NAME, "estimates")
    if isinstance(case, SeveralCase) and case.n_lines > MOST_LINES:
        many = f"{case.n_lines:,} lines are too many for an estimate, which takes {MOST_LINES:,}"
        return AttackRun(CODE, NAME, "estimates", "stopped", reason=many)
    try:
        with time_limit(target.limits.seconds_left):
            found = estimate(case, case.missing, check=lambda: target.limits.check(CODE))
    except LimitReached:
        return AttackRun(CODE, NAME, "estimates", "stopped", reason="the time limit was reached before there was an estimate")
    if not found.solution.converged:
        return AttackRun(CODE, NAME, "estimates", "stopped", reason="the estimate did not converge; no number is given")
    return _outcome(target, case, found)


def not_run(target: Target, code: str, name: str, claim: Claim) -> AttackRun:
    """Return the run of an attack that has nobody, or no sensitive column, to ask about."""
    if target.release.kind == "rules" and target.release.header.no_sa:
        return AttackRun(code, name, claim, "not-relevant", reason="no column of the rules is sensitive, as --sa none says")
    return AttackRun(code, name, claim, "unavailable", reason=why_not(target))


def why_not(target: Target) -> str:
    """Return the reason why no value can be inferred."""
    release = target.release
    if release.kind == "rules" and (release.items.pairs is None or not release.header.sa):
        return "the file does not name quasi-identifying and sensitive columns: name them with --qi and --sa, or say --sa none"
    if release.header.coarser:
        return f"the {release.kind} use coarser values, which cannot be compared with known people: mine them without hierarchies"
    return "needs everybody's quasi-identifiers: give them with --known, or the data with --data"


def _outcome(target: Target, case: PeopleCase, found: Estimate) -> AttackRun:
    posterior = found.posterior()
    people = case.population.people
    baseline = baseline_of(case, posterior)
    policy = target.policy
    over = np.zeros(posterior.shape, np.bool_)
    if policy.max_posterior is not None:
        over |= posterior > float(policy.max_posterior)
    if policy.max_gain is not None:
        over |= posterior - baseline > float(policy.max_gain)
    which, value = np.nonzero(over)
    order = np.lexsort((value, which, -posterior[which, value]))
    which = which[order]
    value = value[order]
    listed = None
    if isinstance(case, RuleCase):
        try:
            listed = count_missing(case, check=lambda: target.limits.check(CODE))
        except LimitReached:
            listed = Listed(None, None, None)
    measures: dict[str, float | None] = {
        "qi_combinations": len(case.population),
        "max_posterior": float(posterior.max(initial=0.0)),
        "max_violation": found.solution.violation,
        "duality_gap": found.solution.gap,
        "posterior_entropy": found.solution.entropy,
    }
    details: dict[str, Any] = {"posterior": posterior}
    if isinstance(case, RuleCase):
        details["influence"] = _influence_of_lines(case, found, over)
    if listed is not None:
        measures |= {
            "missing_rules": listed.missing,
            "missing_rules_kept": listed.kept,
            "variable_occurrences": listed.occurrences,
        }

    remarks = (describe_releases(target), _remark_withheld(case), listed.why_not if listed else "", no_limit(target))
    sure = posterior.max(axis=1, initial=0.0) > SURE

    def event(index: int) -> BoxEvent:
        return event_of(case, int(which[index]), (case.values[int(value[index])],))

    def show(index: int) -> Finding:
        q = int(which[index])
        v = int(value[index])
        text = f"Whoever has {describe_combination(case, q)} has {case.sensitive} {case.values[v]} with probability {posterior[q, v]:.3f}"
        lines = f"{case.n_lines:,} published {'rules' if isinstance(case, RuleCase) else 'lines'}"
        how = f"By maximum entropy over {lines} and {found.missing_used:,} missing ones that matter."
        return Finding(
            CODE,
            event(index),
            Bound.of(int(people[q])),
            f"{text} (estimated).",
            derivation=(remark(how), Share(float(baseline[v]))),
            probability=float(posterior[q, v]),
        )

    return AttackRun(
        CODE,
        NAME,
        "estimates",
        "ran",
        reason="; ".join(filter(None, remarks)),
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
        details=details,
        cautions=cautions_of(CODE, int(people[sure].sum()), int(people.sum())) if no_limit(target) else (),
    )


def _remark_withheld(case: PeopleCase) -> str:
    releases = (case.release,) if isinstance(case, RuleCase) else case.releases
    if not any(release.withheld.any() for release in releases):
        return ""
    if case.withheld == "spread":
        return "numbers are withheld, and this attacker expects confidences to spread above their threshold"
    return (
        "numbers are withheld, and this attacker assumes nothing about them; "
        "one who assumes that confidences spread above their threshold guesses more"
    )


def describe_releases(target: Target) -> str:
    """Return that several releases were used together, if so."""
    case = target.case
    if not isinstance(case, SeveralCase) or len(case.releases) == 1:
        return ""
    used = f"from {case.n_lines:,} lines of {len(case.speaking)} releases together, which imply what each of them says"
    rest = f"{case.left_out:,} more are not about known columns and one sensitive value"
    return f"{used}; {rest}" if case.left_out else used


def baseline_of(case: PeopleCase, posterior: Floats) -> Floats:
    """Return the overall share of each value, published or estimated."""
    counts = case.sa_counts
    if counts:
        return np.array(counts) / max(1, sum(counts))
    return np.asarray(case.population.people @ posterior / max(1, case.population.n))


def no_limit(target: Target) -> str:
    """Return the remark that no limit applies, if so."""
    free = target.policy.max_posterior is None and target.policy.max_gain is None
    return "the policy sets no limit for estimates" if free else ""


def event_of(case: PeopleCase, combination: int, values: tuple[str, ...]) -> BoxEvent:
    """Return who has a combination and one of these sensitive values."""
    allowed = {column: (text,) for column, text in case.population.describe(combination).items()}
    return BoxEvent(allowed | {case.sensitive: values})


def describe_combination(case: PeopleCase, combination: int) -> str:
    """Return a combination in words."""
    return ", ".join(f"{column}={text}" for column, text in case.population.describe(combination).items())


def _influence_of_lines(case: RuleCase, found: Estimate, over: Flags) -> Floats:
    """Return each line's influence on the estimates ``over`` a limit.

    The logarithm of P(v | q) grows with the multiplier of a statement about value w by ``[v = w] - P(w | q)``, for every q that the
    statement is about; this is summed over people. Values that single statements settle have no multiplier; there each line about the
    combination that says "all" or "nobody" counts.
    """
    problem = found.problem
    solution = found.solution
    weights = np.zeros(len(case.release))
    if not over.any():
        return weights
    n_classes, n_values = problem.closed.shape
    # Number of people of each class over the limit with each value.
    people = np.zeros((n_classes, n_values))
    which, value = np.nonzero(over)
    np.add.at(people, (problem.class_of[which], value), case.population.people[which])
    owner = np.repeat(np.arange(n_classes), np.diff(problem.starts))
    rows = problem.rows
    about = problem.values[rows]
    for v in range(n_values):
        slope = (about == v) - solution.share[owner, about]
        push = np.maximum(found.weights[rows] * slope, 0.0) * people[owner, v]
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
    if not weights.any():  # settled by several lines together: any line about these people may be one of them
        concerned = np.where(over.any(axis=1), case.population.people, 0)
        return np.array([float(concerned[holders].sum()) for holders in case.holders])
    return weights
