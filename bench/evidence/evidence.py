"""Pages of docs/evidence from their data: shared by the renderer and the scripts that measure.

A page NAME has a template `pages/NAME.txt`, a description `data/NAME.toml` and tables `data/NAME/*.csv`. The description has

    title                what the page is called
    shows, remake, time  its row in the index: content, command, cost of that command
    [[source]]           a measurement: what, date, version, command, machine, and the commit of the sources, which the page omits
    schemes              columns that list the schemes, as "TABLE:COLUMN"; a row may have parameters, `NAME:...`
    names                schemes that no table lists
    [absent]             a scheme of the registry that was not measured, and the reason
    [text]               findings that a person wrote from the measurement
    [numbers]            single measured numbers

A template names them as `{{header}}`, `{{table TABLE}}`, `{{text KEY}}` and `{{number KEY}}`; `{{rows TABLE}}` is the number of rows.
"""

import csv
import datetime
import io
import json
import pathlib
import re
import subprocess
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DATA, TEMPLATES, PAGES = HERE / "data", HERE / "pages", ROOT / "docs" / "evidence"
# Pages that other commands write, with the file that describes them here.
OTHERS = ["costs", "leap-front", "leap-log"]


def names():
    """Returns the pages that the renderer writes, in alphabetical order."""
    return sorted(file.stem for file in TEMPLATES.glob("*.txt") if file.stem != "README")


def describe(name):
    """Returns the description of a page."""
    with open(DATA / f"{name}.toml", "rb") as file:
        return tomllib.load(file)


