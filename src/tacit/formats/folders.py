"""A folder that is written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from tacit.errors import OptionError
from tacit.formats.files import FilePath, shown
from tacit.model.temporaries import new_name


@contextlib.contextmanager
def replace_folder(path: FilePath) -> Iterator[Path]:
    """A new folder to fill; it takes the place of ``path``, and of what is in it, when the block ends well, and is removed when it does not."""
    target = Path(os.path.realpath(path))
    fresh = new_name(target.parent)
    # Not a name that a later run removes: between the two moves it holds what was there before.
    old = target.parent / fresh.name.replace(".tacit-", ".tacit-old-")
    try:
        fresh.mkdir()
        yield fresh
        if target.exists():
            os.replace(target, old)
        try:
            os.replace(fresh, target)
        except OSError:
            if old.exists():
                os.replace(old, target)
            raise
    except OSError as exc:
        raise OptionError(f"cannot be written ({exc.strerror})", where=shown(path), remedy="Write elsewhere") from None
    finally:
        for left in (fresh, old):
            shutil.rmtree(left, ignore_errors=True)
