"""Mining on a cluster: projected shards, each mined by the local search.

Items are numbered from the most frequent one on, and dealt out to shards. A row goes to each shard that has an item of it, cut behind the
last such item. A set is mined in the shard of its rarest item: all rows that hold it are there, with all items before that one, so its count
is exact, and each set is found once (Li, Wang, Zhang, Zhang, Chang, PFP: Parallel FP-growth for query recommendation, RecSys 2008). A set that
is closed among all rows is closed in its shard; one that is closed there only has a superset of the same count with a rarer item, from
another shard, and is removed at the end. Few rows make one shard: their search takes less time than a shuffle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tacit.files.spark import SparkBaskets, cores_of, lists_of, run_on_cluster, sets_of
from tacit.mining.database import Rows
from tacit.mining.search import Limits, Wanted, mine
from tacit.model.arrays import Flags, Ints
from tacit.model.release import Only, Sets
from tacit.model.table import Transactions

SHARDS_PER_CORE = 2  #: More would shuffle more: each row goes to every shard that has an item of it.


def project(offsets: Ints, members: Ints, shards: int) -> tuple[Ints, Ints, Ints]:
    """Return shard, row and end of each prefix of the rows that a shard needs.

    A row's items ascend; the prefix of a shard ends behind the last item that the shard has.
    """
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    shard = members % shards
    end = np.arange(1, len(members) + 1) - offsets[owner]
    key = owner * shards + shard
    # Items ascend within a row, so the last place of a key is the largest end.
    order = np.argsort(key, kind="stable")
    is_last = np.append(key[order][1:] != key[order][:-1], True)[: len(order)]
    last = order[is_last]
    return shard[last], owner[last], end[last]


def mine_shard(sets: Sets, weights: Ints, least: int, wanted: Wanted, *, shard: int, shards: int) -> tuple[Sets, Ints]:
    """Return the sets of a shard's rows whose rarest item is of the shard, with their counts."""
    width = int(sets.members.max(initial=-1)) + 1
    database, mined, _ = mine(Rows(sets, weights, width), least, wanted, Limits(threads=1))
    found = Sets(mined.offsets, database.kept[mined.members].astype(np.int32))
    rarest = np.maximum.reduceat(found.members, found.offsets[:-1]) if len(found) else np.empty(0, np.int64)
    mine_here = np.flatnonzero(rarest % shards == shard)
    return found.take(mine_here), np.asarray(mined.counts)[mine_here]


def closed_flags(sets: Sets, counts: Ints) -> Flags:
    """Mark the sets without a superset of the same count in the list."""
    from tacit.kernels.rows import find_maximal

    flags = np.ones(len(sets), np.bool_)
    for count in np.unique(counts).tolist():
        same = np.flatnonzero(counts == count)
        if len(same) < 2:
            continue
        some = sets.take(same)
        flags[same] = False
        flags[same[find_maximal(some.offsets, some.members, int(some.members.max(initial=0)) + 1)]] = True
    return flags


def cutter(read: Callable[[Any], Transactions], shards: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that cuts batches of lines into the prefixes of each shard."""

    def cut(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            merged = read(batch)
            rows = merged.rows
            weights = merged.weights
            if shards == 1:
                columns = [pyarrow.array(np.zeros(len(rows), np.int32)), lists_of(rows), pyarrow.array(weights)]
            else:
                shard, row, end = project(rows.offsets, rows.members.astype(np.int64), shards)
                ends = np.cumsum(end)
                source = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(rows.offsets[row] - (ends - end), end)
                prefixes = lists_of(Sets(np.append(0, ends), rows.members[source]))
                columns = [pyarrow.array(shard.astype(np.int32)), prefixes, pyarrow.array(weights[row])]
            yield pyarrow.RecordBatch.from_arrays(columns, names=["shard", "items", "weight"])

    return cut


def searcher(least: int, wanted: Wanted, shards: int) -> Callable[[Any], Any]:
    """Return the function that mines the rows of one shard."""

    def search(table: Any) -> Any:
        import pyarrow

        shard = int(table.column("shard")[0].as_py())
        rows = sets_of(table.column("items").combine_chunks())
        weights = np.asarray(table.column("weight").to_numpy(), np.int64)
        found, counts = mine_shard(rows, weights, least, wanted, shard=shard, shards=shards)
        return pyarrow.table({"items": lists_of(found), "people": pyarrow.array(counts, pyarrow.int64())})

    return search


def mine_baskets(baskets: SparkBaskets, least: int, only: Only, max_length: int | None = None) -> tuple[Sets, Ints]:
    """Mine all or the closed itemsets of transactions on a cluster; items are numbered as there."""
    shards = 1 if baskets.is_small else max(2, min(SHARDS_PER_CORE * cores_of(baskets), len(baskets.names)))
    search = searcher(least, Wanted(only, max_length=max_length), shards)
    sets, counts = run_on_cluster(baskets, cutter(baskets.cutter(), shards), search, shards)
    if only == "closed" and shards > 1:
        kept = np.flatnonzero(closed_flags(sets, counts))
        return sets.take(kept), counts[kept]
    return sets, counts
