"""The pages are true, complete, and need no network: generated facts, examples that run, a strict build, no outside resource."""

from __future__ import annotations

import doctest
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


def test_the_pages_build_strictly_and_load_nothing_from_outside(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    built = sorted(tmp_path.rglob("*.html"))
    assert len(built) >= len(PAGES) - 1
    for page in built:
        links = Links()
        links.feed(page.read_text(encoding="utf-8"))
        outside = [link for link in links.loads if re.match(r"(?:\w+:)?//", link)]
        assert outside == [], page.name
    for sheet in [*tmp_path.rglob("*.css"), *tmp_path.rglob("*.svg")]:
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"(?:@import|url\()\s*['\"]?(?:\w+:)?//", text), sheet.name
        assert not re.search(r"href\s*=\s*['\"](?:\w+:)?//", text), sheet.name


def test_every_public_error_measure_and_command_is_documented() -> None:
    """The parts are generated; this holds that the pages ask for them."""
    assert "<!-- table: measures -->" in (DOCS / "measures.md").read_text(encoding="utf-8")
    assert "<!-- table: commands -->" in (DOCS / "commands.md").read_text(encoding="utf-8")
    assert "<!-- table: attacks attacks/ -->" in (DOCS / "index.md").read_text(encoding="utf-8")
    assert "<!-- table: errors -->" in (DOCS / "architecture.md").read_text(encoding="utf-8")


def test_the_changelog_speaks_of_this_version() -> None:
    from tacit.model.version import __version__

    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## (?:Unreleased|{re.escape(__version__)}\b)", text, re.MULTILINE)
    assert "### Findings that change" in text
