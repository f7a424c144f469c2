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
  script.onload = () => {
    for (const formula of formulas) {
      const text = formula.textContent.trim();
      katex.render(text.slice(2, -2), formula, { displayMode: text.startsWith("\\["), strict: "ignore" });
    }
  };
  document.head.append(style, script);
})();
