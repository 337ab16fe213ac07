import { chart } from "../chart.js";
import { el } from "../dom.js";
import { count, millis, seconds, significant } from "../format.js";

const samplesMax = 600;

export default {
  id: "overview",
  title: "Overview",
  every: 1000,
  open(context) {
    let samples = [];
    const perSecond = (n) => (n >= 10000 ? count(n) : significant(n));
    const charts = [
      chart("Commands per second", [{ title: "commands", class: "s1", value: (s) => s.commands }], perSecond),
      chart("Latency of queries", [
        { title: "p50", class: "s1", value: (s) => s.p50 },
        { title: "p95", class: "s2", value: (s) => s.p95 },
        { title: "p99", class: "s3", value: (s) => s.p99 },
      ], millis),
      chart("Errors per second", [
        { title: "client", class: "s1", value: (s) => s.errors_client },
        { title: "proxy", class: "s2", value: (s) => s.errors_proxy },
        { title: "backend", class: "s3", value: (s) => s.errors_backend },
      ], perSecond),
      chart("Where the mean time goes", [
        { title: "backend", class: "s1", value: (s) => s.backend },
        { title: "pool wait", class: "s2", value: (s) => s.pool_wait },
        { title: "proxy", class: "s3", value: (s) => s.proxy },
      ], millis, true),
      chart("Clients and connections", [
        { title: "sessions", class: "s1", value: (s) => s.sessions },
        { title: "connections in use", class: "s2", value: (s) => s.in_use },
        { title: "waiting for one", class: "s3", value: (s) => s.waiting },
      ], count),
      chart("Bytes of rows per second", [{ title: "bytes", class: "s1", value: (s) => s.bytes }], count),
    ];
    const tile = (title) => {
      const value = el("div", { class: "value" }, "–");
      return { value, element: el("div", { class: "panel tile" }, el("div", { class: "dim" }, title), value) };
    };
    const tiles = {
      commands: tile("Commands per second"), p99: tile("p99"), errors: tile("Errors per second"),
      sessions: tile("Sessions"), down: tile("Instances down"), uptime: tile("Up for"),
    };
    for (const [name, t] of Object.entries(tiles)) t.value.id = "tile-" + name;

    async function refresh() {
      const wanted = samples.length ? 5 + Math.ceil((Date.now() - fetched) / 1000) : samplesMax;
      const [latest, status] = await Promise.all([
        context.rows("history", { order: "-id", limit: Math.min(samplesMax, wanted) }),
        context.rows("status"),
      ]);
      fetched = Date.now();
      const last = samples.length ? samples.at(-1).id : 0;
      if (latest.length && latest[0].id < last) samples = []; // another process
      const newest = samples.length ? samples.at(-1).id : 0;
      samples = [...samples, ...latest.reverse().filter((s) => s.id > newest)].slice(-samplesMax);
      for (const c of charts) c.update(samples);
      const now = samples.at(-1);
      const state = Object.fromEntries(status.map((r) => [r.Variable_name, r.Value]));
      if (now) {
        const errors = now.errors_client + now.errors_proxy + now.errors_backend;
        tiles.commands.value.textContent = perSecond(now.commands);
        tiles.p99.value.textContent = millis(now.p99);
        tiles.errors.value.textContent = perSecond(errors);
        tiles.errors.value.classList.toggle("bad", errors > 0);
      }
      tiles.sessions.value.textContent = state.Sessions;
      tiles.down.value.textContent = state.Instances_down;
      tiles.down.value.classList.toggle("bad", state.Instances_down !== "0");
      tiles.uptime.value.textContent = seconds(Number(state.Uptime));
    }
    let fetched = 0;
    const element = el("div", { class: "detail" },
      el("div", { class: "tiles" }, Object.values(tiles).map((t) => t.element)), el("div", { class: "charts" }, charts.map((c) => c.element)));
    return { element, refresh };
  },
};