def table(name, which):
    """Returns the rows of a table, the heads first."""
    if (name, which) == ("papers", "claims"):
        return claims()
    with open(DATA / name / f"{which}.csv", encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def claims():
    """Returns the number of claims of each paper, from golden/papers. Own claims are counted apart."""
    statuses = {"holds": "hold", "does_not_hold": "do not hold", "unsettled": "unsettled", "not_testable": "not testable"}
    rows = [["paper", "claims", *statuses.values(), "own", "of them hold"]]
    for file in sorted((ROOT / "golden" / "papers").glob("*.json")):
        if file.stem == "mutants":
            continue
        of = json.loads(file.read_text(encoding="utf-8"))
        papers = [claim["status"] for claim in of if not claim.get("own")]
        own = [claim["status"] for claim in of if claim.get("own")]
        counts = [len(papers), *map(papers.count, statuses), len(own), own.count("holds")]
        rows.append([file.stem, *map(str, counts)])
    return rows


def write_table(name, which, rows):
    """Writes the rows of a table, the heads first."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    (DATA / name).mkdir(parents=True, exist_ok=True)
    (DATA / name / f"{which}.csv").write_text(text.getvalue(), encoding="utf-8")


def measured(name, what, program=None, **values):
    """Sets date, commit and other values of a measurement in a page's description, and removes measurements of its parts."""
    file = DATA / f"{name}.toml"
    today = datetime.date.today()
    values = {"date": f"{today.day} {today:%B %Y}", "commit": commit(), **values}
    if program:
        values["version"] = said([program, "--version"]).split()[-1]
    parts = re.split(r"(?m)^(?=\[\[source\]\])", file.read_text(encoding="utf-8"))
    parts = [part for part in parts if f'\nwhat = "{what} of ' not in part]
    for at, part in enumerate(parts):
        if f'\nwhat = "{what}"\n' in part:
            for key, value in values.items():
                line = f'{key} = "{value}"'
                part, count = re.subn(rf'(?m)^{key} = ".*"$', lambda _: line, part, count=1)
                if not count:
                    part = part.replace(f'\nwhat = "{what}"\n', f'\nwhat = "{what}"\n{line}\n')
            parts[at] = part
            file.write_text("".join(parts), encoding="utf-8")
            return
    raise SystemExit(f"{file} has no measurement `{what}`")


def set_list(name, key, values):
    """Sets a list of texts in a page's description."""
    file = DATA / f"{name}.toml"
    text, count = re.subn(rf"(?ms)^{key} = \[.*?\]$", lambda _: f"{key} = {json.dumps(values)}", file.read_text(encoding="utf-8"), count=1)
    if not count:
        raise SystemExit(f"{file} has no `{key}`")
    file.write_text(text, encoding="utf-8")


def said(command):
    """Returns the standard output of a command."""
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout


def commit():
    """Returns the short hash of the commit of the sources, or `unknown` outside a clone."""
    try:
        return said(["git", "rev-parse", "--short=8", "HEAD"]).strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def schemes(name, description):
    """Returns the schemes of a page, in the order of its tables, without parameters."""
    found = list(description.get("names", []))
    for column in description.get("schemes", []):
        which, head = column.split(":")
        heads, *rows = table(name, which)
        at = heads.index(head)
        found += [re.split(r"[:/]", row[at].strip("`"))[0] for row in rows]
    return list(dict.fromkeys(found))


def header(name, description):
    """Returns title, measurements and schemes of a page."""
    lines = [f"# {description['title']}", "", "`make evidence` writes this page from `bench/evidence`.", ""]
    rows = [["measured", "on", "version", "by", "machine"]]
    for source in description["source"]:
        command = source["command"]
        command = command if "`" in command else f"`{command}`"
        rows.append([source["what"], source["date"], source.get("version", "–"), command, source.get("machine", "–")])
    lines.append(markdown(rows))
    listed = schemes(name, description)
    if listed:
        lines.append("**Schemes:** " + ", ".join(f"`{scheme}`" for scheme in listed) + ".")
    if description.get("absent"):
        reasons = "; ".join(f"`{scheme}` ({reason})" for scheme, reason in description["absent"].items())
        lines += ["", f"**Absent:** {reasons}."]
    return wrapped("\n".join(lines))


def wrapped(text, width=140):
    """Wraps the long lines of a text that are no row of a table."""
    lines = []
    for line in text.split("\n"):
        if len(line) <= width or line.startswith("|"):
            lines.append(line)
            continue
        rest = ""
        for word in line.split(" "):
            if rest and len(rest) + 1 + len(word) > width:
                lines.append(rest)
                rest = word
            else:
                rest = f"{rest} {word}" if rest else word
        lines.append(rest)
    return "\n".join(lines)


def markdown(rows):
    """Returns rows as a table; a column of numbers is aligned to the right."""
    number = re.compile(r"[-+]?[0-9][0-9.,]*( [%×])?|[-–]?")
    columns = range(len(rows[0]))
    is_number = [len(rows) > 1 and all(number.fullmatch(row[at]) for row in rows[1:]) for at in columns]
    rule = "|" + "|".join("---:" if right else "---" for right in is_number) + "|"
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], rule, *lines[1:]]).replace("|  |", "| |") + "\n"


def rendered(name):
    """Returns the text of a page."""
    description = describe(name)

    def part(found):
        kind, _, which = found[1].partition(" ")
        match kind:
            case "header":
                return header(name, description)
            case "table":
                return markdown(table(name, which)).rstrip("\n")
            case "rows":
                return str(len(table(name, which)) - 1)
            case "text":
                return description["text"][which].strip("\n")
            case "number":
                return str(description["numbers"][which])
            case _:
                raise SystemExit(f"pages/{name}.txt: {found[0]} is unknown")

    return re.sub(r"\{\{([^}]+)\}\}", part, (TEMPLATES / f"{name}.txt").read_text(encoding="utf-8"))


def index():
    """Returns the index of the pages."""
    rows = [["page", "shows", "remade by", "which takes"]]
    for name in sorted([*names(), *OTHERS]):
        described = describe(name)
        rows.append([f"[{name}]({name}.md)", described["shows"], described["remake"], described["time"]])
    return (TEMPLATES / "README.txt").read_text(encoding="utf-8").replace("{{table pages}}", markdown(rows).rstrip("\n"))
