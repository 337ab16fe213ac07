import { el, tag } from "../dom.js";
import { fragments } from "../fragments.js";
import { grid } from "../grid.js";

export default {
  id: "explain",
  title: "Explain",
  every: 0,
  open(context) {
    const parcel = context.parcel;
    const user = el("select", { name: "user", "aria-label": "User" });
    const db = el("input", { name: "db", placeholder: "none", "aria-label": "Database", autocomplete: "off", spellcheck: "false", size: 14 });
    const sql = el("textarea", { name: "sql", rows: 5, "aria-label": "Statement", spellcheck: "false", placeholder: "SELECT * FROM orders WHERE id = 42" });
    const error = el("p", { class: "error", role: "alert" });
    const table = grid([
      { name: "id", title: "Step", number: true },
      { name: "plan", title: "Plan", cell: (s) => tag(s.plan, "") },
      { name: "reason", title: "Why", long: true },
      { name: "node", title: "Node" },
      { name: "shards", title: "Shards", long: true, cell: (s) => (s.shards || "").replaceAll(",", " ") },
      { name: "sql", title: "What the server gets", wide: true, cell: (s) => el("code", {}, s.sql) },
    ], { key: (s) => s.id, empty: "Nothing is run: the box says which servers would get what." });
    const picture = fragments();
    const help = el("p", { class: "panel", hidden: true });
    table.update([]);

    function show(steps) {
      picture.update(steps);
      table.update(steps);
      const advice = steps.map((s) => s.help).filter(Boolean).join("; ");
      help.replaceChildren(el("b", {}, "What would help: "), advice);
      help.hidden = !advice;
    }

    async function run(event) {
      event?.preventDefault();
      error.textContent = "";
      try {
        show((await context.act("explain", { user: user.value, db: db.value, sql: sql.value })).rows);
      } catch (failure) {
        show([]);
        error.textContent = failure.message;
      }
    }
    sql.addEventListener("keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && run(event));
    const form = el("form", { class: "panel grid", on: { submit: run } },
      el("div", { class: "bar" }, el("label", {}, "As user", user), el("label", {}, "Database", db)), sql,
      el("div", { class: "bar" }, el("button", { class: "primary" }, "Explain"), el("span", { class: "dim" }, "A ? stands for any value: put one in its place.")), error);

    async function refresh() {
      if (user.options.length) return;
      const users = [...new Set((await context.rows("rules", { type: "default" })).map((r) => r.user))];
      user.replaceChildren(...users.map((name) => el("option", { value: name }, name)));
      if (parcel) {
        user.value = parcel.user;
        db.value = parcel.db;
        sql.value = parcel.sql;
      }
      sql.focus();
    }
    return { element: el("div", { class: "detail" }, form, help, picture.element, table.element), refresh };
  },
};
