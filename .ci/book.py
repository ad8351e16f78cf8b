"""Prepares the pages for mdBook, and checks the book that it built.

    book.py supports RENDERER   mdBook's question whether this preprocessor is for RENDERER
    book.py                     mdBook's preprocessor: [context, book] on standard input, the book on standard output
    book.py check BOOK          every link inside the book leads to a file and to an anchor
    book.py look BOOK           search finds pages, and no page is wider than a screen of 390 pixels, in Chromium
"""

import functools
import html.parser
import http.server
import json
import pathlib
import posixpath
import re
import subprocess
import sys
import threading
import urllib.parse

# A fenced block, a code span, or a link with its text and target.
PIECES = re.compile(
    r"^(?P<fence>```+)(?P<language>\w*)\n(?P<block>.*?)^(?P=fence)$"
    r"|(?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`)"
    r"|(?P<picture>!?)\[(?P<text>(?:`[^`]*`|[^\[\]`])*)\]\((?P<target>[^()\s]+)\)",
    re.DOTALL | re.MULTILINE,
)
STEP = re.compile(r"\s*(?P<origin>\S+) --> (?P<end>[^\s:]+)(?:: (?P<event>.*))?")


def states(block):
    """Returns a state diagram as a table, which needs no script and no wide screen.

    >>> print(states("stateDiagram-v2\\n    [*] --> A: Begin | Wait\\n    A --> [*]\\n"), end="")
    | State | Event | Next state |
    |---|---|---|
    | start | Begin \\| Wait | A |
    | A | | end |
    """
    steps = [STEP.fullmatch(line) for line in block.splitlines()[1:] if line.strip()]
    if not block.startswith("stateDiagram-v2\n") or not all(steps):
        raise ValueError(f"a diagram that is no list of states: {block}")
    rows = ["| State | Event | Next state |", "|---|---|---|"]
    for step in steps:
        origin, end, event = step["origin"], step["end"], (step["event"] or "").replace("|", "\\|")
        event = f" {event}" if event else ""
        rows.append(f"| {origin.replace('[*]', 'start')} |{event} | {end.replace('[*]', 'end')} |")
    return "\n".join(rows) + "\n"


def page(text, path, chapters, root, repository=None):
    """Returns a page with diagrams as tables, and with each link to a file outside the book as the name of the file.

    >>> root = pathlib.Path(".")
    >>> def of(text, repository=None):
    ...     return page(text, "guide/a.md", {"guide/a.md", "b.md"}, root, repository)
    >>> of("[b](../b.md#c), [here](#d), [web](https://example.org/x), ![p](../images/presets.svg)")
    '[b](../b.md#c), [here](#d), [web](https://example.org/x), ![p](../images/presets.svg)'
    >>> page("[a](README.md#c)", "guide/a.md", {"guide/README.md"}, root)
    '[a](index.md#c)'
    >>> of("[the script](../../.ci/book.py), [`.ci`](../../.ci), `[x](../../.ci)`")
    'the script (`.ci/book.py`), `.ci`, `[x](../../.ci)`'
    >>> of("[the script](../../.ci/book.py#L1)", "https://example.org/x")
    '[the script](https://example.org/x/blob/HEAD/.ci/book.py#L1)'
    """

    def piece(match):
        if match["language"] == "mermaid":
            return states(match["block"])
        if match["target"] is None:
            return match[0]
        file, _, anchor = match["target"].partition("#")
        if not file or urllib.parse.urlsplit(file).scheme:
            return match[0]
        place = posixpath.normpath(posixpath.join("docs", posixpath.dirname(path), file))
        inside = place.startswith("docs/") and (place[5:] in chapters or place.endswith(".svg"))
        if inside:
            # mdBook writes README.md as index.html.
            return re.sub(r"README\.md(#[^)]*)?\)$", r"index.md\1)", match[0])
        if not (root / place).exists():
            raise ValueError(f"{path}: {match['target']}: there is no such file")
        if repository:
            anchor = anchor and f"#{anchor}"
            return f"[{match['text']}]({repository.rstrip('/')}/blob/HEAD/{place}{anchor})"
        said = match["text"].strip("`")
        is_name = place == said or place.endswith(f"/{said}") or pathlib.PurePath(place).stem == said
        return f"`{place}`" if is_name else f"{match['text']} (`{place}`)"

    return PIECES.sub(piece, text)


