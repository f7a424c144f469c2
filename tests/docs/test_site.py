"""The documentation site, built strictly and opened page by page in a real browser.

Skipped where mkdocs or Chromium are not installed; with RISKGRAD_NEED_DOCS and RISKGRAD_NEED_CHROMIUM set that is a
failure instead.
"""

import functools
import html
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
from support.chromium import CONTRAST, console, needs_chromium, opened
from support.reference import list_names, prepare

import riskgrad as rg
from riskgrad.settings import TrainOptions, facts_of

ROOT = Path(__file__).parents[2]
PARTS = ("mkdocs", "material", "mkdocstrings")
MISSING = [name for name in PARTS if importlib.util.find_spec(name) is None]

pytestmark = pytest.mark.skipif(
    bool(MISSING) and not os.environ.get("RISKGRAD_NEED_DOCS"), reason="the extra docs is not installed"
)

# opens every page in a frame, waits until its formulas are set, and notes what can be seen there; then it searches
FRAME = """<!DOCTYPE html><title>frame</title><iframe style="border: 0; width: WIDTHpx; height: 900px"></iframe>
<pre id="seen"></pre><script>
CONTRAST
const frame = document.querySelector("iframe"), seen = {};
const pause = time => new Promise(done => setTimeout(done, time));
const until = async test => { for (let i = 0; i < 200 && !test(); i++) await pause(20); };
async function look(name) {
  const loaded = new Promise(done => frame.onload = done);
  frame.src = name;
  await loaded;
  const page = frame.contentDocument, maths = [...page.querySelectorAll(".arithmatex")];
  await until(() => maths.every(m => m.querySelector(".katex")));
  await page.fonts.ready;
  const images = [...page.querySelectorAll("article img, figure.picture")].map(f => {
    const box = (f.querySelector("svg") || f).getBoundingClientRect();
    return { width: box.width, height: box.height, words: f.getAttribute("aria-label") || f.getAttribute("alt") || "",
             smallest: Math.min(99, ...[...f.querySelectorAll("text")].map(t => t.getBoundingClientRect().height)) };
  });
  seen[name] = {
    title: page.title, scheme: page.body.dataset.mdColorScheme, weak: weak(page.body, true), images,
    wide: page.documentElement.scrollWidth, unset: maths.filter(m => !m.querySelector(".katex")).length,
    maths: maths.length, broken: page.querySelectorAll(".katex-error").length,
    fonts: [...page.fonts].filter(f => f.status === "loaded").map(f => f.family),
    asked: frame.contentWindow.performance.getEntriesByType("resource").map(r => r.name),
  };
}
(async () => {
  for (const name of PAGES) await look(name);
  await fetch("/search-from-now-on");
  await look("index.html");
  const page = frame.contentDocument, field = page.querySelector(".md-search__input");
  field.value = "shortfall";
  field.focus();
  field.dispatchEvent(new Event("keyup", { bubbles: true }));
  // the worker lives in real time: a request that is answered slowly holds the page's own time back
  for (let i = 0; i < 100 && !page.querySelector(".md-search-result__item"); i++) await fetch("/pause");
  seen["(search)"] = [...page.querySelectorAll(".md-search-result__item a")].map(a => a.href);
  document.getElementById("seen").textContent = JSON.stringify(seen);
})();
</script>"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    place = tmp_path_factory.mktemp("docs")
    folder, pages, settled = place / "site", place / "pages", place / "mkdocs.yml"
    prepare.prepare(pages)
    text = (ROOT / "mkdocs.yml").read_text()
    for line, own in (("docs_dir: build/docs", f"docs_dir: {pages}"), ("paths: [src]", f"paths: [{ROOT / 'src'}]")):
        assert line in text
        text = text.replace(line, own)
    settled.write_text(text)
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", str(settled), "-d", str(folder)]
    settings = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, env=settings)
    assert done.returncode == 0, done.stderr
    return folder


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


@needs_chromium
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)], ids=["light", "dark-phone"])
def test_every_page_in_a_browser(site, address, tmp_path, width, dark):
    pages = sorted(str(page.relative_to(site)) for page in site.glob("**/*.html") if page.name != "frame.html")
    frame = FRAME.replace("CONTRAST", CONTRAST).replace("WIDTH", str(width)).replace("PAGES", json.dumps(pages))
    (site / "frame.html").write_text(frame)
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    alone = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    done = opened(f"{address}/frame.html", tmp_path, scheme, alone, budget=60_000, timeout=300)
    assert console(done) == []
    seen = json.loads(html.unescape(re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, flags=re.S)[1]))
    assert any("how-to/risk-measure.html" in place for place in seen.pop("(search)"))
    assert sorted(seen) == pages
    for name, page in seen.items():
        assert page["scheme"] == ("slate" if dark else "default"), name
        assert [place for place in page["asked"] if not place.startswith(address)] == [], name
        assert page["weak"] == [], f"{name}: text has a contrast of at least 4.5"
        assert page["wide"] <= width, f"{name}: nothing sticks out to the side"
        assert (page["unset"], page["broken"]) == (0, 0), f"{name}: formulas are set"
        assert "Inter" in page["fonts"], name
        for image in page["images"]:
            assert min(image["width"], image["height"]) > 120, name
            assert image["smallest"] >= 9, f"{name}: labels can be read"
            assert len(image["words"]) > 60, f"{name}: {image['words']}"
    assert len(seen["which-risk-measure.html"]["images"]) == 8
    assert seen["notation.html"]["maths"] > 30


@needs_chromium
def test_search_from_the_file_system(site, tmp_path):
    done = opened(f"{(site / 'index.html').as_uri()}?q=shortfall", tmp_path, budget=20_000)
    assert console(done) == []
    assert re.search(r'<li class="md-search-result__item">.*?how-to/risk-measure\.html', done.stdout, flags=re.S)


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
