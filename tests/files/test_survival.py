"""Survival tables as programs write them: read, audited, verified, repaired, and refused where they cannot be true."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest

import tacit
from tacit.files.survival import bound_events
from tacit.model.errors import Contradiction, InputError
from tacit.model.numbers import Printed
from tests.judge.survival_groups import holds_of, lies_in
from tests.shell import tacit as run

#: Remission in weeks of 42 children with leukaemia (Freireich and others, Blood 21, 1963, 699-716): 6-MP and placebo, ``+`` if it still lasted.
FREIREICH = {
    "6-MP": "6 6 6 6+ 7 9+ 10 10+ 11+ 13 16 17+ 19+ 20+ 22 23 25+ 32+ 32+ 34+ 35+",
    "placebo": "1 1 2 2 3 4 4 5 5 8 8 8 8 11 11 12 12 15 17 22 23",
}


def life_table(arm: str, digits: int = 3) -> list[dict[str, Any]]:
    """The lines of an arm: every time, as lifelines lists them after the first."""
    people = [(int(text.rstrip("+")), not text.endswith("+")) for text in FREIREICH[arm].split()]
    share = Fraction(1)
    lines = []
    for at in sorted({time for time, _ in people}):
        risk = sum(time >= at for time, _ in people)
        events = sum(time == at and dies for time, dies in people)
        share *= 1 - Fraction(events, risk)
        left = sum(time == at and not dies for time, dies in people)
        lines.append(
            {"arm": arm, "time": at, "risk": risk, "events": events, "left": left, "share": f"{float(share):.{digits}f}"}
        )
    return lines


def write(path: Path, names: dict[str, str], lines: list[dict[str, Any]]) -> Path:
    frame = pd.DataFrame([{name: line[key] for name, key in names.items()} for line in lines])
    frame.to_csv(path, index=False)
    return path


R = {"time": "time", "n.risk": "risk", "n.event": "events", "n.censor": "left", "survival": "share"}


def statements(release: Any, k: int) -> list[str]:
    audit = tacit.audit(release, k=k)
    record = audit.to_dict(top=1_000)
    assert tacit.verify(record, release).ok
    return [one["statement"] for one in record["findings"]]


def is_told(findings: Any, count: int, time: int, arm: str = "") -> bool:
    """Tell if so many people of one stretch of time with this time are told."""
    for one in findings:
        present = dict(item.split("=", 1) for item in one.event.present if "=" in item)
        label = next((value for name, value in present.items() if name in ("time", "event_at", "Time", "timeline")), None)
        is_own = one.count.lo == one.count.hi == count and (not arm or present.get("arm") == arm)
        if is_own and label is not None and lies_in(time, label):
            return True
    return False


def test_both_arms_of_a_trial_tell_of_single_children(tmp_path: Path) -> None:
    lines = life_table("6-MP") + life_table("placebo")
    release: Any = tacit.read_release(write(tmp_path / "km.csv", {"arm": "arm", **R}, lines), sa="none")
    assert release.n == 42
    statements(release, 5)
    findings = tacit.audit(release, k=5).findings
    assert is_told(findings, 1, 7, "6-MP")
    assert is_told(findings, 3, 6, "6-MP")
    assert is_told(findings, 1, 3)  # in either arm, so the arm is left out
    assert release.header.unread == ()


def test_differences_of_an_arm_and_the_whole_tell_of_the_other_arm(tmp_path: Path) -> None:
    whole = write(
        tmp_path / "all.csv", {"time": "time", "n.risk": "risk", "n.event": "events", "n.censor": "left"}, _chosen((0, 6, 12, 24))
    )
    arm = write(
        tmp_path / "arm.csv",
        {"time": "time", "n.risk": "risk", "n.event": "events", "n.censor": "left"},
        _chosen((0, 6, 12, 24), "6-MP"),
    )
    releases = [tacit.read_release(one, sa="none") for one in (whole, arm)]
    audit = tacit.audit(releases, people=tacit.Nested(outer=0, inner=1), k=5)
    assert tacit.verify(audit.to_dict(top=1_000), releases, again=False).ok
    findings: Any = audit.findings
    others = [one for one in findings if one.event.outside == (1,)]
    assert others, [one.statement for one in audit.findings]
    for one in others:
        event = one.event.to_dict()
        count = sum(holds_of(event, (time, dies, 0), None) for time, dies in _people("placebo"))
        assert one.count.lo <= count <= one.count.hi, one.statement


def _people(*arms: str) -> list[tuple[int, bool]]:
    return [(int(text.rstrip("+")), not text.endswith("+")) for arm in arms for text in FREIREICH[arm].split()]


def _chosen(times: tuple[int, ...], *arms: str) -> list[dict[str, Any]]:
    """Lines at chosen times, with what happened since the line before."""
    people = _people(*(arms or tuple(FREIREICH)))
    lines = []
    for before, at in zip((-1, *times), times, strict=False):
        events = sum(before < time <= at and dies for time, dies in people)
        left = sum(before < time <= at and not dies for time, dies in people)
        lines.append({"time": at, "risk": sum(time >= at for time, _ in people), "events": events, "left": left})
    return lines


def test_events_at_chosen_times_happened_since_the_time_before(tmp_path: Path) -> None:
    names = {"time": "time", "n.risk": "risk", "n.event": "events", "n.censor": "left"}
    release: Any = tacit.read_release(write(tmp_path / "km.csv", names, _chosen((0, 6, 12, 24))), sa="none")
    assert {"time": "(6, 12]", "status": "event"} in [release.cell(index) for index in range(len(release))]
    assert "The events of a line are taken to have happened since the line before." in release.header.assumed


def test_hidden_events_follow_from_the_printed_survival(tmp_path: Path) -> None:
    lines = [line for line in life_table("6-MP") if line["events"]]
    path = write(tmp_path / "km.csv", {"time": "time", "n.risk": "risk", "n.event": "events", "survival": "share"}, lines)
    text = path.read_text().splitlines()
    cut = [text[0], *(",".join([*line.split(",")[:2], "", line.split(",")[3]]) for line in text[1:])]
    path.write_text("\n".join(cut) + "\n")
    release: Any = tacit.read_release(path, n=21, sa="none")
    bounds = {
        release.cell(index)["time"]: release.count(index) for index in range(len(release)) if "status" in release.cell(index)
    }
    shown = {time: (bound.lo, bound.hi) for time, bound in bounds.items() if release.text}
    assert {time: ends for time, ends in shown.items() if ends[1] < 21}["(6, 7]"] == (1, 1)
    told = statements(release, 5)
    assert "1 person has status=event and time=(6, 7]." in told
    assert "3 people have status=event and time=[0, 6]." in told


def test_survival_and_the_number_at_the_start_tell_of_few_people(tmp_path: Path) -> None:
    path = write(
        tmp_path / "km.csv", {"timeline": "time", "KM_estimate": "share"}, [{"time": 0, "share": "1.000"}, *life_table("6-MP")]
    )
    told = statements(tacit.read_release(path, n=21, sa="none"), 5)
    assert "1 to 3 people have status=event and timeline=(0, 6]." in told
    with pytest.raises(InputError):
        tacit.read_release(write(tmp_path / "x.csv", {"a": "time", "b": "share"}, life_table("6-MP")), form="survival")


@pytest.mark.parametrize("arm", FREIREICH)
def test_programs_print_the_same_table_in_many_ways(tmp_path: Path, arm: str) -> None:
    lines = life_table(arm)
    start = {"arm": arm, "time": 0, "risk": 21, "events": 0, "left": 0, "share": "1.000"}
    gone = [line | {"removed": line["events"] + line["left"], "entered": 0} for line in [start, *lines]]
    gone[0]["entered"] = 21
    lifelines = {
        "event_at": "time",
        "removed": "removed",
        "observed": "events",
        "censored": "left",
        "entrance": "entered",
        "at_risk": "risk",
    }
    files = {
        "lifelines": (lifelines | {"KM_estimate": "share"}, gone),
        "R": (R, lines),
        "events": (
            {"time": "time", "n.risk": "risk", "n.event": "events", "survival": "share"},
            [line for line in lines if line["events"]],
        ),
        "statsmodels": (
            {"Time": "time", "Surv prob": "share", "num at risk": "risk", "num events": "events"},
            [one for one in lines if one["events"]],
        ),
    }
    for name, (names, own) in files.items():
        release: Any = tacit.read_release(write(tmp_path / f"{name}.csv", names, own), sa="none")
        statements(release, 5)
        findings = tacit.audit(release, k=5).findings
        for line in lines:
            if 0 < line["events"] < 5:
                assert is_told(findings, line["events"], line["time"]), (name, line)


def test_a_line_for_each_person_as_sas_prints_it(tmp_path: Path) -> None:
    text = "time,Survival,Failure,Failed,Left\n0,1,0,0,5\n6,.,.,1,4\n6,0.6,0.4,2,3\n6,.,.,2,2\n7,0.3,0.7,3,1\n9,.,.,3,0\n"
    path = tmp_path / "sas.csv"
    path.write_text(text)
    told = statements(tacit.read_release(path, sa="none"), 3)
    assert "1 person has status=censored and time=(0, 6]." in told
    assert "2 people have status=event and time=(0, 6]." in told
    assert "1 person has time=(7, 9]." in told


def test_frames_of_lifelines_are_read_with_their_index() -> None:
    frame = pd.DataFrame(
        {"removed": [0, 2, 3], "observed": [0, 1, 1], "censored": [0, 1, 2], "entrance": [5, 0, 0], "at_risk": [5, 5, 3]},
        index=pd.Index([0.0, 6.0, 7.0], name="event_at"),
    )
    told = statements(tacit.read_release(frame, sa="none"), 3)
    assert "1 person has event_at=6 and status=event." in told


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time,n.risk,n.event,survival\n0,21,0,1.000\n7,21,3,0.990\n", "line 3: the survival does not fit"),
        ("time,n.risk,n.event\n6,10,3\n7,12,1\n", "line 3: more people are at risk"),
        ("time,n.risk,n.event\n7,10,3\n6,5,1\n", "line 3: the times do not ascend"),
        ("time,n.risk,n.event\n7,10,3\n7,5,1\n", "line 3: the time stands twice"),
        ("event_at,entrance,at_risk,observed\n0,5,5,0\n3,2,6,1\n", "line 3: people enter"),
        ("time,n.risk,n.event\nsoon,10,3\n", "line 2, column 'time': the time is not a number"),
        ("time,n.risk,survival\n1,10,2\n", "column 'survival': the survival is not a share"),
        ("time,n.risk,n.event,events\n1,10,2,2\n", "may both be the events"),
    ],
)
def test_tables_that_cannot_be_true_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "km.csv"
    path.write_text(text)
    with pytest.raises((InputError, Contradiction)) as refused:
        tacit.read_release(path, sa="none")
    assert message in str(refused.value)


def test_the_caller_says_if_every_event_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "km.csv"
    path.write_text("time,n.risk,n.event\n10,900,200\n20,500,100\n30,300,60\n")
    assert tacit.audit(tacit.read_release(path, sa="none"), k=5).verdict == "incomplete"
    assert tacit.audit(tacit.read_release(path, sa="none", complete=True), k=5).verdict == "clean"
    assert tacit.audit(tacit.read_release(path, sa="none", complete=False), k=5).verdict == "clean"
    path.write_text("time,n.risk,n.event\n10,900,200\n20,697,100\n30,300,60\n")
    told = statements(tacit.read_release(path, sa="none", complete=True), 5)
    assert told == ["3 people have status=censored and time=[0, 20)."]


_LIFE = """event_at,removed,observed,censored,at_risk
"(-0.001, 100.0]",32,31,1,228
"(100.0, 200.0]",52,41,11,196
"(200.0, 300.0]",53,{},{},144
"over 300",91,68,23,91
"""


def test_a_life_table_has_those_at_risk_when_an_interval_begins(tmp_path: Path) -> None:
    """The first intervals of 228 people with lung cancer, as ``survival_table_from_events`` of lifelines collapses them."""
    path = tmp_path / "life.csv"
    path.write_text(_LIFE.format(29, 24))
    release: Any = tacit.read_release(path, sa="none")
    assert release.n == 228
    assert release.header.unread == ()
    assert statements(release, 5) == ["1 person has event_at=[0, 100] and status=censored."]
    path.write_text(_LIFE.format(51, ""))
    assert "2 people have event_at=(200, 300] and status=censored." in statements(tacit.read_release(path, sa="none"), 5)
    path.write_text(_LIFE.format(29, 24).replace("over 300", "(150, 300]"))
    with pytest.raises((InputError, Contradiction)):
        tacit.audit(tacit.read_release(path, sa="none"), k=5)


_YEARS = "time,n.risk,n.event,n.censor\n0,420,{},{}\n6,330,80,10\n12,180,148,{}\n24,50,83,47\n"


@pytest.mark.parametrize(
    ("zero", "told"),
    [
        (("", ""), "2 to 4 people have status=censored and time=(6, 12]."),
        (("<5", "0"), "2 to 4 people have status=censored and time=(6, 12]."),
        (("1-4", ""), "1 to 4 people have status=event and time=0."),  # somebody had an event at once
    ],
)
def test_hidden_numbers_at_time_zero_stand_for_nobody(tmp_path: Path, zero: tuple[str, str], told: str) -> None:
    """All 420 people are at risk at first: 90 leave by time 6, and 150 of the 330 who are left by time 12."""
    path = tmp_path / "km.csv"
    path.write_text(_YEARS.format(*zero, "<5"))
    release: Any = tacit.read_release(path, sa="none")
    assert told in statements(release, 5)
    assert any("at time 0" in one for one in release.header.assumed) == (zero[0] != "1-4")
    printed = tacit.read_release(path, sa="none", zeros_shown=True, hidden_below=5)
    assert "1 to 4 people have status=event and time=0." in statements(printed, 5)


def test_printed_zeros_at_time_zero_need_no_assumption(tmp_path: Path) -> None:
    path = tmp_path / "km.csv"
    path.write_text(_YEARS.format(0, 0, 2))
    release: Any = tacit.read_release(path, sa="none")
    assert not any("at time 0" in one for one in release.header.assumed)
    assert all(release.cell(index)["time"] != "0" for index in range(len(release)))
    path.write_text(_YEARS.format(3, 0, 2))
    assert "3 people have time=0." in statements(tacit.read_release(path, sa="none"), 5)


def test_survival_below_one_at_time_zero_shows_events(tmp_path: Path) -> None:
    path = tmp_path / "km.csv"
    path.write_text("time,n.risk,n.event,survival\n0,40,,0.950\n5,30,12,0.570\n")
    told = statements(tacit.read_release(path, sa="none", complete=True), 5)
    assert "2 people have status=event and time=0." in told


def test_zeros_at_time_zero_protect_nobody_in_a_repair(tmp_path: Path) -> None:
    path = tmp_path / "km.csv"
    path.write_text(_YEARS.format(0, 0, 2))
    release: Any = tacit.read_release(path, sa="none")
    done: Any = tacit.repair(release, method="suppress", k=5)
    assert done.ok
    assert done.facts["optimal"]
    hidden = [done.release.cell(place) for place in range(len(done.release)) if done.release.is_hidden[place]]
    assert len(hidden) == 2
    assert all(cell["status"] == "censored" for cell in hidden)


def test_a_repaired_table_is_clean_and_reads_as_a_table(tmp_path: Path) -> None:
    path = write(tmp_path / "km.csv", {"arm": "arm", **R}, life_table("6-MP") + life_table("placebo"))
    out = tmp_path / "safe.csv"
    done = run("repair", path, "--method", "suppress", "--sa", "none", "--k", 3, "-o", out)
    assert done.exit_code == 0, done.output
    again: Any = tacit.read_release(out)
    assert tacit.audit(again, k=3).verdict == "clean"
    assert not set(out.read_text().partition("\n")[0].split(",")) & {"survival"}


@pytest.mark.parametrize("every_event", [True, False])
def test_bounds_of_events_hold_of_every_history(every_event: bool) -> None:
    random = Random(7)
    for _ in range(150):
        size = random.randint(2, 3)
        digits = random.randint(1, 3)
        n = random.randint(2, 8)
        histories = _histories(n, size, every_event=every_event)
        truth = random.choice(histories)
        told = [_printed(share, digits) for _, _, share in truth]
        shows_risk = random.random() < 0.5
        risk = [(line[0], line[0]) if shows_risk else (0, n) for line in truth]
        same = [
            one
            for one in histories
            if [_printed(share, digits) for _, _, share in one] == told
            and (not shows_risk or [a for a, *_ in one] == [a for a, *_ in truth])
        ]
        found = bound_events(
            [Printed.around(value, Fraction(1, 10**digits), "nearest") for value in told], risk, n, every_event=every_event
        )
        for at, bound in enumerate(found):
            counts = [one[at][1] for one in same]
            assert bound is not None
            assert bound[0] <= min(counts)
            assert max(counts) <= bound[1]


@cache
def _printed(share: Fraction, digits: int) -> Fraction:
    return Fraction(round(share * 10**digits), 10**digits)


@cache
def _histories(n: int, size: int, *, every_event: bool) -> list[list[tuple[int, int, Fraction]]]:
    """Every course of people at risk, events since the line before and survival, with at most one event between two lines."""
    found = []
    most = (1, 2, n, 1)  # events since the line before, people who left, events now, events after
    steps = list(product(range(n + 1), repeat=2) if every_event else product(*(range(end + 1) for end in most)))
    courses: list[tuple[list[tuple[int, int, Fraction]], int, Fraction]] = [([], n, Fraction(1))]
    for _ in range(size):
        longer = []
        for lines, people, share in courses:
            for step in steps:
                before, left, now, _ = (0, step[0], step[1], 0) if every_event else step
                if left > 2 or before + left + now > people or (before and people == 0):
                    continue
                own = share * (1 - Fraction(before, people)) if before else share
                risk = people - before - left
                if now and risk == 0:
                    continue
                own *= (1 - Fraction(now, risk)) if now else 1
                longer.append(([*lines, (risk, before + now, own)], risk - now, own))
        courses = longer[:: max(1, len(longer) // 1_500)]
    for lines, *_ in courses:
        found.append(lines)
    return found
