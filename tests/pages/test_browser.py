"""The page in a real browser: it fits, shows every figure, has contrast in both schemes, and asks for nothing."""

import html
import json
import re

import pytest
from support.chromium import CONTRAST, OVERLAPS, console, needs_chromium, opened

pytestmark = needs_chromium

WIDTHS = (1280, 768, 390, 320)
FIGURES = {"page": 13, "maze_page": 16, "alone_page": 6, "experiment_page": 4}
FIGURES |= {"grid_page": 6, "cart_page": 5, "gym_page": 5}

# looks at the page from inside, at every width that the frame around it asks for, and sends what it saw
PROBE = """<script>
const problems = [];
addEventListener("error", e => problems.push("error: " + e.message));
addEventListener("securitypolicyviolation", e => problems.push("refused: " + e.blockedURI + " " + e.violatedDirective));
CONTRAST
OVERLAPS
const torn = (place, kind) => {  // words of a kind whose letters stand on two lines
  const found = [], walk = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) for (const word of walk.currentNode.data.matchAll(kind)) {
    const range = document.createRange();
    range.setStart(walk.currentNode, word.index);
    range.setEnd(walk.currentNode, word.index + word[0].length);
    if (new Set([...range.getClientRects()].map(box => box.top)).size > 1) found.push(word[0]);
  }
  return found; };
const all = (places, kind) => [...document.querySelectorAll(places)].flatMap(place => torn(place, kind));
addEventListener("load", () => parent.postMessage("loaded", "*"));
addEventListener("message", async asked => {
  while (innerWidth !== asked.data) await new Promise(done => setTimeout(done, 5));
  document.querySelectorAll("details").forEach(d => d.open = true);
  const figures = [...document.querySelectorAll("figure")].map(f => {
    const svg = f.querySelector("svg"), box = svg.getBoundingClientRect(), label = f.querySelector("[role=img]");
    const texts = [...f.querySelectorAll("svg text")].map(t => t.getBoundingClientRect().height);
    return { id: f.id, width: box.width, height: box.height, words: label.getAttribute("aria-label"),
             smallest: Math.min(...texts), overlaps: overlaps(svg) };
  });
  parent.postMessage(JSON.stringify({
    dark: matchMedia("(prefers-color-scheme: dark)").matches, problems, weak: weak(document.body), figures,
    torn: [...all("pre code", /--[\\w-]+/g), ...all("td, dd", /(?<![\\w-])\\w{1,12}(?![\\w-])/g)],
    width: innerWidth, wide: document.documentElement.scrollWidth, cut: cut(document.body),
    asked: performance.getEntriesByType("resource").map(r => r.name),
  }), "*");
});
</script>""".replace("CONTRAST", CONTRAST).replace("OVERLAPS", OVERLAPS)

FRAME = """<!DOCTYPE html><title>frame</title><iframe style="border: 0; height: 900px"></iframe><pre id="seen"></pre>
<script>
const frame = document.querySelector("iframe"), seen = [];
(async () => {
  const told = () => new Promise(done => addEventListener("message", e => done(e.data), { once: true }));
  for (const name of NAMES) {
    frame.src = name + ".html";
    await told();
    for (const width of WIDTHS) {
      frame.style.width = width + "px";
      frame.contentWindow.postMessage(width, "*");
      seen.push({ name, ...JSON.parse(await told()) });
    }
  }
  document.getElementById("seen").textContent = JSON.stringify(seen);
})();
</script>"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_pages_in_a_browser(dark, tmp_path, request):
    """Four runs, a maze, one run alone, an experiment, a grid and two kinds of environment, each at four widths."""
    for name in FIGURES:
        text = request.getfixturevalue(name).read_text()
        allowed = text.replace("style-src 'unsafe-inline'", "style-src 'unsafe-inline'; script-src 'unsafe-inline'")
        assert allowed != text
        (tmp_path / f"{name}.html").write_text(allowed.replace("<title>", PROBE + "<title>", 1))
    frame = tmp_path / "frame.html"
    frame.write_text(FRAME.replace("NAMES", json.dumps(list(FIGURES))).replace("WIDTHS", json.dumps(WIDTHS)))
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    done = opened(frame.as_uri(), tmp_path, scheme, budget=60_000, timeout=200)
    assert console(done) == []
    found = json.loads(html.unescape(re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, flags=re.S)[1]))
    assert [(seen["name"], seen["width"]) for seen in found] == [(name, w) for name in FIGURES for w in WIDTHS]
    for seen in found:
        where = f"{seen['name']} at {seen['width']}"
        assert seen["dark"] == dark
        assert seen["problems"] == [], where
        assert seen["asked"] == [], f"{where}: nothing is fetched"
        assert seen["weak"] == [], f"{where}: text has a contrast of at least 4.5"
        assert seen["wide"] <= seen["width"], f"{where}: nothing sticks out to the side"
        assert seen["cut"] == [], f"{where}: nothing is cut off"
        assert seen["torn"] == [], f"{where}: no line breaks inside of a flag or of a short word in a table"
        assert len(seen["figures"]) == FIGURES[seen["name"]]
        for figure in seen["figures"]:
            assert figure["width"] > 0.75 * min(seen["width"], 500)
            assert figure["height"] > 80
            assert figure["smallest"] >= (9 if seen["width"] >= 390 else 7), f"{where}: labels can be read"
            assert figure["overlaps"] == [], f"{where}, {figure['id']}: labels do not overlap"
            assert len(figure["words"]) > 60


def test_the_probe_sees_what_is_wrong(tmp_path):
    """Labels on each other, a table that is cut off and faint text are all seen."""
    bad = """<meta http-equiv="Content-Security-Policy" content="style-src 'unsafe-inline'; script-src 'unsafe-inline'">
    PROBE<title>x</title><body style="background: white; color: #ccc">faint
    <pre style="white-space: pre-wrap; width: 9ch"><code>train --iterations</code></pre>
    <table><tr><td style="max-width: 2ch; overflow-wrap: anywhere">seven</table>
    <div style="overflow-x: auto; width: 90px"><table style="width: 300px"><tr><td>wide</table></div><figure id="f">
    <div role="img" aria-label="x"><svg viewBox="0 0 90 20" width="90"><text x="5" y="15">one</text><text x="15" y="15">
    two</text><text x="80" y="15">beyond</text></svg></div></figure>""".replace("PROBE", PROBE)
    (tmp_path / "bad.html").write_text(bad)
    (tmp_path / "frame.html").write_text(FRAME.replace("NAMES", '["bad"]').replace("WIDTHS", "[390]"))
    done = opened((tmp_path / "frame.html").as_uri(), tmp_path)
    (seen,) = json.loads(html.unescape(re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, flags=re.S)[1]))
    assert seen["weak"]
    assert seen["torn"] == ["--iterations", "seven"]
    assert len(seen["cut"]) == 1
    assert len(seen["figures"][0]["overlaps"]) == 2


def test_no_console_message(page, tmp_path):
    done = opened(page.as_uri(), tmp_path)
    assert console(done) == []
    assert "<figcaption>" in done.stdout
    broken = tmp_path / "broken.html"
    broken.write_text("<script>fail()</script>")
    assert console(opened(broken.as_uri(), tmp_path)), "a fault would have been seen"
