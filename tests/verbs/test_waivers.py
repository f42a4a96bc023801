"""Findings that somebody accepts: they stay listed, marked with who and why, and only the others decide."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit as library
from tacit.checker import check_audit
from tacit.model.errors import OptionError
from tacit.model.policy import Policy, Waiver, event_key
from tacit.verbs.settings import parse_config
from tests.shell import leaking_baskets, record, tacit

BASKETS = [["a", "b"]] * 49 + [["a"]] + [["c", "d"]] * 45 + [["c"]] * 2 + [["e"]] * 20
RELEASE = library.mine_itemsets(library.read_transactions(BASKETS), min_support=20)
PLAIN = library.audit(RELEASE)
IDS = [finding.id for finding in PLAIN.findings]


PEOPLE = {finding.id: finding.count.to_list() for finding in PLAIN.findings}


def waived(*ids: str, **more: Any) -> Policy:
    given = (Waiver(finding=one, people=PEOPLE.get(one, 1), reason="known", name="A. Checker") for one in ids)
    return Policy(waivers=tuple(given), **more)


def test_the_case_has_two_findings() -> None:
    assert [(one.statement, one.count.hi) for one in PLAIN.findings] == [
        ("1 person has a but not b.", 1),
        ("2 people have c but not d.", 2),
    ]


@given(st.sets(st.sampled_from(IDS)))
def test_only_findings_that_nobody_accepts_count(accepted: set[str]) -> None:
    audit = library.audit(RELEASE, policy=waived(*sorted(accepted)))
    left = [one for one in IDS if one not in accepted]
    assert audit.verdict == ("exposed" if left else "clean")
    assert audit.counted("I01") == len(left)
    assert [one.id for one in audit.findings] == left + [one for one in IDS if one in accepted]
    assert [one.waived is not None for one in audit.findings] == [False] * len(left) + [True] * len(accepted)
    made = audit.to_dict()
    assert made["attacks"][0]["findings"] == 2
    assert made["attacks"][0]["waived"] == len(accepted)
    assert sum(audit.sizes(audit.runs[0]).values()) == len(left)
    assert check_audit(made, [RELEASE]).ok


def test_a_waiver_may_be_about_an_event() -> None:
    for event in ({"absent": ["b"], "present": ["a"]}, {"present": ["a"], "absent": ["b"], "not_all": []}):
        audit = library.audit(RELEASE, policy=Policy(waivers=(Waiver(event=event, people=1, reason="known", name="A. Checker"),)))
        assert [(one.id, one.waived is not None) for one in audit.findings] == [(IDS[1], False), (IDS[0], True)]
        assert audit.to_dict()["waivers"][0]["findings"] == 1


def test_what_matches_nothing_is_said() -> None:
    policy = waived("I01-000000000000", IDS[0])
    assert [one["status"] for one in library.audit(RELEASE, policy=policy).to_dict()["waivers"]] == ["unmatched", "applied"]


def test_the_last_day_is_compared_with_the_given_date_only() -> None:
    policy = Policy(waivers=(Waiver(finding=IDS[0], people=1, reason="known", name="A", until=date(2026, 5, 1)),))
    undated = library.audit(RELEASE, policy=policy)
    assert undated.counted("I01") == 2
    assert undated.to_dict()["waivers"][0]["status"] == "undated"
    from dataclasses import replace

    assert library.audit(RELEASE, policy=replace(policy, today=date(2026, 5, 1))).counted("I01") == 1
    late = library.audit(RELEASE, policy=replace(policy, today=date(2026, 5, 2)))
    assert late.counted("I01") == 2
    assert late.to_dict()["waivers"][0]["status"] == "ended"


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ('finding = "I01-0123456789ab"\nname = "A"', "has no reason"),
        ('finding = "I01-0123456789ab"\nreason = "x"\nname = " "', "has no name"),
        ('reason = "x"\nname = "A"', "must name one of a finding, an event, and a pattern"),
        ('finding = "I01"\nreason = "x"\nname = "A"', "finding is not the id of one"),
        ('finding = "I01-0123456789ab"\npeople = 9\nreason = "x"\nname = "A"\nuntil = "soon"', "is not a date"),
        ('finding = "I01-0123456789ab"\nreason = "x"\nnmae = "A"', "unknown key 'nmae'. Did you mean 'name'"),
        ('event = "a"\nreason = "x"\nname = "A"', "event is not a table of columns and values"),
        ('finding = "I01-0123456789ab"\nreason = "x"\nname = "A"', "does not say how many people it is for"),
        ('finding = "I01-0123456789ab"\nreason = "x"\nname = "A"\npeople = 0', "people is not a number of people"),
        ('finding = "I01-0123456789ab"\nreason = "x"\nname = "A"\npeople = [3, 1]', "people is not a number of people"),
        (
            'finding = "I01-0123456789ab"\nreason = "x"\nname = "A"\npeople = 9\nrelease = "abc"',
            "release is not the SHA-256 of one",
        ),
        ('items = ["a"]\nevent = { present = ["a"] }\nreason = "x"\nname = "A"\npeople = 9', "must name one of a finding"),
        ('attack = "I01"\nreason = "x"\nname = "A"\npeople = 9', "must name one of a finding"),
        ('attack = "I1"\nitems = ["a"]\nreason = "x"\nname = "A"\npeople = 9', "unknown attack 'I1'"),
        (
            'finding = "I01-0123456789ab"\nattack = "I01"\nreason = "x"\nname = "A"\npeople = 9',
            "attack does not narrow a pattern",
        ),
        ('items = ["*"]\nreason = "x"\nname = "A"\npeople = 9', "items covers everything"),
        ('columns = [3]\nreason = "x"\nname = "A"\npeople = 9', "columns is not a list of names"),
        ('column = "a"\ncolumns = ["b"]\nreason = "x"\nname = "A"\npeople = 9', "has both column and columns"),
        ('column = "a"\nreason = "x"\nname = "A"', "does not say how many people it is for"),
    ],
)
def test_a_waiver_that_makes_no_sense_is_refused(entry: str, expected: str) -> None:
    with pytest.raises(OptionError) as caught:
        parse_config(f"[[waivers]]\n{entry}\n")
    assert expected in str(caught.value)
    assert str(caught.value).startswith("tacit.toml, waiver 1: ")


def test_one_entry_may_name_several_findings() -> None:
    text = f'[[waivers]]\nfinding = {json.dumps(IDS)}\npeople = 2\nreason = "known"\nname = "A"\nuntil = 2030-01-31\n'
    assert [(one.finding, one.until) for one in parse_config(text).waivers] == [(one, date(2030, 1, 31)) for one in IDS]


def test_events_are_the_same_however_they_are_written() -> None:
    assert event_key({"sex": "F"}) == event_key({"sex": ["F"], "age": []})
    assert event_key({"sex": ["F"]}) != event_key({"sex": ["M"]})


@pytest.mark.parametrize("change", ["verdict", "waived", "mark", "waivers"])
def test_the_checker_rejects_a_record_whose_waivers_were_changed(change: str) -> None:
    made = library.audit(RELEASE, policy=waived(*IDS)).to_dict()
    assert check_audit(made, [RELEASE]).ok
    if change == "verdict":
        made["verdict"] = "exposed"
    elif change == "waived":
        made["attacks"][0]["waived"] = 1
    elif change == "mark":
        made["findings"][0]["waived"]["reason"] = "another"
    else:
        made["waivers"].clear()
    assert not check_audit(made, [RELEASE]).ok


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert tacit("mine", "itemsets", leaking_baskets(tmp_path), "--min-support", 10, "-o", "r.csv").exit_code == 0
    found = record("audit", "r.csv", code=1)["findings"][0]["id"]
    entry = (
        f'[[waivers]]\nfinding = "{found}"\npeople = 1\nreason = "the census says it"\nname = "A. Checker"\nuntil = 2026-05-01\n'
    )
    Path("tacit.toml").write_text(entry)
    here = ("--config", "tacit.toml")
    undated = tacit("audit", "r.csv", *here)
    assert undated.exit_code == 1
    assert "1 waiver has a last day and accepts nothing: give --date." in undated.stdout
    assert record("audit", "r.csv", *here, "--date", "2026-05-01")["verdict"] == "clean"
    assert record("audit", "r.csv", *here, "--date", "2026-05-02", code=1)["verdict"] == "exposed"
    assert tacit("audit", "r.csv", "--date", "tomorrow").exit_code == 2


def test_a_waiver_holds_for_the_people_that_it_was_given_for_only() -> None:
    for people, holds in ((1, True), (9, False), ([1, 2], False)):
        waiver = Waiver(finding=IDS[0], people=people, reason="known", name="A")
        assert library.audit(RELEASE, policy=Policy(waivers=(waiver,))).counted("I01") == (1 if holds else 2)
    both = tuple(Waiver(event={"present": ["a"], "absent": ["b"]}, people=one, reason="known", name="A") for one in (9, 1))
    assert [one["status"] for one in library.audit(RELEASE, policy=Policy(waivers=both)).to_dict()["waivers"]] == [
        "unmatched",
        "applied",
    ]


def test_a_waiver_may_be_bound_to_a_release(tmp_path: Path) -> None:
    library.write_release(RELEASE, tmp_path / "r.csv")
    digest = library.audit(tmp_path / "r.csv").release[0]["sha256"]
    for bound, number in ((digest, 1), ([digest, "0" * 64], 1), ("0" * 64, 2)):
        waiver = Waiver(finding=IDS[0], people=1, reason="known", name="A", release=bound)
        assert library.audit(tmp_path / "r.csv", policy=Policy(waivers=(waiver,))).counted("I01") == number


def pattern(people: Any = (1, 9), **about: Any) -> Waiver:
    return Waiver(people=people, reason="known", name="A. Checker", **about)


@pytest.mark.parametrize(
    ("waiver", "covered"),
    [
        (pattern(items=["a", "b"]), {0}),  # every item that the finding mentions, present or absent
        (pattern(items=["a"]), set()),
        (pattern(items=["a*", "b", "c", "d*"]), {0, 1}),
        (pattern(items=["a", "b"], attack="I01"), {0}),
        (pattern(items=["a", "b"], attack="X01"), set()),
        (pattern(items=["a", "b", "c", "d"], people=[2, 9]), {1}),  # accepting 2 to 9 people does not accept 1
        (pattern(items=["a", "b", "c", "d"], people=9), set()),
        (pattern(columns=["a", "b"]), set()),  # items of baskets have no column
    ],
)
def test_a_pattern_covers_what_mentions_nothing_else(waiver: Waiver, covered: set[int]) -> None:
    audit = library.audit(RELEASE, policy=Policy(waivers=(waiver,)))
    assert {IDS.index(one.id) for one in audit.findings if one.waived} == covered
    assert audit.verdict == ("clean" if len(covered) == 2 else "exposed")
    made = audit.to_dict()
    assert made["waivers"][0]["findings"] == made["attacks"][0]["waived"] == len(covered)
    assert made["waivers"][0]["status"] == ("applied" if covered else "unmatched")
    assert check_audit(made, [RELEASE]).ok


NAMES = st.sampled_from(["a", "a=1", "a=2", "b=1", "ab=1", "c"])
GLOBS = st.sampled_from(["a", "a*", "*1", "b=*", "c", "a=?", "ab"])


@given(st.sets(NAMES), st.sets(NAMES), st.sets(GLOBS), st.sets(GLOBS), st.integers(1, 3), st.integers(0, 3))
def test_the_checker_matches_patterns_by_itself(
    present: set[str], absent: set[str], items: set[str], columns: set[str], lo: int, more: int
) -> None:
    from tacit.checker.totals import _is_about
    from tacit.model.finding import ItemEvent

    if not items | columns:
        return
    waiver = pattern(people=[2, 4], items=sorted(items), columns=sorted(columns))
    event = ItemEvent(tuple(present), tuple(absent))
    expected = waiver.covers(event) and waiver.holds_for(lo, lo + more)
    assert _is_about(waiver.to_dict(), {"code": "I01", "event": event.to_dict(), "count": [lo, lo + more]}) == expected


def test_patterns_of_columns_and_of_changing_populations() -> None:
    from tacit.model.finding import BoxEvent, Change, ItemEvent

    job = pattern(columns=["job"])
    assert job.covers(ItemEvent(("job=a",), ("job=b",)))
    assert job.covers(BoxEvent({"job": ("a", "b")}))
    assert not job.covers(BoxEvent({"job": ("a",), "age": ("3",)}))
    assert not job.covers(ItemEvent(("jobs=a",)))
    assert pattern(items=["age=3*"], columns=["job"]).covers(BoxEvent({"job": ("a",), "age": ("3", "30")}))
    assert not job.covers(ItemEvent(()))  # all people
    assert not job.covers(ItemEvent(("job=a",), inside=(0,), outside=(1,)))
    assert not job.covers(ItemEvent(("job=a",), changes=(Change("age"),)))


@pytest.mark.parametrize("change", ["items", "people", "attack", "findings", "moved", "everything", "both"])
def test_the_checker_rejects_forged_patterns(change: str) -> None:
    from tacit.model.errors import InputError

    waiver = pattern(items=["a", "b"], people=[1, 1], attack="I01")
    made = json.loads(json.dumps(library.audit(RELEASE, policy=Policy(waivers=(waiver,))).to_dict()))
    assert check_audit(made, [RELEASE]).ok
    told = made["waivers"][0]
    if change == "items":
        told["items"] = ["a", "b", "c", "d"]
        told["people"] = [1, 2]
    elif change == "people":
        told["people"] = [2, 9]
    elif change == "attack":
        told["attack"] = "X01"
    elif change == "findings":
        told["findings"] = 2
        made["attacks"][0]["waived"] = 2
        made["verdict"] = "clean"
    elif change == "moved":
        made["attacks"][0]["waived"] = 0
        made["attacks"][1] |= {"findings": 1, "waived": 1}
    elif change == "everything":
        told["items"] = ["*"]
    else:
        told["finding"] = IDS[0]
    if change in ("everything", "both"):
        with pytest.raises(InputError):
            check_audit(made, [RELEASE])
    else:
        assert not check_audit(made, [RELEASE]).ok
