"""Limits, numbers of people and frames are given to the verbs as they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from mlxtend.frequent_patterns import apriori

import tacit
from tacit.model.errors import OptionError, RepairError
from tacit.model.policy import policy_of

BASKETS = [["a", "b"]] * 49 + [["a"]] + [["c"]] * 20
RELEASE = tacit.mine_itemsets(BASKETS, min_support=40)
PEOPLE = pd.DataFrame(
    {"sex": ["F", "M"] * 40, "job": ["cook"] * 30 + ["nurse"] * 50, "ill": ["flu", "none", "none", "none"] * 20}
)


@pytest.mark.parametrize("policy", [None, {"k": 7}, {"safe_threshold": 7}, tacit.Policy(k=7)])
def test_a_policy_may_be_a_dict_and_arguments_come_first(policy: Any) -> None:
    assert tacit.audit(RELEASE, policy=policy).policy.k == (10 if policy is None else 7)
    found = tacit.audit(RELEASE, k=3, l=4, max_posterior=0.5, policy=policy)
    assert (found.policy.k, found.policy.l, found.policy.max_posterior) == (3, 4, 0.5)


def test_arguments_keep_the_rest_of_a_policy() -> None:
    given = tacit.Policy(k=7, l=5, origin={"k": "organisation", "l": "organisation"})
    made = policy_of(given, k=9)
    assert (made.k, made.l) == (9, 5)
    assert (made.set_by["k"], made.set_by["l"]) == ("given", "organisation")
    assert policy_of(given) is given


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({"max_posteriori": 0.9}, "there is no limit 'max_posteriori'. Did you mean 'max_posterior'?"),
        ({"origin": {}}, "there is no limit 'origin'"),
        (7, "is neither a policy nor a dict"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(policy: Any, said: str) -> None:
    with pytest.raises(OptionError) as error:
        tacit.audit(RELEASE, policy=policy)
    assert said in str(error.value)


def test_the_verdict_follows_k() -> None:
    assert tacit.audit(RELEASE, k=2).verdict == "exposed"
    assert tacit.audit(RELEASE, k=1).verdict == "clean"
    assert len(tacit.suggest(RELEASE, k=1)) == 0
    assert tacit.suggest(RELEASE, k=2).best is not None
    assert tacit.repair(RELEASE, method="raise-threshold", k=1).cost["itemsets_lost"] == 0
    assert tacit.repair(RELEASE, method="raise-threshold", k=2).cost["itemsets_lost"] > 0


def test_n_is_an_argument_or_follows_from_the_data() -> None:
    mined = apriori(pd.get_dummies(PEOPLE), min_support=0.2, use_colnames=True)
    with pytest.raises(tacit.InputError, match="n=N"):
        tacit.audit(mined)
    for given in ({"n": 80}, {"data": PEOPLE}, {"data": pd.get_dummies(PEOPLE)}):
        assert tacit.audit(mined, **given).release[0]["n"] == 80
    assert tacit.repair(mined, method="round", n=80).release.n == 80
    with pytest.raises(tacit.TacitError):
        tacit.audit(mined, n=81, data=PEOPLE)


@pytest.mark.parametrize("kind", ["bool", "int8", "two columns", "polars", "sparse"])
def test_a_zero_of_a_one_hot_frame_is_no_item(kind: str) -> None:
    frame = pd.get_dummies(PEOPLE)
    shapes: dict[str, Any] = {
        "bool": frame,
        "int8": frame.astype(np.int8),
        "two columns": frame[["sex_F", "sex_M"]].astype(int),
        "polars": pl.from_pandas(frame),
        "sparse": frame.astype(pd.SparseDtype(bool)),
    }
    expected = apriori(frame[["sex_F", "sex_M"]] if kind == "two columns" else frame, min_support=0.2, use_colnames=True)
    mined = tacit.mine_itemsets(shapes[kind], min_support=0.2)
    found = {frozenset(line["itemset"]): line["count"] for line in mined.records()}
    assert found == {one: round(share * 80) for one, share in zip(expected.itemsets, expected.support, strict=True)}


def test_zeros_and_ones_with_roles_are_values() -> None:
    frame = pd.DataFrame({"ill": [0, 1] * 10, "old": [0, 0, 1, 1] * 5})
    rules = tacit.mine_rules(frame, qi="old", sa="ill", min_support=1, min_confidence=0.1)
    assert {line["consequent"] for line in rules.records()} == {"0", "1"}


def test_rules_and_itemsets_are_mined_from_frames_with_roles() -> None:
    table = tacit.read_table(PEOPLE, qi=["sex", "job"], sa="ill")
    options: dict[str, Any] = {"min_support": 5, "min_confidence": 0.5}
    direct = tacit.mine_rules(PEOPLE, qi=["sex", "job"], sa="ill", **options)
    assert list(direct.records()) == list(tacit.mine_rules(table, **options).records())
    assert direct.header == tacit.mine_rules(table, **options).header
    assert tacit.mine_itemsets(PEOPLE, qi="sex", sa="ill", min_support=5).header.sa == ("ill",)
    with pytest.raises(OptionError, match="Did you mean 'job'"):
        tacit.mine_rules(PEOPLE, qi="jobb", sa="ill", **options)


def test_an_audit_remembers_what_was_audited_and_its_record_does_not() -> None:
    found = tacit.audit(RELEASE, data=BASKETS, k=2)
    assert found.asked is not None
    assert found.asked.releases == (RELEASE,)
    assert found.asked.given["data"] is BASKETS
    assert "asked" not in found.to_dict()


def test_an_audit_is_repaired_in_the_cheapest_clean_way() -> None:
    found = tacit.audit(RELEASE, data=BASKETS, k=2)
    best = tacit.suggest(RELEASE, data=BASKETS, k=2).best
    done = found.repair()
    assert best is not None
    assert (done.method, done.after.verdict, done.before) == (best.method, "clean", found)
    assert list(done.release.records()) == list(best.release.records())  # type: ignore[union-attr]
    chosen = found.repair(method="raise-threshold")
    assert (chosen.method, chosen.before) == ("raise-threshold", found)


def test_what_is_clean_needs_no_repair_and_what_cannot_be_repaired_says_so() -> None:
    clean = tacit.audit(RELEASE, k=1)
    assert clean.repair().release is RELEASE
    with pytest.raises(RepairError, match="nothing to repair yet"):
        tacit.audit(RELEASE, k=2, attacks=["I02"]).repair()


def test_what_the_data_leave_open_is_repaired() -> None:
    found = tacit.audit(RELEASE, data=BASKETS, k=1)
    runs = tuple(replace(run, undecided=4) if run.code == "X01" else run for run in found.runs)
    undecided = replace(found, runs=runs)
    assert (found.verdict, undecided.verdict) == ("clean", "incomplete")
    done = undecided.repair()
    assert done.after.verdict == "clean"
    assert done.method != "none"
    stopped = tuple(replace(run, status="stopped") if run.code == "X01" else run for run in runs)
    with pytest.raises(RepairError, match="nothing to repair yet"):
        replace(found, runs=stopped).repair()


def test_several_releases_are_repaired_together() -> None:
    tables = [PEOPLE.groupby(["sex", "ill"]).size(), PEOPLE.groupby(["job", "ill"]).size()]
    found = tacit.audit(tables, people=tacit.Same(), k=25, sa="none")
    assert found.verdict == "exposed"
    done = found.repair(seconds=30)
    assert len(done.release) == 2
    assert done.after.ok
    rounded = found.repair(method="round")
    assert len(rounded.release) == 2
    assert rounded.after.ok
    with pytest.raises(OptionError, match="several"):
        found.repair(method="leave-out")


def test_an_audit_that_has_to_be_clean_says_why_it_is_not() -> None:
    tacit.audit(RELEASE, k=1).assert_clean()
    with pytest.raises(tacit.Exposed) as error:
        tacit.audit(RELEASE, k=2).assert_clean()
    assert error.value.verdict == "exposed"
    assert "1 person has a but not b." in str(error.value)
    assert "EXPOSED: " in str(error.value)
    with pytest.raises(tacit.Exposed) as error:
        tacit.audit(RELEASE, k=2, attacks=["I02"]).assert_clean()
    assert error.value.verdict == "incomplete"
