"""The page in a real browser: it fits, shows every figure, has contrast in both schemes, and asks for nothing."""

import html
import json
import re

import pytest
from support.chromium import CONTRAST, console, needs_chromium, opened

pytestmark = needs_chromium

# looks at the page from inside and sends what it saw to the frame around it
PROBE = """<script>
const problems = [];
addEventListener("error", e => problems.push("error: " + e.message));
addEventListener("securitypolicyviolation", e => problems.push("refused: " + e.blockedURI + " " + e.violatedDirective));
CONTRAST
addEventListener("load", () => {
  const figures = [...document.querySelectorAll("figure")].map(f => {
    const box = f.querySelector("svg").getBoundingClientRect(), label = f.querySelector("[role=img]");
    const texts = [...f.querySelectorAll("svg text")].map(t => t.getBoundingClientRect().height);
    return { id: f.id, width: box.width, height: box.height, words: label.getAttribute("aria-label"),
             smallest: Math.min(...texts) };
  });
  parent.postMessage(JSON.stringify({
    dark: matchMedia("(prefers-color-scheme: dark)").matches, problems, weak: weak(document.body), figures,
    width: innerWidth, wide: document.documentElement.scrollWidth,
    asked: performance.getEntriesByType("resource").map(r => r.name),
  }), "*");
});
</script>""".replace("CONTRAST", CONTRAST)

FRAME = """<!DOCTYPE html><title>frame</title>
<iframe src="probed.html" style="border: 0; width: {width}px; height: 900px"></iframe><pre id="seen"></pre>
<script>addEventListener("message", e => document.getElementById("seen").textContent = e.data)</script>"""


FIGURES = {"page": 13, "maze_page": 16}


@pytest.mark.parametrize(
    ("name", "width", "dark"),
    [
        ("page", 1200, False),
        ("page", 1200, True),
        ("page", 390, True),
        ("maze_page", 390, False),
        ("maze_page", 1200, True),
    ],
    ids=["light", "dark", "dark-phone", "maze-phone", "maze-dark"],
)
def test_the_page_in_a_browser(name, width, dark, tmp_path, request):
    text = request.getfixturevalue(name).read_text()
    allowed = text.replace("style-src 'unsafe-inline'", "style-src 'unsafe-inline'; script-src 'unsafe-inline'")
    assert allowed != text
    (tmp_path / "probed.html").write_text(allowed.replace("<title>", PROBE + "<title>", 1))
    frame = tmp_path / "frame.html"
    frame.write_text(FRAME.format(width=width))
    done = opened(frame.as_uri(), tmp_path, f"--blink-settings=preferredColorScheme={0 if dark else 1}")
    seen = json.loads(html.unescape(re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, flags=re.S)[1]))
    assert (seen["width"], seen["dark"]) == (width, dark)
    assert seen["problems"] == []
    assert seen["asked"] == [], "nothing is fetched"
    assert seen["weak"] == [], "text has a contrast of at least 4.5"
    assert seen["wide"] <= width, "nothing sticks out to the side"
    assert len(seen["figures"]) == FIGURES[name]
    for figure in seen["figures"]:
        assert figure["width"] > 0.75 * min(width, 500)
        assert figure["height"] > 120
        assert figure["smallest"] >= 9, "labels can be read"
        assert len(figure["words"]) > 60


def test_no_console_message(page, tmp_path):
    done = opened(page.as_uri(), tmp_path)
    assert console(done) == []
    assert "<figcaption>" in done.stdout
    broken = tmp_path / "broken.html"
    broken.write_text("<script>fail()</script>")
    assert console(opened(broken.as_uri(), tmp_path)), "a fault would have been seen"
