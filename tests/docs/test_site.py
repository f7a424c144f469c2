"""The documentation site, built strictly and opened page by page in a real browser.

Skipped where mkdocs or Chromium are not installed; with RISKGRAD_NEED_DOCS and RISKGRAD_NEED_CHROMIUM set that is a
failure instead.
"""

import functools
import html
import html.parser
import http.server
import importlib.util
import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from support.chromium import CONTRAST, OVERLAPS, console, needs_chromium, opened
from support.reference import list_names, prepare

import riskgrad as rg
from riskgrad.settings import TrainOptions, facts_of

ROOT = Path(__file__).parents[2]
WIDTHS = (1280, 768, 390, 320)
PARTS = ("mkdocs", "material", "mkdocstrings", "zensical")
MISSING = [name for name in PARTS if importlib.util.find_spec(name) is None]

pytestmark = pytest.mark.skipif(
    bool(MISSING) and not os.environ.get("RISKGRAD_NEED_DOCS"), reason="the extra docs is not installed"
)

# opens every page in a frame, waits until its formulas are set, and notes what can be seen there at each width; then it
# searches. What is wider than its place may be scrolled where a shadow says so: code, and tables on a narrow screen
FRAME = """<!DOCTYPE html><title>frame</title><iframe style="border: 0; height: 900px"></iframe>
<pre id="seen"></pre><script>
CONTRAST
OVERLAPS
const frame = document.querySelector("iframe"), seen = {};
const pause = time => new Promise(done => setTimeout(done, time));
const until = async test => { for (let i = 0; i < 200 && !test(); i++) await pause(20); };
const styled = (e, name, value) => getComputedStyle(e)[name].includes(value);
const shaded = e => styled(e, "backgroundImage", "gradient") && styled(e, "overflowX", "auto");
const code = e => e.matches("pre > code, .arithmatex") && shaded(e);
const table = e => e.matches(".md-typeset__scrollwrap") && shaded(e);
function measure(page) {
  const images = [...page.querySelectorAll("article img, figure.picture")].map(f => {
    const svg = f.querySelector("svg"), box = (svg || f).getBoundingClientRect();
    return { width: box.width, height: box.height, words: f.getAttribute("aria-label") || f.getAttribute("alt") || "",
             smallest: Math.min(99, ...[...f.querySelectorAll("text")].map(t => t.getBoundingClientRect().height)),
             overlaps: svg ? overlaps(svg) : [] };
  });
  const wide = cut(page.querySelector("article"), code);
  const torn = [...page.querySelectorAll("article :is(p, li, td) > code")].filter(c => {
    const lines = [...c.getClientRects()], cell = c.parentElement.matches("td");
    const room = cell ? Infinity : c.parentElement.clientWidth;  // a cell is as wide as its code needs
    return lines.length > 1 && lines.reduce((sum, box) => sum + box.width, 0) < room;
  }).map(c => c.textContent);
  return { torn, weak: weak(page.body, true), images, wide: page.documentElement.scrollWidth,
           scrolled: wide.length, tables: wide.filter(w => w[1].includes("scrollwrap")).length,
           cut: cut(page.querySelector("article"), e => code(e) || table(e)) };
}
async function look(name, widths) {
  const loaded = new Promise(done => frame.onload = done);
  frame.style.width = widths[0] + "px";
  frame.src = name;
  await loaded;
  const page = frame.contentDocument, formulas = [...page.querySelectorAll(".arithmatex")], at = {};
  await until(() => formulas.every(m => m.querySelector(".katex")));
  await page.fonts.ready;
  for (const width of widths) {
    frame.style.width = width + "px";
    await pause(100);
    at[width] = measure(page);
  }
  seen[name] = {
    title: page.title, scheme: page.body.dataset.mdColorScheme, at,
    unset: formulas.filter(m => !m.querySelector(".katex")).length,
    formulas: formulas.length, broken: page.querySelectorAll(".katex-error").length,
    fonts: [...page.fonts].filter(f => f.status === "loaded").map(f => f.family),
    asked: frame.contentWindow.performance.getEntriesByType("resource").map(r => r.name),
  };
}
(async () => {
  for (const name of PAGES) await look(name, WIDTHS);
  await fetch("/search-from-now-on");
  await look("index.html", WIDTHS);
  const page = frame.contentDocument, field = page.querySelector(".md-search__input");
  field.value = "shortfall";
  field.focus();
  field.dispatchEvent(new Event("keyup", { bubbles: true }));
  // the worker lives in real time: a request that is answered slowly holds the page's own time back
  for (let i = 0; i < 100 && !page.querySelector(".md-search-result__item"); i++) await fetch("/pause");
  seen["(search)"] = [...page.querySelectorAll(".md-search-result__item a")].map(a => a.href);
  document.getElementById("seen").textContent = JSON.stringify(seen);
})();
</script>""".replace("CONTRAST", CONTRAST).replace("OVERLAPS", OVERLAPS)


