import { bar, el } from "../dom.js";
import { count } from "../format.js";
import { grid } from "../grid.js";

export default {
  id: "tables",
  title: "Tables",
  every: 10000,
  open(context) {
    const table = grid([
      { name: "name", title: "Table", cell: (t) => el("strong", {}, t.name) },
      { name: "user", title: "User" },
      { name: "type", title: "Rule", cell: (t) => t.type || t.kind || "" },
      { name: "key", title: "Key", cell: (t) => t.key || "" },
      { name: "shards", title: "Shards", number: true },
      { name: "nodes", title: "On nodes", wide: true, cell: (t) => spread(t.places) },
      { name: "drawn", title: "Ids drawn", number: true, cell: (t) => (t.sequence ? count(t.sequence.drawn) : "") },
      { name: "detail", title: "More", long: true, cell: (t) => t.detail || "" },
    ], { key: (t) => t.user + "\n" + t.name, order: "name", open: (t) => detail(t), empty: "No table is sharded: everything goes to the default nodes." });
    const defaults = el("div", { class: "facts" });

    async function refresh() {
      const [rules, physical, sequences, keys, indexes] = await Promise.all([context.rows("rules"), context.rows("tables"), context.rows("sequences"), context.rows("keys"), context.rows("indexes")]);
      const kept = Map.groupBy(indexes, (x) => (x.db + "." + x.table).toLowerCase());
      const ids = new Map(sequences.map((s) => [(s.db + "." + s.table).toLowerCase(), s]));
      const met = Map.groupBy(keys, (k) => k.db + "." + k.table);
      const of = Map.groupBy(physical, (p) => JSON.stringify([p.user, p.db, p.table]));
      table.update(rules.filter((r) => r.table !== null).map((r) => ({ ...r, name: r.db + "." + r.table, places: of.get(JSON.stringify([r.user, r.db, r.table])) || [], keys: met.get(r.db + "." + r.table) || [], indexes: kept.get((r.db + "." + r.table).toLowerCase()) || [], sequence: ids.get((r.db + "." + r.table).toLowerCase()) })).map((t) => ({ ...t, drawn: t.sequence?.drawn ?? null })));
      defaults.replaceChildren(...rules.filter((r) => r.table === null).map((r) => el("div", {}, el("span", {}, r.user), el("span", {}, r.nodes))));
    }
    const element = el("div", { class: "detail" }, table.element, el("section", { class: "panel detail" }, el("h2", {}, "Default nodes, for tables without a rule"), defaults));
    return { element, refresh, filter: table.filter };
  },
};

const colours = ["s1", "s2", "s3"];

// spread shows how many shards each node has.
function spread(list) {
  const nodes = [...Map.groupBy(list, (p) => p.node)].sort((a, b) => a[0].localeCompare(b[0], "en", { numeric: true }));
  const text = nodes.map(([name, of]) => `${name}: ${of.length}`).join(", ");
  return el("div", {}, bar(nodes.map(([, of], k) => [colours[k % colours.length], of.length]), list.length, text, "split"), el("span", { class: "dim" }, text));
}

// detail shows the physical tables, the keys over them, the keys with the most statements, and where ids that the table is left come from.
function detail(t) {
  return el("div", { class: "detail" }, places(t.places), t.indexes.length > 0 ? indexed(t.indexes) : null, t.keys.length > 0 ? keys(t.keys) : null, t.sequence ? ids(t.sequence) : null);
}

// keys shows the first keys with their share of the statements of one shard.
function keys(list) {
  const most = 10;
  return el("div", { class: "detail" }, el("h3", {}, "Keys with the most statements"), el("div", { class: "facts" },
    list.slice(0, most).map((k) => el("div", {}, el("span", {}, k.key), el("span", {}, `${(k.share * 100).toFixed(1)} % · ${k.node}${k.pinned ? " · pinned" : ""}`)))));
}

// indexed shows how far keys over all shards are, and what the last verification found.
function indexed(list) {
  const said = (x) => [x.unique === 1 ? "unique" : "", x.state, x.percent !== null ? `${x.percent} %, ${count(x.rows)} rows` : "", x.faults === null ? "" : x.faults === 0 ? "verified" : `${count(x.faults)} faults`];
  return el("div", { class: "detail" }, el("h3", {}, "Keys over shards"), el("div", { class: "facts" },
    list.map((x) => el("div", {}, el("span", {}, x.name), el("span", {}, said(x).filter((text) => text !== "").join(" · "))))));
}

function ids(s) {
  const fact = (name, value) => el("div", {}, el("span", {}, name), el("span", {}, value));
  return el("div", { class: "detail" }, el("h3", {}, "Ids"), el("div", { class: "facts" },
    fact("kind", s.kind), fact("kept by", s.node || "no node yet"), fact("next", s.kind === "snowflake" ? "of the clock" : s.next === null ? "of the next block" : String(s.next)), fact("reserved", count(s.left)),
    fact("drawn", count(s.drawn)), fact(s.kind === "block" ? "blocks" : "leases", count(s.blocks)), fact("there already", count(s.collisions))));
}

function places(list) {
  const most = 200;
  const nodes = [...Map.groupBy(list.slice(0, most), (p) => p.node)];
  return el("div", { class: "detail" },
    nodes.map(([name, of]) => el("div", {}, el("strong", {}, name + " "), el("code", {}, of.map((p) => `${p.shard}: ${p.physical_db}.${p.physical_table}`).join("   ")))),
    list.length > most ? el("p", { class: "dim" }, `and ${list.length - most} more`) : null);
}
