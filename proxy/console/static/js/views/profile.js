import { el } from "../dom.js";
import { flame, own } from "../flame.js";
import { millis } from "../format.js";
import { grid } from "../grid.js";

export default {
  id: "profile",
  title: "Profile",
  every: 0,
  open(context) {
    if (!context.may("admin")) return { element: el("p", { class: "panel" }, "A profile needs the rights admin.") };
    const length = el("input", { type: "number", min: 1, max: 60, value: 5, "aria-label": "Seconds" });
    const take = el("button", { class: "primary", id: "take" }, "Take a CPU profile");
    const past = el("button", { type: "button", id: "past", hidden: true });
    const said = el("span", { class: "dim", role: "status" });
    const graph = flame();
    const table = grid([
      { name: "name", title: "Function", wide: true, cell: (f) => el("code", {}, f.name) },
      { name: "own", title: "In itself", number: true, cell: (f) => millis(f.own / 1e6) },
      { name: "value", title: "With what it calls", number: true, cell: (f) => millis(f.value / 1e6) },
    ], { key: (f) => f.name, order: "-own" });
    const result = el("div", { class: "detail" });
    const form = el("form", { class: "panel bar" }, el("label", {}, "for", length, "seconds"), take, past, said);
    const show = async (wanted) => {
      take.disabled = past.disabled = true;
      try {
        const { root, seconds } = await context.act("profile", wanted);
        said.textContent = `${millis(root.value / 1e6)} of CPU time in ${seconds.toFixed(1)} s: ${((root.value / 1e7) / seconds).toFixed(1)} % of one core.`;
        result.replaceChildren(graph.element, table.element);
        graph.update(root);
        table.update(own(root));
      } catch (failure) {
        said.textContent = failure.message;
      }
      take.disabled = past.disabled = false;
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      said.textContent = "The proxy is being watched …";
      show({ seconds: Number(length.value) });
    });
    // What went by can be seen where continuous_profile keeps it.
    const lastSeconds = 60;
    past.textContent = `Of the last ${lastSeconds} seconds`;
    past.addEventListener("click", () => show({ seconds: lastSeconds, last: true }));
    context.rows("status").then(
      (rows) => (past.hidden = rows.some((r) => r.Variable_name === "Continuous_profile" && r.Value === "0s")),
      () => {},
    );
    const filter = (text) => {
      graph.filter(text);
      table.filter(text);
    };
    return { element: el("div", { class: "detail" }, form, result), filter };
  },
};