@pytest.fixture(scope="module")
def settled(tmp_path_factory):
    """The pages as they are prepared, and the settings of both builders beside them."""
    place = tmp_path_factory.mktemp("docs")
    prepare.prepare(place / "pages")
    text = (ROOT / "mkdocs.yml").read_text()
    for line, own in (("docs_dir: build/docs", "docs_dir: pages"), ("paths: [src]", f"paths: [{ROOT / 'src'}]")):
        assert line in text
        text = text.replace(line, own)
    (place / "mkdocs.yml").write_text(text)
    (place / "zensical.yml").write_text(text + "site_dir: other\n")
    return place


def build(place, *words):
    settings = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=place, capture_output=True, text=True, check=False, env=settings
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def site(settled):
    build(settled, "mkdocs", "build", "--strict", "-f", "mkdocs.yml")  # --quiet would let warnings pass
    return settled / "site"


@pytest.fixture
def address(site):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        searching = False  # every page would build its index anew, which takes half of the time

        def do_GET(self):
            if self.path == "/search-from-now-on":
                Quiet.searching = True
            elif self.path == "/pause":
                time.sleep(0.1)
            elif "/workers/search" not in self.path or Quiet.searching:
                return super().do_GET()
            self.send_response(200)
            self.send_header("Content-Type", "text/javascript")
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            return None

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site)) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def look(site, address, folder, pages, dark):
    """What the browser sees of the pages and of a search in them."""
    (site / "frame.html").write_text(FRAME.replace("WIDTHS", json.dumps(WIDTHS)).replace("PAGES", json.dumps(pages)))
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    alone = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    done = opened(f"{address}/frame.html", folder, scheme, alone, budget=120_000, timeout=300)
    (site / "frame.html").unlink()
    assert console(done) == []
    return json.loads(html.unescape(re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, flags=re.S)[1]))


@needs_chromium
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_page_in_a_browser(site, address, tmp_path, dark):
    pages = sorted(str(page.relative_to(site)) for page in site.glob("**/*.html"))
    seen = look(site, address, tmp_path, pages, dark)
    assert any("how-to/risk-measure.html" in place for place in seen.pop("(search)"))
    assert sorted(seen) == pages
    for name, page in seen.items():
        assert page["scheme"] == ("slate" if dark else "default"), name
        assert [place for place in page["asked"] if not place.startswith(address)] == [], name
        assert (page["unset"], page["broken"]) == (0, 0), f"{name}: formulas are set"
        assert "Inter" in page["fonts"], name
        assert list(page["at"]) == [str(width) for width in sorted(WIDTHS)]
        for width, shown in page["at"].items():
            assert faults_of(shown, int(width), wide_tables=name.startswith("benchmarks")) == [], f"{name} at {width}"
    assert len(seen["which-risk-measure.html"]["at"]["320"]["images"]) == 8
    assert seen["notation.html"]["formulas"] > 30
    for width in ("320", "390"):
        for name in ("reference/options", "reference/command-line", "notation", "architecture", "benchmarks/index"):
            assert seen[f"{name}.html"]["at"][width]["tables"] == 0, "a table of words can be read on a phone"


def faults_of(shown, width, wide_tables=False):
    """What is wrong with a page at a width; tables fit on a large screen unless they are wide tables of figures."""
    rules = {
        "text has a contrast of at least 4.5": shown["weak"] == [],
        "nothing sticks out to the side": shown["wide"] <= width,
        "nothing is cut off without a sign": shown["cut"] == [],
        "code that fits into a line is in one": shown["torn"] == [],
        "tables fit": width < 1280 or wide_tables or shown["scrolled"] == 0,
        "pictures can be seen": all(min(image["width"], image["height"]) > 120 for image in shown["images"]),
        "labels can be read": all(image["smallest"] >= (9 if width >= 390 else 7) for image in shown["images"]),
        "labels do not overlap": all(image["overlaps"] == [] for image in shown["images"]),
        "pictures are told in words": all(len(image["words"]) > 60 for image in shown["images"]),
    }
    return [rule for rule, holds in rules.items() if not holds]


