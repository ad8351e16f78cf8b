"""The crates and the C libraries in the program: their licences as a text, and a bill of materials in CycloneDX.

Cargo lists the crates and the folders of their sources. `cargo cyclonedx` puts the folder of the checkout and a random number into its
bill, so that two folders give two bills; this one has neither.
"""

import json
import os
import re
import subprocess
import tomllib
import uuid
from datetime import datetime, timezone
from pathlib import Path

LICENCE = re.compile(r"(?i)(licen[cs]e|copying|notice|unlicense|copyright|ofl)")
RULE = "=" * 79 + "\n"
# The libraries of a static program that are no crates.
NO_CRATES = ["libelf", "libbpf", "zlib", "musl", "zig-libunwind", "zig-compiler-rt"]


class Part:
    """A crate or a C library: name, version, licence as an SPDX expression, the texts of the licence, and what it needs."""

    def __init__(self, name, version, licence, texts, kind="library"):
        self.name, self.version, self.licence, self.texts, self.kind = name, version, licence, texts, kind
        self.authors, self.checksum, self.is_own, self.is_linked, self.needs = [], None, False, True, []

    @property
    def reference(self):
        return f"{self.name}@{self.version}"


class Crates:
    """All parts of what is built of a crate, with some features of the crate and for a target."""

    def __init__(self, root, triple, features, crate="firstflight-cli"):
        self.triple = triple
        self.documents = Path(run(["rustc", "--print", "sysroot"]).strip()) / "share/doc/rust"
        select = ["--locked", "-p", crate, "--target", triple, "--prefix", "none", "-f", "{p}"]
        select += ["--features", features] if features else []
        everything = {words(line) for line in tree(root, [*select, "-e", "normal"])}
        linked = {words(line) for line in tree(root, [*select, "-e", "normal,no-proc-macro"])}
        of_all = ["--features", f"{crate}/{features}"] if features else []
        metadata = json.loads(
            run(["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", triple, *of_all], root)
        )
        checksums = {
            (package["name"], package["version"]): package.get("checksum")
            for package in tomllib.loads((root / "Cargo.lock").read_text())["package"]
        }
        packages = {(package["name"], package["version"]): package for package in metadata["packages"]}
        ids = {package["id"]: (package["name"], package["version"]) for package in metadata["packages"]}
        nodes = {ids[node["id"]]: node for node in metadata["resolve"]["nodes"]}
        self.parts = []
        for key in sorted(everything):
            package = packages[key]
            folder = Path(package["manifest_path"]).parent
            is_own = package["source"] is None
            licence = package["license"] or f"LicenseRef-{package['license_file']}"
            part = Part(*key, licence.replace("/", " OR "), {} if is_own else texts(folder))
            part.authors, part.checksum = package["authors"], checksums.get(key)
            part.is_own, part.is_linked = is_own, key in linked
            needs = {ids[below["pkg"]] for below in nodes[key]["deps"] if any(way["kind"] is None for way in below["dep_kinds"])}
            part.needs = [f"{name}@{version}" for name, version in sorted(needs & everything)]
            self.parts.append(part)
        [self.program] = [part for part in self.parts if part.name == crate]
        self.version = self.program.version
        if "libbpf-sys" in {name for name, _ in everything}:
            [folder] = [Path(package["manifest_path"]).parent for key, package in packages.items() if key[0] == "libbpf-sys"]
            self.parts += [*c_libraries(folder), *zig_libraries()]
        self.parts.append(self.standard_library())
        self.parts += embedded(root, self.parts)

    def standard_library(self):
        """Returns Rust's standard library, which for musl has the C library in it."""
        version = run(["rustc", "--version"]).split()[1]
        notes = self.documents / "COPYRIGHT-library.html"
        copyright_notes = re.sub(r"<[^>]*>", "", notes.read_text()) if notes.exists() else ""
        standard = {name: self.standard_text(name) for name in ["MIT", "Apache-2.0"]}
        return Part("rust-std", version, "MIT OR Apache-2.0", {**standard, "COPYRIGHT-library": copyright_notes})

    def standard_text(self, licence):
        """Returns the text of a licence as Rust's documentation has it, or nothing."""
        path = self.documents / f"licenses/{licence}.txt"
        if not path.exists():
            raise SystemExit(f"dist-pack: {path} is missing; the component rust-docs, or a toolchain with its licences, is needed")
        return path.read_text()


