#!/usr/bin/env python3
"""Writes the pages of docs/evidence from bench/evidence.

    bench/evidence/render.py [PAGE...]        writes these pages, or all and the index
    bench/evidence/render.py --check          writes nothing; exit status 1, with the names, if a page is not what its data gives
"""

import sys

import evidence


def main():
    check = "--check" in sys.argv[1:]
    chosen = [argument for argument in sys.argv[1:] if argument != "--check"]
    pages = {name: evidence.rendered(name) for name in chosen or evidence.names()}
    pages["README"] = evidence.index()
    old = []
    for name, text in pages.items():
        file = evidence.PAGES / f"{name}.md"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            old.append(name)
            if not check:
                file.write_text(text, encoding="utf-8")
    for name in old:
        print(f"docs/evidence/{name}.md " + ("is not what bench/evidence gives; `make evidence` writes it" if check else "is written"))
    return int(check and bool(old))


if __name__ == "__main__":
    sys.exit(main())