@needs_chromium
def test_faults_are_seen(site, address, tmp_path):
    """A page with one fault of every kind."""
    text = (site / "which-risk-measure.html").read_text()
    style = """<style>.md-typeset p { color: #bbb } .md-typeset__scrollwrap { background: none; width: 60px }
    .md-typeset h1 { width: 2000px }
    .md-typeset :is(p, td) > code { display: inline !important; white-space: normal !important; letter-spacing: 5px }
    .md-typeset table:not([class]) td > code { word-break: break-all }
    figure.picture text { transform: none; font-size: 60px }</style>"""
    faulty = site / "faulty.html"
    faulty.write_text(text.replace("</head>", style + "</head>").replace('aria-label="', 'aria-label="" data-was="'))
    seen = look(site, address, tmp_path, ["faulty.html"], dark=False)
    faulty.unlink()
    found = {fault for width in WIDTHS for fault in faults_of(seen["faulty.html"]["at"][str(width)], width)}
    assert found == {
        "text has a contrast of at least 4.5",
        "nothing sticks out to the side",
        "nothing is cut off without a sign",
        "code that fits into a line is in one",
        "tables fit",
        "labels do not overlap",
        "pictures are told in words",
    }


@needs_chromium
def test_search_from_the_file_system(site, tmp_path):
    done = opened(f"{(site / 'index.html').as_uri()}?q=shortfall", tmp_path, budget=20_000)
    assert console(done) == []
    assert re.search(r'<li class="md-search-result__item">.*?how-to/risk-measure\.html', done.stdout, flags=re.S)


class Words(html.parser.HTMLParser):
    """The words of a page's article."""

    def __init__(self, text):
        super().__init__()
        self.inside, self.hidden, self.words = 0, 0, []
        self.feed(text)

    def handle_starttag(self, tag, _):
        self.inside += tag == "article"
        self.hidden += tag in ("script", "style", "nav")

    def handle_endtag(self, tag):
        self.inside -= tag == "article"
        self.hidden -= tag in ("script", "style", "nav")

    def handle_data(self, text):
        if self.inside and not self.hidden:
            self.words += text.split()


def test_another_builder_makes_the_same_pages(site, settled):
    """The pages are Markdown that any builder of such pages takes: Zensical, which follows MkDocs, says the same."""
    build(settled, "zensical", "build", "--strict", "-f", "zensical.yml")
    pages = sorted(page.relative_to(site) for page in site.glob("**/*.html"))
    other = settled / "other"
    assert sorted(page.relative_to(other) for page in other.glob("**/*.html")) == pages
    for page in pages:
        words = Words((site / page).read_text()).words
        assert Words((other / page).read_text()).words == words, page
    assert sum(len(Words((other / page).read_text()).words) for page in pages) > 50_000


def test_every_public_name_is_in_the_reference(site):
    pages = [page.read_text() for page in site.glob("reference/*.html")]
    anchors = {anchor for page in pages for anchor in re.findall(r'id="(riskgrad\.[\w.]+)"', page)}
    assert {"riskgrad.train", *(name.home for name in list_names())} <= anchors
    text = html.unescape("".join(pages))
    assert [name.public for name in list_names() if name.public not in text] == []


def test_every_option_is_in_the_reference(site):
    text = (site / "reference" / "options.html").read_text()
    for kind in (TrainOptions, rg.OnPSF, rg.OffPSF, rg.Score):
        for name in facts_of(kind):
            assert f"<td><code>{name}</code></td>" in text


def test_every_command_is_in_the_reference(site):
    text = (site / "reference" / "command-line.html").read_text()
    for command in (
        "demo",
        "train",
        "evaluate",
        "compare",
        "frontier",
        "report",
        "bounds",
        "risks",
        "policies",
        "algorithms",
        "envs",
        "parts",
    ):
        assert f'<h2 id="{command}">' in text
    assert "--max-episodes" in text
    assert "--steps-per-batch" in text, "the flags of algorithms too"


def test_pages_name_nothing_that_is_loaded_from_elsewhere(site):
    loaded = re.compile(
        r'<(?:script|img|iframe|source)[^>]*\ssrc="(?:https?:)?//[^"]*"|<link[^>]*\shref="(?:https?:)?//[^"]*"'
    )
    for page in site.glob("**/*.html"):
        assert loaded.findall(page.read_text()) == [], page


def test_files_of_others_are_listed_with_their_license():
    folder = ROOT / "docs" / "assets"
    listed = (folder / "README.md").read_text()
    for name in ("inter", "jetbrains-mono", "katex", "iframe-worker"):
        assert name in listed
        assert (folder / "licenses" / f"{name}.txt").stat().st_size > 500
