// A table whose rows come again and again: rows are kept by key, so that focus and selection stay while numbers move.

import { el } from "./dom.js";

const rowsMax = 500;

// grid makes one. Columns: {name, title, number, wide, short, long (on a phone: a line of its own), cell(row) -> text or element, sort(row) -> value, once: made once for
// a row}. Options: key(row), order: a column's name, "-" before it for descending, open(row): detail below a row, empty: a text.
export function grid(columns, options) {
  let order = options.order || "";
  let all = [];
  let filter = "";
  let opened = null;
  const known = new Map();
  const body = el("tbody");
  const more = el("p", { class: "more" });
  const heads = columns.map((c) => {
    const class_ = c.number ? "number" : "";
    if (!c.title) return el("th", { class: class_ });
    const th = el("th", { class: class_ }, el("button", { type: "button", on: { click: () => turn(c) } }, c.title));
    th.dataset.name = c.name;
    return th;
  });
  const element = el("div", { class: "panel" }, el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, heads)), body)), more);

  function turn(column) {
    const down = order === column.name || (order !== "-" + column.name && column.number);
    order = (down ? "-" : "") + column.name;
    show();
  }

  function value(column, row) {
    if (column.sort) return column.sort(row);
    return row[column.name] ?? (column.number ? -Infinity : "");
  }

  function sorted() {
    const down = order.startsWith("-");
    const column = columns.find((c) => c.name === (down ? order.slice(1) : order));
    if (!column) return all;
    const sign = down ? -1 : 1;
    return [...all].sort((a, b) => {
      const x = value(column, a), y = value(column, b);
      return sign * (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true }));
    });
  }

  function make(row) {
    const cells = columns.map((c) => el("td", { class: [c.number && "number", c.wide && "wide", c.short && "short", c.long && "long"].filter(Boolean).join(" "), "data-label": c.title }));
    const tr = el("tr", {}, cells);
    const entry = { tr, cells, shown: [] };
    if (options.open) {
      tr.classList.add("opens");
      tr.tabIndex = 0;
      const toggle = (event) => {
        if (event.type === "keydown" ? event.key !== "Enter" || event.target !== tr : event.target.closest("button")) return;
        opened = opened === options.key(entry.row) ? null : options.key(entry.row);
        show();
      };
      tr.addEventListener("click", toggle);
      tr.addEventListener("keydown", toggle);
    }
    return entry;
  }

  function put(entry, row) {
    entry.row = row;
    columns.forEach((c, k) => {
      if (c.once && entry.shown[k] !== undefined) return;
      const cell = c.cell ? c.cell(row) : (row[c.name] ?? "");
      if (cell instanceof Node) {
        entry.cells[k].replaceChildren(cell);
        entry.shown[k] = cell;
      } else if (entry.shown[k] !== String(cell)) {
        entry.shown[k] = String(cell);
        entry.cells[k].textContent = entry.shown[k];
      }
    });
  }

  function show() {
    const wanted = sorted().filter((row) => !filter || Object.values(row).some((v) => String(v ?? "").toLowerCase().includes(filter)));
    const list = [];
    const seen = new Set();
    for (const row of wanted.slice(0, rowsMax)) {
      const key = options.key(row);
      if (seen.has(key)) continue;
      seen.add(key);
      let entry = known.get(key);
      if (!entry) known.set(key, (entry = make(row)));
      put(entry, row);
      list.push(entry.tr);
      entry.tr.classList.toggle("open", key === opened);
      if (key === opened) list.push(el("tr", { class: "detail-row" }, el("td", { class: "wide", colspan: columns.length }, options.open(row))));
    }
    for (const key of known.keys()) if (!seen.has(key)) known.delete(key);
    for (const th of heads) {
      const name = th.dataset.name;
      if (name && (order === name || order === "-" + name)) th.setAttribute("aria-sort", order.startsWith("-") ? "descending" : "ascending");
      else if (name) th.setAttribute("aria-sort", "none");
    }
    place(list);
    more.textContent = wanted.length > rowsMax ? `${wanted.length - rowsMax} more rows: filter to see them` : wanted.length ? "" : filter && all.length ? "Nothing matches the filter." : options.empty || "Nothing here.";
  }

  // place moves only rows that are elsewhere, as moving one takes its focus away.
  function place(list) {
    const keep = new Set(list);
    for (const tr of [...body.children]) if (!keep.has(tr)) tr.remove();
    list.forEach((tr, k) => {
      if (body.children[k] !== tr) body.insertBefore(tr, body.children[k] || null);
    });
  }

  return {
    element,
    update(rows) {
      all = rows;
      show();
    },
    filter(text) {
      filter = text.trim().toLowerCase();
      show();
    },
  };
}
