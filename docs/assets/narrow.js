// what a narrow screen needs and the Markdown does not say; site.css uses it there alone
// a table of words becomes lines, each with the name of its column; tables of figures stay tables
for (const table of document.querySelectorAll("article table:not([class])")) {
  const names = [...table.querySelectorAll("thead th")].map(head => head.textContent.trim().replace(/\\[()]/g, ""));
  const cells = [...table.querySelectorAll("tbody td")];
  const wordy = cells.some(cell => cell.cellIndex > 0 && cell.textContent.trim().length > 34);
  if (!wordy || names.length < 3 || names.length > 5 || table.closest(".options")) continue;
  table.dataset.lines = "";
  for (const cell of cells) if (cell.cellIndex > 0) cell.dataset.name = names[cell.cellIndex];
}
// short code keeps the comma or the bracket beside it
for (const code of document.querySelectorAll("article :is(p, li) code"))
  if (code.textContent.length <= 28) code.dataset.short = "";
