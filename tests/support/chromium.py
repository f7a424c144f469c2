"""A headless Chromium for the tests of pages: how it is opened, and how it tells whether text can be read.

Without one its tests are skipped; with RISKGRAD_NEED_CHROMIUM set they fail instead.
"""

import os
import shutil
import subprocess

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NEEDED = bool(os.environ.get("RISKGRAD_NEED_CHROMIUM"))

needs_chromium = pytest.mark.skipif(BROWSER is None and not NEEDED, reason="no Chromium is installed")

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
)

# weak(root): every element under root whose own text has a contrast below 4.5, see-through colors mixed with what is
# behind them; weak(root, true) leaves out what is not shown
CONTRAST = """
const parts = c => { const p = (c.match(/[\\d.]+/g) || []).map(Number); return [p[0], p[1], p[2], p[3] ?? 1]; };
const over = (a, b) => [0, 1, 2].map(i => a[3] * a[i] + (1 - a[3]) * b[i]).concat(1);
const light = c => { const v = c.slice(0, 3).map(x => x / 255).map(
  x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
  return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
const ground = e => { const layers = [];
  for (; e; e = e.parentElement) {
    const c = parts(getComputedStyle(e).backgroundColor);
    if (c[3] > 0) layers.push(c);
    if (c[3] === 1) break;
  }
  return layers.reduceRight((below, c) => over(c, below), [255, 255, 255, 1]); };
const weak = (root, shown = false) => { const found = [];
  for (const e of root.querySelectorAll("*")) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || e.closest("style, script, defs, noscript")) continue;
    if (shown && !e.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const s = getComputedStyle(e), b = ground(e), a = over(parts(e.closest("svg") ? s.fill : s.color), b);
    const [l, d] = [light(a), light(b)].sort((x, y) => y - x);
    const ratio = (l + 0.05) / (d + 0.05);
    if (!(ratio >= 4.5)) found.push([e.tagName, e.textContent.trim().slice(0, 30), ratio]);
  }
  return found; };
"""

# overlaps(svg): pairs of its labels whose boxes overlap, and labels that stick out of it; cut(root): boxes under root
# whose content is wider than they are, so that a part of it cannot be seen; but for those that excuse(box) lets pass
OVERLAPS = """
const overlaps = svg => {
  const all = svg.getBoundingClientRect(), found = [];
  const boxes = [...svg.querySelectorAll("text")].filter(t => t.textContent.trim())
    .map(t => [t.textContent.trim(), t.getBoundingClientRect()]);
  boxes.forEach(([text, a], i) => {
    if (a.left < all.left - 1 || a.right > all.right + 1 || a.top < all.top - 1 || a.bottom > all.bottom + 1)
      found.push([text, "sticks out"]);
    for (const [other, b] of boxes.slice(i + 1)) {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1 && high > 2) found.push([text, other]);
    }
  });
  return found; };
const cut = (root, excuse = () => false) => [...root.querySelectorAll("*")].filter(e => !e.closest("svg, thead")
  && e.clientWidth > 1 && getComputedStyle(e).overflowX !== "visible" && e.scrollWidth > e.clientWidth + 1)
  .filter(e => !excuse(e))
  .map(e => [e.tagName, e.className, e.scrollWidth, e.clientWidth]);
"""


def opened(address, folder, *flags, budget=4000, timeout=60):
    """Open a page, let it run for a while of its own time, and give what is then there and what was said."""
    if BROWSER is None:
        pytest.fail("RISKGRAD_NEED_CHROMIUM is set and no Chromium is installed")
    words = [BROWSER, *FLAGS, f"--user-data-dir={folder / 'profile'}", f"--virtual-time-budget={budget}", *flags]
    return subprocess.run(
        [*words, "--dump-dom", str(address)], capture_output=True, text=True, timeout=timeout, check=True
    )


def console(done):
    """What pages wrote to the console."""
    return [line for line in done.stderr.splitlines() if "CONSOLE" in line]
