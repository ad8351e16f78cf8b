"""Writes firstflight/_keys.py from the tables of keys, schemes and paths: what editors complete and type checkers check.

    python python/make_keys.py > python/firstflight/_keys.py

A test compares the file with the tables.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

HEAD = '''"""The keys of a path, and the names of schemes, laws and paths. Made by python/make_keys.py; a test compares them."""

from __future__ import annotations

import os
from typing import Literal, TypedDict

'''

#: The type of a key's value, by its kind.
TYPES = {
    "rate": "str | float",
    "time": "str | float",
    "size": "str | float",
    "packets": "str | int",
    "share": "str | float",
    "count": "str | int",
    "per-second": "str | float",
    "queue": "str | float",
    "time-or-count": "str | float",
    "flag": "bool",
    "text": "str | os.PathLike[str]",
}


def native() -> Any:
    """Return the extension module of the installed package, or of this folder. The package itself needs the types that are being made."""
    for folder in [*map(Path, sys.path[1:]), Path(__file__).parent]:
        file = folder / "firstflight" / "_native.abi3.so"
        spec = importlib.util.spec_from_file_location("firstflight._native", file)
        if file.is_file() and spec is not None and spec.loader is not None:
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    raise SystemExit("the extension module is not built")


def literal(name: str, meaning: str, values: list[str]) -> str:
    """Return the declaration of a type with these words."""
    words = "".join(f'    "{value}",\n' for value in values)
    return f"#: {meaning}\n{name} = Literal[\n{words}]\n\n"


def value_type(key: dict[str, Any]) -> str:
    """Return the type of a key's value."""
    if key["name"] == "path":
        return "Preset | str"
    if key["name"] == "avoidance":
        return "Law | str"
    if key["kind"] == "word":
        return f"Literal[{', '.join(repr(word) for word in key['words'])}] | str".replace("'", '"')
    one = TYPES[key["kind"]]
    return f"{one} | list[str] | list[str | float]" if key["repeats"] else one


def main() -> None:
    """Print the module."""
    module = native()

    def listed(*words: str) -> list[dict[str, Any]]:
        answer = module.run(["firstflight", *words, "--json"])
        return [json.loads(line) for line in answer.printed.splitlines()]

    entries = listed("schemes")
    of_kind = {kind: [one["name"] for one in entries if one["kind"] == kind] for kind in ("scheme", "avoidance")}
    out = HEAD
    out += literal("Scheme", "The start-up schemes.", of_kind["scheme"])
    out += literal("Law", "The avoidance laws.", of_kind["avoidance"])
    out += literal("Preset", "The paths that have a name.", [one["name"] for one in listed("paths")])
    out += "\nclass Keys(TypedDict, total=False):\n"
    out += '    """The keys of a path, its endpoints and its runs. Numbers are bit/s, seconds, bytes, packets or shares."""\n'
    for key in module.keys():
        out += f"\n    {key['name'].replace('-', '_')}: {value_type(key)} | None\n"
        text = textwrap.wrap(key["help"].rstrip(".").replace("\\", "\\\\") + ".", 104, break_on_hyphens=False)
        out += textwrap.indent('"""' + "\n".join(text) + '"""\n', "    ")
    sys.stdout.write(out)


if __name__ == "__main__":
    main()
