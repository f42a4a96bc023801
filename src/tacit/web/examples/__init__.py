"""Three projects to start from, with files that are part of the package."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files

from tacit.model.errors import OptionError
from tacit.web import texts
from tacit.web.projects import File, Project, Workspace


@dataclass(frozen=True)
class Example:
    """Files of an example with their roles, and settings."""

    roles: Mapping[str, str]
    settings: Mapping[str, str] = field(default_factory=dict)


EXAMPLES: Mapping[str, Example] = {
    "itemsets": Example({"clinic.csv": "release", "clinic.csv.json": "unused"}),
    "rules": Example({"rules.csv": "release", "rules.csv.json": "unused", "patients.csv": "data"}),
    "years": Example(
        {"smokers-2024.csv": "earlier", "smokers-2025.csv": "release"},
        {"people": "left:1,joined:0", "sa": "none"},
    ),
}


def create(workspace: Workspace, name: str) -> Project:
    """Return a new project with the files of an example."""
    example = EXAMPLES.get(name)
    if example is None:
        raise OptionError(texts.NO_SUCH_CHOICE, where="example", remedy=texts.CHOOSE)
    project = workspace.create(texts.EXAMPLES[name][2])
    try:
        for file, role in example.roles.items():
            content = files("tacit.web").joinpath("examples", name, file).read_bytes()
            (workspace.files(project.id) / file).write_bytes(content)
            project = project.with_file(File(file, role, hashlib.sha256(content).hexdigest()))
        project = replace(project, settings=dict(example.settings))
        workspace.save(project)
    except Exception:
        workspace.remove(project)
        raise
    return project
