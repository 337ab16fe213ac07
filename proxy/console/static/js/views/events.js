import { el, tag } from "../dom.js";
import { grid } from "../grid.js";

export default {
  id: "events",
  title: "Events",
  every: 2000,
  open(context) {
    const table = grid([
      { name: "at", title: "At", short: true, long: true, sort: (e) => e.id, cell: (e) => e.at.slice(0, 19) },
      { name: "what", title: "What", cell: (e) => el("strong", {}, e.what) },
      { name: "who", title: "Who" },
      { name: "from", title: "From", cell: (e) => e.from || "" },
      { name: "detail", title: "Detail", wide: true, cell: (e) => e.detail || "" },
      { name: "outcome", title: "Outcome", cell: (e) => (e.outcome === "ok" ? tag("ok", "good") : el("span", { class: "error" }, e.outcome)) },
    ], { key: (e) => e.id, order: "-at", empty: "Nothing has changed since the start." });
    return { element: table.element, refresh: async () => table.update(await context.rows("events")), filter: table.filter };
  },
};
