import { el, tag } from "../dom.js";
import { seconds } from "../format.js";
import { grid } from "../grid.js";

export default {
  id: "transactions",
  title: "Transactions",
  every: 2000,
  open(context) {
    const operates = context.may("operate");
    const columns = [
      { name: "gtrid", title: "Transaction", long: true, cell: (t) => el("code", {}, t.gtrid) },
      { name: "state", title: "State", cell: (t) => tag(t.state, t.state === "prepared" ? "warn" : "good") },
      { name: "nodes", title: "On nodes", wide: true },
      { name: "decides", title: "Decided by" },
      { name: "proxy", title: "Of proxy", cell: (t) => (t.own ? "this one" : t.proxy) },
      { name: "seconds", title: "For", number: true, cell: (t) => seconds(t.seconds) },
      { name: "waits_for", title: "Waits for", wide: true, cell: (t) => t.waits_for || "" },
    ];
    if (operates) columns.push({ name: "", once: true, cell: (t) => (t.state === "prepared" ? decide(context, t) : "") });
    const transactions = grid(columns, { key: (t) => t.gtrid + " " + t.nodes, order: "-seconds", empty: "No transaction over several nodes is being committed, and none is in doubt." });
    const found = [
      { name: "id", title: "Id", number: true },
      { name: "at", title: "At", short: true, cell: (i) => i.at.slice(0, 19) },
      { name: "what", title: "What", wide: true, cell: (i) => el("span", {}, tag(i.kind, "bad"), " " + i.what + (i.detail ? ": " + i.detail : "")) },
      { name: "node", title: "Node", cell: (i) => i.node || "" },
      { name: "gtrid", title: "Transaction", long: true, cell: (i) => el("code", {}, i.gtrid || "") },
    ];
    if (operates) found.push({ name: "", once: true, cell: (i) => close(context, i) });
    const incidents = grid(found, { key: (i) => i.id, order: "-id", empty: "No incident is open." });

    async function refresh() {
      const [list, open] = await Promise.all([context.rows("transactions"), context.rows("incidents")]);
      transactions.update(list);
      incidents.update(open);
    }
    const element = el("div", { class: "detail" }, transactions.element, el("section", { class: "panel detail" }, el("h2", {}, "Incidents"), incidents.element));
    const filter = (text) => [transactions, incidents].forEach((g) => g.filter(text));
    return { element, refresh, filter };
  },
};

// decide offers to end a branch whose node with the decision is lost. What that node says against it, the proxy refuses.
function decide(context, t) {
  const button = (as, text) => el("button", { class: "small danger", "data-as": as, on: { click: () => context.change(
    `${text} what is prepared of ${t.gtrid} on all nodes? Only if ${t.decides}, which decides it, is lost for good.`, `It was told to: ${t.gtrid}.`,
    () => context.act(`transactions/${t.gtrid}/resolve`, { as })) } }, text);
  return el("span", { class: "row" }, button("commit", "Commit"), button("rollback", "Roll back"));
}

function close(context, i) {
  return el("button", { class: "small", "data-close": i.id, on: { click: () => context.change(
    `Close incident ${i.id}? Its rows must be mended.`, `Incident ${i.id} is closed.`, () => context.act(`incidents/${i.id}/forget`)) } }, "Close");
}
