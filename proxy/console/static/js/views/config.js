import { el, tag } from "../dom.js";
import { grid } from "../grid.js";

export default {
  id: "config",
  title: "Configuration",
  every: 0,
  open(context) {
    const table = grid([
      { name: "key", title: "Key", wide: true, cell: (s) => el("code", {}, s.key) },
      { name: "value", title: "In force", long: true, cell: (s) => (s.value ? el("code", {}, s.value) : "") },
      { name: "reloadable", title: "Reload", cell: (s) => (s.reloadable ? "" : tag("needs a restart", "")) },
    ], { key: (s) => s.key });
    const result = el("div", { class: "detail", role: "status" });

    async function post(check) {
      try {
        const changes = (await context.act("reload", { check })).rows;
        result.replaceChildren(difference(changes, check));
      } catch (failure) {
        result.replaceChildren(el("p", { class: "error", role: "alert" }, failure.message));
      }
    }
    async function reload() {
      if (!(await context.ask("Read the file again and bring it into force?"))) return;
      await post(false);
      await refresh();
    }
    async function refresh() {
      table.update(await context.rows("config"));
    }
    const element = el("div", { class: "detail" },
      el("section", { class: "panel detail" },
        el("div", { class: "bar" }, el("h2", {}, "The file"), el("button", { id: "check", on: { click: () => post(true) } }, "Check"),
          el("button", { id: "reload", class: "primary", disabled: !context.may("operate"), on: { click: reload } }, "Reload"),
          el("span", { class: "dim" }, "A check shows what a reload would change, and faults; nothing changes.")),
        result),
      table.element);
    return { element, refresh, filter: table.filter };
  },
};

function difference(changes, check) {
  if (!changes.length) return el("p", {}, check ? "The file says what is in force." : "Reloaded: nothing was different.");
  const table = grid([
    { name: "field", title: "Key", wide: true, cell: (c) => el("code", {}, c.field) },
    { name: "old", title: "Was", long: true, cell: (c) => el("code", { class: "old" }, c.old) },
    { name: "new", title: check ? "Would be" : "Is", long: true, cell: (c) => el("code", { class: "new" }, c.new) },
    { name: "reloadable", title: "Reload", cell: (c) => (c.reloadable ? "" : tag("needs a restart", "bad")) },
  ], { key: (c) => c.field });
  table.update(changes);
  return el("div", { class: "detail" }, el("p", {}, check ? `A reload would change ${changes.length}:` : `Reloaded: ${changes.length} changed.`), table.element);
}
