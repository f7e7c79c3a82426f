"use strict";
// Every text goes into the page through textContent; no string is ever parsed as markup.
(() => {
  const report = JSON.parse(document.getElementById("rows-data").textContent);
  const part = (id) => document.getElementById(id);
  const heads = [...document.querySelectorAll("[data-column]")];
  const STEP = 100;
  let sort = { column: null, falling: false };
  let limit = STEP;

  const make = (name, className, text) => {
    const node = document.createElement(name);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const sign = (x) => (report.signed && x > 0 ? "+" : "");
  const three = (x) => (Math.abs(x) < 0.0005 ? "0.000" : sign(x) + x.toFixed(3));
  const shown = (s) => (!s ? "-" : s.lo < s.hi ? `${three(s.lo)}..${three(s.hi)}` : three(s.value));
  const grade = (c) => (c.lo === c.hi ? String(c.lo) : `${c.lo} to ${c.hi}`);

  function chunk(c) {
    const isOpen = c.lo !== c.hi;
    const item = make("li", isOpen ? "open" : `g${Math.min(c.lo, 3)}`);
    const mock = report.mock && c.source === "judge" ? ` (${report.mock})` : "";
    const why = [c.source ? `by ${c.source}${mock}` : "not graded", c.reason].filter(Boolean).join(": ");
    const title = make("p");
    title.append(make("b", "", `${c.where} grade ${grade(c)}`), make("span", "from", ` ${why}`));
    item.append(title, make("p", "from", c.id));
    if (c.text) {
      const text = make("p", "text", c.text);
      text.dir = "auto";
      item.append(text);
    }
    return item;
  }

  function chunks(row) {
    const tr = make("tr", "opened");
    const td = make("td");
    const list = make("ol", "chunks");
    td.colSpan = heads.length;
    list.append(...row.chunks.map(chunk));
    if (row.error) td.append(make("p", "", `Failed to run: ${row.error}`));
    td.append(row.chunks.length ? list : make("p", "", "An empty list."));
    tr.append(td);
    return tr;
  }

  function line(row) {
    const tr = make("tr");
    const cell = make("td");
    const toggle = make("button", "query", row.query);
    let opened = null;
    toggle.type = "button";
    toggle.dir = "auto";
    toggle.setAttribute("aria-expanded", "false");
    toggle.addEventListener("click", () => {
      if (opened) opened.remove();
      else tr.after(opened = chunks(row));
      const isOpen = opened.isConnected;
      if (!isOpen) opened = null;
      toggle.setAttribute("aria-expanded", String(isOpen));
    });
    cell.append(toggle);
    tr.append(cell, make("td", "", row.slice), ...report.measures.map((m) => make("td", "", shown(row.scores[m]))));
    return tr;
  }

  function value(row, column) {
    if (column === "query" || column === "slice") return row[column].toLowerCase();
    const score = row.scores[column];
    return score ? score.value : -2;
  }

  function chosen() {
    const wanted = part("find").value.toLowerCase();
    const rows = report.rows.filter((row) =>
      (!wanted || `${row.key} ${row.query}`.toLowerCase().includes(wanted)) &&
      (!part("slice").value || row.slice === part("slice").value) &&
      (!part("open").checked || row.open));
    if (sort.column === null) return rows;
    const way = sort.falling ? -1 : 1;
    const compare = (a, b) => (a < b ? -way : a > b ? way : 0);
    return rows.sort((a, b) => compare(value(a, sort.column), value(b, sort.column)));
  }

  function render() {
    const rows = chosen();
    part("rows").replaceChildren(...rows.slice(0, limit).map(line));
    part("shown").textContent = `${Math.min(limit, rows.length)} of ${rows.length} rows`;
    part("more").hidden = rows.length <= limit;
    for (const head of heads) {
      if (head.dataset.column === sort.column) head.setAttribute("aria-sort", sort.falling ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
  }

  for (const head of heads) {
    head.firstElementChild.addEventListener("click", () => {
      const column = head.dataset.column;
      sort = { column, falling: sort.column === column && !sort.falling };
      render();
    });
  }
  for (const id of ["find", "slice", "open"]) part(id).addEventListener("input", () => { limit = STEP; render(); });
  part("controls").addEventListener("submit", (event) => event.preventDefault());
  part("more").addEventListener("click", () => { limit += STEP; render(); });
  render();
})();
