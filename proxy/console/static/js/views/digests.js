import { bar, el, tag } from "../dom.js";
import { bytes, count, millis } from "../format.js";
import { grid } from "../grid.js";

// parts are those of a digest's whole time; the split is by sums.
function parts(d) {
  const proxy = Math.max(0, d.total_sum - d.backend_sum - d.wait_sum);
  return [["s1", d.backend_sum, "backend"], ["s2", d.wait_sum, "pool wait"], ["s3", proxy, "proxy"]];
}

function split(d) {
  const title = parts(d).map(([, value, name]) => `${name} ${millis(value)}`).join(", ");
  return bar(parts(d), d.total_sum, title, "split");
}

export default {
  id: "digests",
  title: "Statements",
  every: 2000,
  open(context) {
    const table = grid([
      { name: "statement", title: "Statement", wide: true, cell: (d) => (d.statement ? el("code", {}, d.statement) : el("span", { class: "dim" }, "all that have no row of their own")), once: true },
      { name: "user", title: "User" },
      { name: "db", title: "Database" },
      { name: "plan", title: "Plan", cell: (d) => tag(d.plan, { forward: "good", local: "good", refuse: "bad", merge: "", write: "" }[d.plan] ?? "warn") },
      { name: "count", title: "Count", number: true, cell: (d) => count(d.count) },
      { name: "errors", title: "Errors", number: true, cell: (d) => (d.errors ? count(d.errors) : "") },
      { name: "moved_bytes", title: "Moved", number: true, cell: (d) => (d.moved_bytes ? bytes(d.moved_bytes) : "") },
      { name: "total_sum", title: "Total", number: true, cell: (d) => millis(d.total_sum) },
      { name: "total_mean", title: "Mean", number: true, cell: (d) => millis(d.total_mean) },
      { name: "total_p95", title: "p95", number: true, cell: (d) => millis(d.total_p95) },
      { name: "total_p99", title: "p99", number: true, cell: (d) => millis(d.total_p99) },
      { name: "split", title: "Time", cell: split, sort: (d) => d.backend_sum / (d.total_sum || 1) },
    ], { key: (d) => JSON.stringify([d.user, d.db, d.statement]), order: "-total_sum", open: (d) => detail(context, d), empty: "No statement has run yet, or statistics are off (digests: 0)." });
    const reset = el("button", { class: "push danger", on: { click: () => context.change("Forget the statistics of all statements?", "The statistics begin anew.", () => context.act("digests/reset")) } }, "Reset");
    const element = el("div", { class: "detail" },
      el("div", { class: "bar" },
        el("span", {}, el("i", { class: "key s1" }), "backend"), el("span", {}, el("i", { class: "key s2" }), "pool wait"), el("span", {}, el("i", { class: "key s3" }), "proxy"),
        context.may("operate") ? reset : null),
      table.element);
    return { element, refresh: async () => table.update(await context.rows("digests")), filter: table.filter };
  },
};

function detail(context, d) {
  const fact = (name, value) => el("div", {}, el("span", {}, name), el("span", {}, value));
  const times = (prefix) => ["min", "p50", "mean", "p95", "p99", "max"].map((n) => fact(n, millis(d[prefix + n])));
  return el("div", { class: "detail" },
    el("h3", {}, "Whole time"), el("div", { class: "facts" }, times("total_")),
    el("h3", {}, "With the backend"), el("div", { class: "facts" }, times("backend_")),
    el("h3", {}, "Where the time went"), el("div", { class: "facts" }, parts(d).map(([, value, name]) => fact(name, `${millis(value)} · ${((value / (d.total_sum || 1)) * 100).toFixed(0)} %`))),
    el("h3", {}, "Otherwise"), el("div", { class: "facts" },
      fact("rows for each", count(d.rows / d.count)), fact("bytes for each", bytes(d.bytes / d.count)), fact("shards for each", count(d.shards / d.count)),
      fact("rows moved for each", count(d.moved_rows / d.count)), fact("bytes moved for each", bytes(d.moved_bytes / d.count)),
      fact("first", d.first_seen.slice(0, 19)), fact("last", d.last_seen.slice(0, 19))),
    d.statement ? el("div", { class: "bar" }, el("button", { on: { click: () => context.go("explain", { user: d.user, db: d.db || "", sql: d.statement }) } }, "To the explain box")) : null);
}
