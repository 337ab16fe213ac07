import { el, tag } from "../dom.js";
import { count, seconds } from "../format.js";
import { grid } from "../grid.js";

export default {
  id: "sessions",
  title: "Sessions",
  every: 1000,
  open(context) {
    const pins = el("div", { class: "tags" });
    const columns = [
      { name: "id", title: "Id", number: true },
      { name: "user", title: "User" },
      { name: "host", title: "From", short: true },
      { name: "db", title: "Database" },
      { name: "command", title: "Command", short: true },
      { name: "seconds", title: "For", number: true, cell: (s) => seconds(s.seconds) },
      { name: "age", title: "Age", number: true, cell: (s) => seconds(s.age) },
      { name: "in_transaction", title: "Transaction", cell: (s) => (s.in_transaction ? "open" : "") },
      { name: "pins", title: "Pinned by", cell: (s) => (s.pins ? el("span", { class: "tags" }, s.pins.split(",").map((p) => tag(p, "warn"))) : "") },
      { name: "instance", title: "Holds", long: true, cell: (s) => s.instance || "" },
      { name: "Info", title: "Statement", wide: true, cell: (s) => (s.Info ? el("code", {}, s.Info) : "") },
    ];
    if (context.may("operate")) columns.push({ name: "", once: true, cell: (s) => actions(context, s) });
    const table = grid(columns, { key: (s) => s.id, order: "-seconds", empty: "No client is connected." });

    async function refresh() {
      const [sessions, list, reasons] = await Promise.all([context.rows("sessions"), context.rows("processlist"), context.rows("pins")]);
      const info = new Map(list.map((p) => [p.Id, p.Info]));
      table.update(sessions.map((s) => ({ ...s, Info: s.command === "Sleep" ? "" : info.get(s.id) })));
      const told = reasons.filter((r) => r.sessions || r.total);
      pins.replaceChildren(...(told.length ? told.map((r) => tag(`${r.reason}: ${r.sessions} now, ${count(r.total)} in all`, r.sessions ? "warn" : "")) : [el("span", { class: "dim" }, "No session has been pinned to a connection.")]));
    }
    const element = el("div", { class: "detail" }, el("section", { class: "panel detail" }, el("h2", {}, "Why sessions keep a connection"), pins), table.element);
    return { element, refresh, filter: table.filter };
  },
};

function actions(context, s) {
  const kill = (query) =>
    context.change(
      query ? `End the statement of session ${s.id} (${s.user})?` : `End session ${s.id} (${s.user} from ${s.host})?`,
      query ? `The statement of session ${s.id} was told to end.` : `Session ${s.id} was told to end.`,
      () => context.act(`sessions/${s.id}/kill`, { query }),
    );
  return el("span", { class: "row" },
    el("button", { class: "small", title: "End its statement only", on: { click: () => kill(true) } }, "Stop"),
    el("button", { class: "small danger", title: "End the session", "data-kill": s.id, on: { click: () => kill(false) } }, "Kill"));
}
