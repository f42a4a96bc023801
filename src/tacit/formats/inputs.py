"""Which files an audit read besides the release, each with its SHA-256."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from tacit.formats.files import source_of
from tacit.model.source import Source


def inputs_of(**given: Any) -> tuple[dict[str, str], ...]:
    """The files behind what a caller gives, by the name of the option: paths, and whatever was read from one.

    >>> inputs_of(data=None, known=[["a", "b"]])
    ()
    """
    return tuple(
        {"role": role, "file": source.name, "sha256": source.sha256}
        for role, value in given.items()
        for source in _sources(value)
    )


def _sources(value: Any) -> Iterator[Source]:
    if isinstance(value, (list, tuple)):
        for one in value:
            if isinstance(one, (str, os.PathLike)) or hasattr(one, "source"):
                yield from _sources(one)
    elif isinstance(value, (str, os.PathLike)):
        if os.path.isfile(value):
            yield source_of(value)
    elif isinstance(source := getattr(value, "source", None), Source):
        yield source
