"""The package as it is published: what is in it, what it says about itself, and that it runs from where pip puts it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from packaging.metadata import Metadata
from trove_classifiers import classifiers

from tacit.model.version import __version__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (made,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("wheel")), versions=["standard"])
    return Path(made)


def read_metadata(wheel: Path) -> Metadata:
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"tacit-{__version__}.dist-info/METADATA")
    return Metadata.from_email(text, validate=True)


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    source = {str(path.relative_to(ROOT / "src")) for path in tracked("src")}
    assert {name for name in names if not name.startswith(f"tacit-{__version__}.dist-info/")} == source
    for needed in (
        "py.typed",
        "reports/templates/report.html",
        "reports/templates/report.css",
        "data/adult.csv.gz",
        "data/README.md",
    ):
        assert f"tacit/{needed}" in names, needed


def tracked(folder: str) -> list[Path]:
    """All files of a folder but those that Python makes."""
    return [path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts]


def test_the_metadata_are_valid_and_complete(wheel: Path) -> None:
    found = read_metadata(wheel)
    assert (found.name, str(found.version), str(found.requires_python)) == ("tacit", __version__, ">=3.11")
    assert found.license_expression == "Apache-2.0 AND CC-BY-4.0"
    assert found.license_files == ["LICENSE", "src/tacit/data/README.md"]
    assert found.description_content_type == "text/markdown"
    assert found.description == (ROOT / "README.md").read_text(encoding="utf-8")
    assert found.author
    assert found.keywords
    assert found.summary
    assert set(found.classifiers or []) <= classifiers
    assert not any(name.startswith("License ::") for name in found.classifiers or [])  # refused beside an expression
    assert set(found.provides_extra or []) == {"delta", "dev", "excel", "iceberg", "postgres", "spark", "web"}


def test_the_python_that_runs_the_tests_is_named() -> None:
    assert f"Programming Language :: Python :: {sys.version_info.major}.{sys.version_info.minor}" in PROJECT["classifiers"]


def test_the_wheel_runs_from_where_pip_puts_it(wheel: Path, tmp_path: Path) -> None:
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--no-compile",
    ]
    subprocess.run([*pip, "--target", str(tmp_path), str(wheel)], check=True, capture_output=True)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, str(tmp_path / "bin" / "tacit"), "--version"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"tacit {__version__}\n"
    code = "import json, tacit; print(json.dumps([tacit.__file__, len(tacit.MEASURES)]))"
    done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    where, measures = json.loads(done.stdout)
    assert Path(where).is_relative_to(tmp_path)
    assert measures > 0


def test_the_source_archive_holds_what_its_tests_need(tmp_path: Path) -> None:
    (made,) = SdistBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with tarfile.open(made) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for folder in ("src", "tests", "docs", "examples", "benchmarks"):
        assert {str(path.relative_to(ROOT)) for path in tracked(folder)} <= names, folder
    assert {"pyproject.toml", "constraints.txt", "Makefile", "LICENSE", "README.md", "CITATION.cff", "Containerfile"} <= names
    assert not {name for name in names if re.match(r"site/|dist/|\.venv|tacit-demo", name)}


def test_the_citation_names_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert str(citation["version"]) == __version__
    assert " AND ".join(citation["license"]) == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]


def instructions() -> Iterator[tuple[str, str]]:
    """The lines of the container file, each with its first word."""
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        if line and not line.startswith("#"):
            word, _, rest = line.partition(" ")
            yield word, rest


def test_the_container_runs_the_program_without_root() -> None:
    last = dict(instructions())  # the last of each word counts
    assert last["USER"].split(":")[0] not in ("root", "0")
    assert json.loads(last["ENTRYPOINT"]) == ["tacit"]
    assert {rest.split()[0] for word, rest in instructions() if word == "FROM"} == {"python:3.11-slim"}
    assert not {"EXPOSE", "ADD"} & {word for word, _ in instructions()}


def test_the_container_copies_files_that_exist_and_are_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for word, rest in instructions():
        if word == "COPY" and not rest.startswith("--from"):
            *sources, _ = shlex.split(rest)
            for source in sources:
                assert (ROOT / source).exists(), source
                assert f"!{source}" in ignored, source
    installs = " ".join(rest for word, rest in instructions() if word == "RUN" and "pip install" in rest)
    assert "--constraint" in installs


def test_the_page_runs_the_container_without_a_network() -> None:
    text = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    commands = re.findall(r"^docker run .*", text, re.MULTILINE)
    assert commands
    assert all("--network none" in command for command in commands)