def run(command, folder=None):
    return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


def tree(root, options):
    return [line for line in run(["cargo", "tree", "-q", *options], root).splitlines() if line]


def words(line):
    """Returns name and version of a line such as `libc v0.2.191 (*)`."""
    name, version = line.split()[:2]
    return name, version.removeprefix("v")


def texts(folder):
    """Returns the licences in a crate's folder, by file."""
    found = [path for path in folder.iterdir() if LICENCE.match(path.name)]
    # Fonts have licences of their own.
    found += [path for path in folder.glob("fonts/*") if LICENCE.match(path.name)]
    files = (file for path in found for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file())
    return {file.relative_to(folder).as_posix(): read(file) for file in sorted(files) if file.suffix not in (".rs", ".toml")}


def read(path):
    return path.read_text(errors="replace")


def c_libraries(folder):
    """Returns the C libraries in the crate libbpf-sys."""
    elf = folder / "elfutils"
    number = re.search(r"AC_INIT\(\[elfutils\],\[([^\]]+)\]", read(elf / "configure.ac"))
    zlib = re.search(r'#define ZLIB_VERSION "([^"]+)"', read(folder / "zlib/zlib.h"))
    # As in `libbpf-sys-1.7.0+v1.7.0`.
    libbpf = folder.name.partition("+v")[2] or folder.name.removeprefix("libbpf-sys-")
    # The LGPL refers to the GPL of version 3, which is COPYING.
    names = ["COPYING-LGPLV3", "COPYING-GPLV2", "COPYING"]
    return [
        Part("libelf", number[1] if number else "unknown", "LGPL-3.0-or-later OR GPL-2.0-or-later",
             {name: read(elf / name) for name in names if (elf / name).exists()}),
        Part("libbpf", libbpf, "LGPL-2.1-only OR BSD-2-Clause",
             {"LICENSE.BSD-2-Clause": read(folder / "libbpf/LICENSE.BSD-2-Clause")}),
        Part("zlib", zlib[1] if zlib else "unknown", "Zlib", {"LICENSE": read(folder / "zlib/LICENSE")}),
    ]


def zig_libraries():
    """Returns the libraries that zig links to a static program: musl, LLVM's libunwind and zig's own compiler-rt."""
    here = Path(__file__).resolve().parent.parent
    zigs = list((here / "target/tools/dist").glob("lib/python*/site-packages/ziglang"))
    if len(zigs) != 1:
        raise SystemExit(f"dist-pack: there is no zig in {here}/target/tools/dist; .ci/dist-build brings it")
    [zig] = zigs
    [version] = re.findall(r"^ziglang==(\S+)", read(here / ".ci/dist.txt"), re.MULTILINE)
    number = re.search(r'VERSION "([^"]+)"', read(zig / "lib/libc/musl/src/internal/version.h"))
    return [
        Part("musl", number[1] if number else "unknown", "MIT", {"COPYRIGHT": read(zig / "lib/libc/musl/COPYRIGHT")}),
        Part("zig-libunwind", version, "Apache-2.0 WITH LLVM-exception", {"LICENSE.TXT": read(zig / "lib/libunwind/LICENSE.TXT")}),
        Part("zig-compiler-rt", version, "MIT", {"LICENSE": read(zig / "LICENSE")}),
    ]


