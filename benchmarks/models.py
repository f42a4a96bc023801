"""How many people forests rebuild: of a look-alike of COMPAS, and of Adult where a folder has it.

``python -m benchmarks.models`` prints the section. The setting is that of Ferry et al., Trained Random Forests Completely Reveal your Dataset
(ICML 2024): 100 people, trees that were all trained on everybody. COMPAS itself is not part of this package: the first 100 people of the
authors' file are used where the folder has it as ``compas.csv``. The look-alike has 12 columns of 0 and 1 and a class, with the shares of
COMPAS and one hidden cause behind them.
"""

from __future__ import annotations

import csv
import gzip
import os
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import tacit
from tacit.joint.lower import JointCase, lower
from tacit.joint.rebuilding import rebuild
from tacit.model.policy import Limits
from tacit.reports.document import format_percent
from tacit.verbs.data import rows_of

N = 100
SECONDS = 60.0
FOLDER = os.environ.get("TACIT_BENCH_DATA")  #: A folder with ``adult.csv.gz`` and ``compas.csv``, if there is one.
FORESTS: tuple[tuple[int, int | None], ...] = ((1, None), (5, 4), (10, 5), (30, 5), (100, 5), (10, None), (30, None), (100, None))
_ADULT = ("workclass", "education", "marital-status", "race", "sex", "salary")


def lookalike(n: int = N, seed: int = 0) -> pd.DataFrame:
    """Return people like those of COMPAS, with columns of yes and no; the last one is the class."""
    random = np.random.default_rng(seed)
    cause = random.normal(size=n)
    age = random.choice(3, n, p=[0.22, 0.57, 0.21])
    race = random.choice(4, n, p=[0.51, 0.34, 0.09, 0.06])
    female = random.random(n) < 0.19
    priors = random.poisson(1.6 * np.exp(0.9 * cause + 0.5 * (race == 0) - 0.8 * (age == 0) + 0.2 * (age == 2) - 0.4 * female))

    def drawn(logit: np.ndarray) -> np.ndarray:
        flags: np.ndarray = random.random(n) < 1 / (1 + np.exp(-logit))
        return flags

    columns = {
        "female": female,
        "young": age == 0,
        "old": age == 2,
        "african-american": race == 0,
        "caucasian": race == 1,
        "hispanic": race == 2,
        "no-priors": priors == 0,
        "priors-over-3": priors > 3,
        "priors-over-8": priors > 8,
        "juvenile-felony": random.random(n) < 0.04 * np.exp(0.8 * cause),
        "juvenile-misdemeanor": random.random(n) < 0.06 * np.exp(0.8 * cause),
        "felony": drawn(0.6 + 0.4 * cause),
        "recidivism": drawn(-0.4 + 0.9 * cause + 0.7 * (age == 0) - 0.7 * (age == 2) + 0.12 * np.minimum(priors, 8)),
    }
    return pd.DataFrame({name: np.where(flags, "yes", "no") for name, flags in columns.items()})


def people() -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the data to train on; the last column is the class."""
    yield "COMPAS look-alike", lookalike()
    if FOLDER and (file := Path(FOLDER) / "compas.csv").exists():
        flags = pd.read_csv(file, nrows=N) == 1
        flags.columns = [name.replace(":", " ").replace("=", "") for name in flags.columns]
        yield "COMPAS", flags.replace({True: "yes", False: "no"})
    if FOLDER and (file := Path(FOLDER) / "adult.csv.gz").exists():
        with gzip.open(file, "rt", encoding="utf-8", newline="") as stream:
            rows = [row for row, _ in zip(csv.DictReader(stream), range(N), strict=False)]
        yield "Adult", pd.DataFrame(rows)[list(_ADULT)]


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of the solvers that it started, where the system tells."""
    spent = time.process_time()
    tick = os.sysconf("SC_CLK_TCK")
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            fields = file.read_text(encoding="utf-8").rpartition(")")[2].split()
            spent += sum(map(int, fields[11:15])) / tick if int(fields[1]) == os.getpid() else 0.0
    return spent


def row(name: str, frame: pd.DataFrame, trees: int, depth: int | None) -> str:
    """Train a forest, rebuild people from it, and return a row of the table."""
    *columns, target = frame.columns
    encoder = OneHotEncoder(drop="if_binary")
    forest = RandomForestClassifier(trees, max_depth=depth, bootstrap=False, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make_pipeline(encoder, forest).fit(frame[columns], frame[target])
    releases = tacit.read_forest(model, sa=target)
    case = JointCase.of(releases, tacit.Same(), data=rows_of(tacit.read_table(frame)))
    start = cpu_seconds()
    found, told, measures = rebuild(case, lower(releases, tacit.Same()), Limits.within(SECONDS))
    spent = cpu_seconds() - start
    number = f"**{told.people}**" if not told.undecided else f"**{told.people}** (at most {told.most})"
    errors = [measures.get(which) for which in ("reconstruction_error", "reconstruction_error_baseline")]
    shares = " | ".join("" if error is None else format_percent(error) for error in errors)
    lines = sum(map(len, releases))
    guessed = f"{measures.get('people_rebuilt_baseline')} | {measures.get('people_guessed')}"
    which = f"{trees} | {'any' if depth is None else depth} | {lines:,} | {len(found.kinds):,}"
    return f"| {name} | {which} | {number} | {told.but_one} | {guessed} | {shares} | {spent:.1f} s |"


def run() -> str:
    """Measure and write the section."""
    lines = [
        "## Rebuilding people from forests",
        "",
        f"{N} people, forests without bootstrap. *Rebuilt*: people proved to have certain values in every column, by certificates",
        "that `tacit verify` re-checks; *but one*: in all columns or all but one. *Guess*: the most probable people by the margins",
        "alone, how many of the rebuilt and of all people it names. *Error*: share of values that differ from the true ones, people",
        "matched at the least cost, in a probable population that fits and in the guess. The limit is",
        f"{SECONDS:.0f} s each; CPU seconds include the solvers. The look-alike of COMPAS has 12 columns of yes and no and a class, Adult",
        "5 columns and the class. The mark is the result of Ferry et al. (ICML 2024) on 100 people of COMPAS: forests without bootstrap let",
        "all training data be reconstructed, a population that fits being found by constraint programming. Here such people are proved.",
        "COMPAS itself (14 columns and the class, the first 100 people of the authors' file `compas.csv`) is measured where",
        "`TACIT_BENCH_DATA` has it.",
        "",
        "| data | trees | depth | lines | kinds left | rebuilt | but one | guess: of these | of all | error | of the guess | CPU |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, frame in people():
        for trees, depth in FORESTS:
            lines.append(row(name, frame, trees, depth))
            name = ""
    return "\n".join(lines)


if __name__ == "__main__":
    print(run())
