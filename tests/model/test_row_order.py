"""Orders of rows by whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.model.table import stable_order


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint64])
@given(data=st.data())
def test_keys_are_sorted_as_comparing_does(dtype: Any, data: st.DataObject) -> None:
    most = data.draw(st.sampled_from([1, 5, 1 << 16, (1 << 16) + 1, 1 << 20, 1 << 31, int(np.iinfo(dtype).max) + 1]))
    few = [0, most - 1, *data.draw(st.lists(st.integers(0, most - 1), max_size=4))]
    keys = np.array(data.draw(st.lists(st.sampled_from(few), max_size=30)), dtype)
    assert stable_order(keys, most).tolist() == np.argsort(keys, kind="stable").tolist()
