"""The pages are true, complete, and need no network: generated facts, examples that run, a strict build, no outside resource."""

from __future__ import annotations

import doctest
import json
import re
import shlex
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from docs import generate
from tacit.cli import cli

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = generate.pages()
README = (ROOT / "README.md").read_text(encoding="utf-8")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def in_this_process(command: str, folder: Path) -> generate.Answer:
    """Run a command without a shell and a process of its own, where it needs neither: a start takes longer than most answers."""
    words = shlex.split(command)
    if words[0] != "tacit" or set(command) & set("|&;<>$*?`"):
        return generate.in_a_shell(command, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done = CliRunner(env=generate.ENVIRONMENT).invoke(cli, words[1:])
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_generated_facts_are_up_to_date(path: Path) -> None:
    """The first page is read as a user would type it; `make docs` writes all of them that way."""
    assert generate.stale(path, generate.in_a_shell if path.name == "README.md" else in_this_process) is None


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_shell_example_is_run(path: Path) -> None:
    """A console block that no one runs would go stale; it may stand only in a generated part."""
    by_hand = generate.PART.sub("", path.read_text(encoding="utf-8"))
    assert "```console" not in by_hand


@pytest.mark.parametrize("path", [p for p in PAGES if ">>>" in p.read_text(encoding="utf-8")], ids=name_of)
def test_python_examples_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```pycon\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, path.name, str(path), 0)
    report: list[str] = []
    failed, tried = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=report.append)
    assert (failed, "".join(report)) == (0, "")
    assert tried > 0


def test_examples_are_shown_in_the_two_ways() -> None:
    """Python examples are sessions, so that what they print is checked as well."""
    for path in PAGES:
        assert "```python" not in path.read_text(encoding="utf-8"), name_of(path)


def test_the_readme_is_one_screen_with_a_picture_two_commands_and_two_examples() -> None:
    assert len(README.splitlines()) <= 75
    pictures = re.findall(r"!\[.+?\]\((docs/images/[\w-]+\.svg)\)", README)
    assert len(pictures) == 1
    assert (ROOT / pictures[0]).exists()
    assert "make demo" in README
    assert "make test" in README
    assert "<!-- run" in README
    assert "```pycon" in README


def test_links_of_the_readme_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)", README):
        assert (ROOT / target).exists(), target


class Links(HTMLParser):
    """Collects what a page loads (``loads``) and what it points to (``points``)."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and (name in ("src", "srcset", "data", "poster") or (name == "href" and tag in ("link", "use", "image"))):
                self.loads.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_pages_build_strictly_and_load_nothing_from_outside(site: Path) -> None:
    built = sorted(site.rglob("*.html"))
    assert len(built) >= len(PAGES) - 1
    for page in built:
        links = Links()
        links.feed(page.read_text(encoding="utf-8"))
        outside = [link for link in links.loads if re.match(r"(?:\w+:)?//", link)]
        assert outside == [], page.name
    for sheet in [*site.rglob("*.css"), *site.rglob("*.svg")]:
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"(?:@import|url\()\s*['\"]?(?:\w+:)?//", text), sheet.name
        assert not re.search(r"href\s*=\s*['\"](?:\w+:)?//", text), sheet.name


def test_the_search_works_without_a_server(site: Path) -> None:
    """A page that was opened as a file may start no worker and fetch nothing: a script holds the index, another runs the search."""
    index = json.loads((site / "search" / "search_index.js").read_text(encoding="utf-8").removeprefix("var __index = "))
    found = {one["location"] for one in index["docs"] if "waiver" in one["text"].casefold()}
    assert "policy.html" in {place.partition("#")[0] for place in found}
    for page in (site / "index.html", site / "attacks" / "I01.html"):
        links = Links()
        links.feed(page.read_text(encoding="utf-8"))
        (shim,) = [link for link in links.loads if "iframe-worker" in link]
        assert (page.parent / shim).resolve() == (site / "assets" / "iframe-worker.js").resolve()


def test_pictures_are_used_described_and_small() -> None:
    used = {
        (path.parent / target).resolve()
        for path in PAGES
        for text, target in re.findall(r"!\[([^\]]*)\]\(([^)#\s]+)", path.read_text(encoding="utf-8"))
        if text
    }
    pictures = {path.resolve() for path in (DOCS / "images").iterdir()}
    assert used == pictures
    assert all(path.stat().st_size < 150_000 for path in pictures)
    for name in ("index.md", "reports.md"):
        text = (DOCS / name).read_text(encoding="utf-8")
        assert "images/report-light.png#only-light" in text
        assert "images/report-dark.png#only-dark" in text


def test_every_public_error_measure_and_command_is_documented() -> None:
    """The parts are generated; this holds that the pages ask for them."""
    assert "<!-- table: measures -->" in (DOCS / "measures.md").read_text(encoding="utf-8")
    assert "<!-- table: commands -->" in (DOCS / "commands.md").read_text(encoding="utf-8")
    assert "<!-- table: attacks -->" in (DOCS / "attacks" / "index.md").read_text(encoding="utf-8")
    assert "<!-- table: repairs -->" in (DOCS / "repairs" / "index.md").read_text(encoding="utf-8")
    assert "<!-- table: errors -->" in (DOCS / "architecture.md").read_text(encoding="utf-8")


def test_the_changelog_speaks_of_this_version() -> None:
    from tacit.model.version import __version__

    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## (?:Unreleased|{re.escape(__version__)}\b)", text, re.MULTILINE)
    assert "### Findings that change" in text
