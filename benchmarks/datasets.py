"""Transactions to measure mining on: made here from a seed, and the FIMI files where a folder of them is given."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

Baskets = list[list[int]]

#: A folder with files of the FIMI repository (``mushroom.dat``, ``chess.dat.gz``, ...), if there is one.
FOLDER = os.environ.get("TACIT_BENCH_DATA")


@dataclass(frozen=True)
class Case:
    """A data set, and the share of people to mine it at for each question."""

    name: str
    kind: str
    make: Callable[[], Baskets]
    closed: float
    maximal: float
    everything: float

    @property
    def baskets(self) -> Baskets:
        return _made(self.name)


def games(n: int = 67_557, seed: int = 4) -> Baskets:
    """Like *connect*: positions of a game on 7 columns of 6 cells after 8 moves; 43 attributes with 3 values, most cells blank."""
    rng = np.random.default_rng(seed)
    cells = np.zeros((n, 42), np.int64)
    height = np.zeros((n, 7), np.int64)
    everyone = np.arange(n)
    middle = np.array([1, 2, 3, 4, 3, 2, 1]) / 16
    for move in range(8):
        column = rng.choice(7, n, p=middle)
        column = np.where(height[everyone, column] == 6, (column + 1) % 7, column)
        cells[everyone, 6 * column + height[everyone, column]] = 1 + move % 2
        height[everyone, column] += 1
    outcome = rng.choice(3, n, p=[0.66, 0.25, 0.09])
    table = np.column_stack((cells, outcome))
    made: Baskets = (table + 3 * np.arange(43)).tolist()
    return made


def survey(n: int = 8_000, seed: int = 5) -> Baskets:
    """Like *mushroom*: 22 questions, answered like one of 25 kinds of people, with exceptions."""
    rng = np.random.default_rng(seed)
    options = rng.integers(2, 9, 22)
    kinds = np.stack([np.minimum(rng.geometric(0.45, 22) - 1, options - 1) for _ in range(25)])
    chosen = kinds[rng.choice(25, n, p=rng.dirichlet(np.full(25, 1.5)))]
    exception = rng.random((n, 22)) < rng.beta(0.6, 6, 22)
    answers = np.where(exception, rng.integers(0, options, (n, 22)), chosen)
    made: Baskets = (answers + np.concatenate(([0], np.cumsum(options)[:-1]))).tolist()
    return made


def quest(
    n: int = 100_000, seed: int = 6, *, length: int = 10, pattern: int = 4, n_items: int = 1000, n_patterns: int = 2000
) -> Baskets:
    """Like *T10I4D100K*: baskets put together from patterns that share items and lose some, as IBM's Quest generator does."""
    rng = np.random.default_rng(seed)
    patterns: list[list[int]] = []
    for size in rng.poisson(pattern - 1, n_patterns) + 1:
        before = patterns[-1] if patterns else []
        kept = before[: min(len(before), int(size * min(1.0, rng.exponential(0.5))))]
        patterns.append(list({*kept, *rng.integers(0, n_items, size - len(kept)).tolist()}))
    weights = rng.exponential(1.0, n_patterns)
    corruption = np.clip(rng.normal(0.5, 0.1**0.5, n_patterns), 0, 1)
    order = rng.choice(n_patterns, 8 * n, p=weights / weights.sum())
    luck = rng.random(60 * n)
    baskets, used, spent = [], 0, 0
    for size in rng.poisson(length, n):
        basket: set[int] = set()
        while len(basket) < size and used < len(order):
            number = order[used]
            used += 1
            items = list(patterns[number])
            while items and luck[spent % len(luck)] < corruption[number]:
                spent += 1
                items.pop(int(luck[(spent * 7) % len(luck)] * len(items)))
            spent += 1
            if len(basket) + len(items) > size and basket and luck[spent % len(luck)] < 0.5:
                break
            basket.update(items)
        baskets.append(sorted(basket))
    return [basket for basket in baskets if basket]


def shop(n: int = 88_000, seed: int = 7, *, n_items: int = 16_000) -> Baskets:
    """Like *retail*: few items sell all the time, most hardly ever, and some together."""
    rng = np.random.default_rng(seed)
    popularity = 1 / np.arange(3, n_items + 3) ** 0.95
    bundles = [rng.choice(n_items, size, p=popularity / popularity.sum()) for size in rng.integers(2, 6, 3000)]
    sizes = np.minimum(rng.geometric(0.13, n), 75)
    bought = rng.choice(n_items, int(sizes.sum()), p=popularity / popularity.sum())
    which = rng.integers(0, len(bundles), n)
    with_bundle = rng.random(n) < 0.35
    baskets, end = [], 0
    for i, size in enumerate(sizes):
        basket = set(bought[end : end + size].tolist())
        end += size
        if with_bundle[i]:
            basket.update(bundles[which[i]].tolist())
        baskets.append(sorted(basket))
    return baskets


def fimi(name: str) -> Baskets:
    """A file of the FIMI repository."""
    assert FOLDER is not None
    packed, plain = Path(FOLDER) / f"{name}.dat.gz", Path(FOLDER) / f"{name}.dat"
    text = gzip.decompress(packed.read_bytes()).decode() if packed.exists() else plain.read_text()
    return [sorted(set(map(int, line.split()))) for line in text.splitlines() if line.strip()]


def _has(name: str) -> bool:
    return FOLDER is not None and any((Path(FOLDER) / f"{name}.dat{ending}").exists() for ending in ("", ".gz"))


MADE = (
    Case("games (connect-like)", "dense", games, 0.5, 0.2, 0.93),
    Case("survey (mushroom-like)", "dense", survey, 0.07, 0.05, 0.07),
    Case("quest (T10I4D100K-like)", "sparse", quest, 0.001, 0.001, 0.001),
    Case("shop (retail-like)", "sparse", shop, 0.0005, 0.0005, 0.0005),
)

FROM_FILES = (
    Case("mushroom", "dense", lambda: fimi("mushroom"), 0.01, 0.01, 0.05),
    Case("chess", "dense", lambda: fimi("chess"), 0.5, 0.5, 0.5),
    Case("retail", "sparse", lambda: fimi("retail"), 0.001, 0.001, 0.001),
)


def cases() -> list[Case]:
    """The data sets at hand."""
    return [*MADE, *(case for case in FROM_FILES if _has(case.name))]


@cache
def _made(name: str) -> Baskets:
    return next(case.make for case in (*MADE, *FROM_FILES) if case.name == name)()
