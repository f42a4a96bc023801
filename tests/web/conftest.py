from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.web.serving import Served, serving

CLINIC = b'itemset,count\n"[""diabetes""]",50\n"[""diabetes"",""hypertension""]",49\n"[""hypertension""]",49\n"[""asthma""]",20\n'
HEADER = b'{"format": "tacit.itemsets/1", "n": 70, "min_support": 20, "complete": true}'


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that somebody has entered."""
    with serving(tmp_path_factory.mktemp("state")) as started:
        started.enter()
        yield started
