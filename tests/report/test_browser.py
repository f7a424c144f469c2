"""The page in a real browser: it fits, shows every figure, has contrast in both schemes, and asks for nothing.

Skipped where no Chromium is installed; with RISKGRAD_NEED_CHROMIUM set that is a failure instead.
"""

import html
import json
import os
import re
import shutil
import subprocess

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NEEDED = bool(os.environ.get("RISKGRAD_NEED_CHROMIUM"))

pytestmark = pytest.mark.skipif(BROWSER is None and not NEEDED, reason="no Chromium is installed")

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--enable-logging=stderr",
    "--virtual-time-budget=4000",
)

# looks at the page from inside and sends what it saw to the frame around it
PROBE = """<script>
const problems = [];
addEventListener("error", e => problems.push("error: " + e.message));
addEventListener("securitypolicyviolation", e => problems.push("refused: " + e.blockedURI + " " + e.violatedDirective));
const parts = c => (c.match(/[\\d.]+/g) || []).map(Number);
const light = c => { const v = parts(c).slice(0, 3).map(x => x / 255).map(
  x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
  return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor, p = parts(c);
  if (p.length < 4 || p[3] > 0) return c; } return "rgb(255, 255, 255)"; };
addEventListener("load", () => {
  const weak = [];
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || e.closest("style, script, defs")) continue;
    const s = getComputedStyle(e), a = light(e.closest("svg") ? s.fill : s.color), b = light(ground(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (!(ratio >= 4.5)) weak.push([e.tagName, e.textContent.trim().slice(0, 30), ratio]);
  }
  const figures = [...document.querySelectorAll("figure")].map(f => {
    const box = f.querySelector("svg").getBoundingClientRect(), label = f.querySelector("[role=img]");
    const texts = [...f.querySelectorAll("svg text")].map(t => t.getBoundingClientRect().height);
    return { id: f.id, width: box.width, height: box.height, words: label.getAttribute("aria-label"),
             smallest: Math.min(...texts) };
  });
  parent.postMessage(JSON.stringify({
    dark: matchMedia("(prefers-color-scheme: dark)").matches, problems, weak, figures, width: innerWidth,
    wide: document.documentElement.scrollWidth, asked: performance.getEntriesByType("resource").map(r => r.name),
  }), "*");
});
</script>"""

FRAME = """<!DOCTYPE html><title>frame</title>
<iframe src="probed.html" style="border: 0; width: {width}px; height: 900px"></iframe><pre id="seen"></pre>
<script>addEventListener("message", e => document.getElementById("seen").textContent = e.data)</script>"""


def opened(place, folder, *flags):
    words = [BROWSER, *FLAGS, f"--user-data-dir={folder / 'profile'}", *flags, "--dump-dom", place.as_uri()]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)


@pytest.mark.parametrize(
    ("width", "dark"), [(1200, False), (1200, True), (390, True)], ids=["light", "dark", "dark-phone"]
)
def test_the_page_in_a_browser(page, tmp_path, width, dark):
    text = page.read_text()
    allowed = text.replace("style-src 'unsafe-inline'", "style-src 'unsafe-inline'; script-src 'unsafe-inline'")
    assert allowed != text
    (tmp_path / "probed.html").write_text(allowed.replace("<title>", PROBE + "<title>", 1))
    frame = tmp_path / "frame.html"
    frame.write_text(FRAME.format(width=width))
    done = opened(frame, tmp_path, f"--blink-settings=preferredColorScheme={0 if dark else 1}")
    seen = json.loads(html.unescape(re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, flags=re.S)[1]))
    assert (seen["width"], seen["dark"]) == (width, dark)
    assert seen["problems"] == []
    assert seen["asked"] == [], "nothing is fetched"
    assert seen["weak"] == [], "text has a contrast of at least 4.5"
    assert seen["wide"] <= width, "nothing sticks out to the side"
    assert len(seen["figures"]) == 13
    for figure in seen["figures"]:
        assert figure["width"] > 0.75 * min(width, 500)
        assert figure["height"] > 120
        assert figure["smallest"] >= 9, "labels can be read"
        assert len(figure["words"]) > 60


def test_no_console_message(page, tmp_path):
    done = opened(page, tmp_path)
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    assert "<figcaption>" in done.stdout
    broken = tmp_path / "broken.html"
    broken.write_text("<script>fail()</script>")
    assert "CONSOLE" in opened(broken, tmp_path).stderr, "a fault would have been seen"