def embedded(root, parts):
    """Returns what the program has in it that is no library: fonts, and the script of the reports."""
    plotly = root / "crates/output/report/src/html/plotly"
    [script] = plotly.glob("*.js")
    number = re.search(r"v(\d+\.\d+\.\d+)", read(script)[:1000])
    fonts = [part for part in parts if part.name == "notosans"]
    return [
        Part("plotly.js", number[1] if number else "unknown", "MIT", {"LICENSE": read(plotly / "LICENSE")}),
        *(Part("noto-sans", part.version, "OFL-1.1", {name: text for name, text in part.texts.items() if "OFL" in name}) for part in fonts),
    ]


def licences(found):
    """Returns the text with every part, its licence, and each text of a licence once."""
    chapters, order = {}, []
    for part in found.parts:
        if part.is_own:
            continue
        own = part.texts or {
            name: "\n".join(["Copyright (c) " + (", ".join(part.authors) or part.name), "", found.standard_text(name)])
            for name in re.findall(r"[A-Za-z0-9.-]+", part.licence)
            if name in ("MIT", "Apache-2.0")
        }
        if not own:
            raise SystemExit(f"dist-pack: {part.reference} has no text of its licence, {part.licence}")
        for text in own.values():
            text = "\n".join(line.rstrip() for line in text.replace("\r\n", "\n").strip("\n").split("\n")) + "\n"
            if text not in chapters:
                chapters[text] = []
                order.append(text)
            if part.reference not in chapters[text]:
                chapters[text].append(part.reference)
    out = [
        "The libraries in Firstflight, and their licences. Where a licence is a choice, the first of MIT, Apache-2.0,\n"
        "BSD-2-Clause and LGPL-3.0-or-later that is offered applies.\n\n"
    ]
    if any(part.name == "libelf" for part in found.parts):
        out.append(
            "libelf is linked statically under LGPL-3.0-or-later. Its sources are in the crate libbpf-sys, which Cargo.lock names with its\n"
            "checksum; `LIBELF_SOURCE=FOLDER make dist` in Firstflight's sources links the program with a changed libelf.\n"
            "docs/guide/install.md has the commands.\n\n"
        )
    out += [f"{part.reference:<40} {part.licence}\n" for part in found.parts if not part.is_own]
    for text in order:
        out += ["\n", RULE, "\n".join(wrapped(chapters[text])), "\n", RULE, "\n", text]
    return "".join(out)


def wrapped(names):
    """Returns names as lines of at most 79 columns."""
    lines = [""]
    for name in names:
        if len(lines[-1]) + len(name) > 77 and lines[-1]:
            lines.append("")
        lines[-1] += f"{', ' if lines[-1] else ''}{name}"
    return lines


def sbom(found, hash_of_program, epoch):
    """Returns the bill of materials in CycloneDX 1.6, as JSON."""
    program = {
        **component(found.program), "type": "application", "name": "firstflight", "bom-ref": "firstflight",
        "hashes": [{"alg": "SHA-256", "content": hash_of_program}],
    }
    others = [part for part in found.parts if part is not found.program]
    no_crates = [part.reference for part in others if part.name in NO_CRATES]
    standard = [part.reference for part in others if part.name == "rust-std"]
    dependencies = [{"ref": "firstflight", "dependsOn": found.program.needs + standard + no_crates}]
    dependencies += [{"ref": part.reference, "dependsOn": part.needs} for part in others]
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, f'firstflight {found.triple} {hash_of_program}')}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": program,
            "properties": [{"name": "firstflight:target", "value": found.triple}],
        },
        "components": [component(part) for part in others],
        "dependencies": dependencies,
    }
    return json.dumps(bill, indent=1) + "\n"


def component(part):
    made = {"type": part.kind, "bom-ref": part.reference, "name": part.name, "version": part.version}
    # A derive macro runs in the compiler.
    made["scope"] = "required" if part.is_linked else "excluded"
    if part.checksum:
        made["hashes"] = [{"alg": "SHA-256", "content": part.checksum}]
        made["purl"] = f"pkg:cargo/{part.name}@{part.version}".replace("+", "%2B")
    elif part.name in (*NO_CRATES, "rust-std"):
        made["purl"] = f"pkg:generic/{part.name}@{part.version}"
    made["licenses"] = [{"expression": part.licence}]
    return made
