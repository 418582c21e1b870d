// What a cell is sorted by: a number, sizes in bytes; else its text. Nothing known comes last.
function keyOf(cell) {
  const text = cell ? cell.textContent.trim() : "", found = /^([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?:$|[ ×%,(]*(KiB|MiB|GiB)?)/.exec(text);
  return found ? Number(found[1]) * (SIZES[found[2]] || 1) : ["", "?", "–"].includes(text) ? null : text;
}

function sort(table, column, up) {
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
  for (const body of table.tBodies) {
    for (const opened of body.querySelectorAll('[aria-expanded="true"]')) opened.click();
    const keyed = [...body.rows].map((row) => [keyOf(row.cells[column]), row]);
    keyed.sort(([a], [b]) => (a === null) - (b === null) || (up ? compare(a, b) : compare(b, a)));
    body.append(...keyed.map(([, row]) => row));
  }
}

function csvOf(table) {
  const quoted = (cell) => {
    const told = cell.textContent.trim().replace(/\s+/g, " "), text = /^(?:[=@]|[+-](?![\d.]))/.test(told) ? `'${told}` : told;  // no formula for a spreadsheet
    return (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text) + ",".repeat(cell.colSpan - 1);
  };
  return [...table.rows].filter((row) => !row.matches(".detail")).map((row) => [...row.cells].map(quoted).join(",") + "\n").join("");
}

function copy(text) {
  const area = node("textarea", {}, text);
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

for (const table of document.querySelectorAll("table:not(.heat, .plain)")) {
  if (table.querySelectorAll("tbody tr").length < 2 || !table.tHead) continue;
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  heads.forEach((head, column) => {
    const sorter = button("", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      sort(table, column, up);
    }, { class: "sorts", title: "sort" });
    sorter.append(...head.childNodes);
    if (!sorter.textContent.trim()) sorter.setAttribute("aria-label", "sort by the first column");
    head.append(sorter);
  });
  const copies = button("copy as CSV", () => { copies.textContent = copy(csvOf(table)) ? "copied" : "the browser does not let this page copy"; }, { class: "copies" });
  table.parentElement.after(copies);
}

