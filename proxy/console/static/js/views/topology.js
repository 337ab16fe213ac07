import { bar, el, tag } from "../dom.js";
import { bytes, count, millis } from "../format.js";

export default {
  id: "topology",
  title: "Topology",
  every: 2000,
  open(context) {
    const element = el("div", { class: "cards" });
    let text = "", before = "";

    async function refresh() {
      const [nodes, pools] = await Promise.all([context.rows("nodes"), context.rows("pools")]);
      const byName = Map.groupBy(nodes.filter((i) => matches(i, text)), (i) => i.node);
      const seen = JSON.stringify([nodes.map((i) => ({ ...i, answered: "" })), pools, text]);
      if (seen === before) return; // so that focus stays
      before = seen;
      element.replaceChildren(...[...byName].map(([name, instances]) => node(context, name, instances, pools)));
    }
    return {
      element,
      refresh,
      filter(t) {
        text = t.trim().toLowerCase();
        refresh();
      },
    };
  },
};

const matches = (i, text) => !text || Object.values(i).some((v) => String(v ?? "").toLowerCase().includes(text));

function node(context, name, instances, pools) {
  const up = instances.filter((i) => i.state !== "down").length;
  const kind = up === instances.length ? "good" : instances.some((i) => i.role === "primary" && i.state === "down") ? "bad" : "warn";
  return el("section", { class: "panel", "aria-label": "Node " + name },
    el("div", { class: "bar" }, el("h2", {}, name), tag(`${up} of ${instances.length} in use`, kind)),
    instances.map((i) => instance(context, i, pools.find((p) => p.node === i.node && p.instance === i.instance && p.role === i.role))));
}

function instance(context, i, pool) {
  const state = { up: "good", down: "bad" }[i.state] || "warn";
  const hold = (down) =>
    context.change(
      down ? `Take ${i.role} ${i.instance} of node ${i.node} out of use, until it is taken up again?` : `Use ${i.role} ${i.instance} of node ${i.node} again, as its health allows?`,
      `${i.instance} is ${down ? "held down" : "no longer held down"}.`,
      () => context.act(`nodes/${encodeURIComponent(i.node)}/${down ? "down" : "up"}`, { instance: i.instance }),
    );
  const button = i.held_down
    ? el("button", { class: "small push", on: { click: () => hold(false) } }, "Take up")
    : el("button", { class: "small danger push", on: { click: () => hold(true) } }, "Take down");
  const fact = (name, value) => (value === null || value === undefined || value === "" ? null : el("div", {}, el("span", {}, name), el("span", {}, String(value))));
  const use = `${pool.in_use} in use, ${pool.idle} idle, ${pool.max} at most` + (pool.in_use_max < pool.max ? `, ${pool.in_use_max} in use at most` : "");
  return el("div", { class: "instance" },
    el("div", { class: "bar" }, tag(i.state, state), i.held_down ? tag("held down", "warn") : null, i.passed_over ? tag("behind", "warn") : null, i.withheld ? tag("withheld: " + i.withheld, "warn") : null, i.health !== i.state ? tag("probes: " + i.health, "") : null,
      el("span", { class: "dim" }, i.role), context.may("operate") ? button : null),
    el("div", { class: "address" }, i.instance),
    el("div", { class: "pool" }, el("div", { class: "dim" }, "Pool: " + use), bar([["s2", pool.in_use], ["s1", pool.idle]], pool.max, use)),
    el("div", { class: "facts" },
      fact("version", i.version), fact("weight", i.role === "replica" ? i.weight : ""), fact("zone", i.zone), fact("lag", i.lag === null ? null : i.lag + " s"), fact("waiting", pool.waiting),
      fact("statements", count(i.statements)), fact("failed", count(i.errors)), fact("mean", i.statements ? millis(i.busy_ms / i.statements) : ""), fact("answers", bytes(i.bytes)),
      fact("borrowed", count(pool.gets)), fact("dialled", count(pool.dialled)), fact("had to wait", count(pool.waited)),
      fact("mean wait", pool.waited ? millis(pool.wait_microseconds / 1000 / pool.waited) : ""), fact("timed out", count(pool.timed_out)), fact("dial failures", count(pool.dial_failures))));
}