def chapters_of(items):
    """Yields the chapters among items, which are chapters, titles of parts and separators, and those below them."""
    for item in items:
        if isinstance(item, dict) and "Chapter" in item:
            yield item["Chapter"]
            yield from chapters_of(item["Chapter"]["sub_items"])


def preprocess():
    """Writes the book that mdBook gives, each chapter prepared."""
    context, book = json.load(sys.stdin)
    repository = context["config"].get("output", {}).get("html", {}).get("git-repository-url")
    found = list(chapters_of(book["items"]))
    paths = {chapter["source_path"] for chapter in found}
    for chapter in found:
        text = chapter["content"]
        chapter["content"] = page(text, chapter["source_path"], paths, pathlib.Path(context["root"]), repository)
    json.dump(book, sys.stdout)


class Links(html.parser.HTMLParser):
    """Collects the targets of a file, and the names by which others find its parts."""

    def __init__(self):
        super().__init__()
        self.targets, self.anchors = [], set()

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.targets.append(value)
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)


def check(book):
    """Fails with a line for each link that leads nowhere."""
    read = {}
    for file in sorted(book.rglob("*.html")):
        read[file.resolve()] = links = Links()
        links.feed(file.read_text())
    count, faults = 0, []
    for file, links in read.items():
        for target in links.targets:
            parts = urllib.parse.urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            end = (file.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else file
            anchor = urllib.parse.unquote(parts.fragment)
            is_there = end.is_file() and (not anchor or end not in read or anchor in read[end].anchors)
            # 404.html is for any address, and its links begin at the top.
            if not is_there and file.name != "404.html":
                faults.append(f"{file.relative_to(book.resolve())}: {target} leads nowhere")
    print("\n".join(faults) or f"{count} links of {len(read)} pages lead somewhere")
    return not faults and count > 1000


LOOK = """<!doctype html><title>look</title><iframe id=f style="width:390px;height:1000px;border:0"></iframe><script>
const pages = %s, frame = document.getElementById("f"), wide = [];
const load = (page) => new Promise((done) => { frame.onload = done; frame.src = page; });
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
(async () => {
  for (const width of [390, 1400]) for (const page of pages) {
    frame.style.width = `${width}px`;
    await load(page);
    const boxes = frame.contentDocument.querySelectorAll("html, body, .page, .content, main");
    const over = Math.max(...Array.from(boxes, (box) => box.scrollWidth - box.clientWidth));
    if (over > 0 || boxes.length < 5) wide.push(`${page}: ${over} pixels wider than ${width}`);
  }
  await load("index.html?search=hystart");
  let found = 0;
  for (let at = 0; at < 100 && !found; at++) {
    await wait(100);
    found = frame.contentDocument.querySelectorAll("#mdbook-searchresults li").length;
  }
  document.title = JSON.stringify({ wide, found, pages: pages.length });
  document.documentElement.innerHTML = `<pre>RESULT ${document.title} END</pre>`;
})();
</script>"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files, and reports nothing."""

    def log_message(self, *_):
        pass


def look(book):
    """Loads every page in windows of a telephone's and a screen's width, then searches for a word."""
    pages = [file.relative_to(book).as_posix() for file in sorted(book.rglob("*.html"))]
    pages = [name for name in pages if name not in ("print.html", "toc.html", "404.html", "look.html")]
    harness = book / "look.html"
    harness.write_text(LOOK % json.dumps(pages))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=book))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        said = subprocess.run(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1420,1000", "--timeout=120000",
             "--virtual-time-budget=600000", "--dump-dom", f"http://127.0.0.1:{server.server_port}/look.html"],
            capture_output=True, text=True, timeout=300, check=True,
        ).stdout
    finally:
        harness.unlink()
        server.shutdown()
    result = re.search(r"RESULT (.*) END", said)
    if not result:
        print(f"Chromium did not finish: {said[-500:]}")
        return False
    result = json.loads(html.unescape(result[1]))
    print("\n".join(result["wide"]) or f"no page of {result['pages']} is wider than a window of 390 or 1400 pixels")
    print(f"search for hystart: {result['found']} results")
    return not result["wide"] and result["found"] > 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["supports"]:
        sys.exit(sys.argv[2] != "html")
    if sys.argv[1:2] == ["check"]:
        sys.exit(not check(pathlib.Path(sys.argv[2])))
    if sys.argv[1:2] == ["look"]:
        sys.exit(not look(pathlib.Path(sys.argv[2])))
    preprocess()
