// sets the formulas of a page that has some; KaTeX lies beside this file and is loaded for such pages only
(() => {
  const here = new URL(".", document.currentScript.src);
  const formulas = document.querySelectorAll(".arithmatex");
  if (!formulas.length) return;
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = new URL("katex/katex.min.css", here);
  const script = document.createElement("script");
  script.src = new URL("katex/katex.min.js", here);
  // a comma stays on the line of its formula: it goes into the last piece that cannot be broken
  const join = (formula, next) => {
    const end = next?.nodeType === 3 && next.data.match(/^[,.;:)]+/), pieces = formula.querySelectorAll(".base");
    if (!end || !pieces.length) return;
    const mark = document.createElement("span");
    mark.className = "mark";
    mark.textContent = end[0];
    next.data = next.data.slice(end[0].length);
    pieces[pieces.length - 1].append(mark);
  };
  script.onload = () => {
    for (const formula of formulas) {
      const text = formula.textContent.trim(), displayMode = text.startsWith("\\[");
      katex.render(text.slice(2, -2), formula, { displayMode, strict: "ignore" });
      if (!displayMode) join(formula, formula.nextSibling);
    }
  };
  document.head.append(style, script);
})();
