// Lines over time, drawn as SVG.

import { el, svg } from "./dom.js";
import { clock } from "./format.js";

const height = 150, left = 48, right = 6, top = 8, bottom = 18;
const spans = [60, 120, 300, 600]; // seconds

// chart makes one: series are [{title, class, value(sample)}], three at most; show formats values. With stacked each series stands on
// the one before.
export function chart(title, series, show, stacked) {
  let samples = [];
  let at = null; // the sample pointed at
  let span = spans[0];
  const values = series.map(() => el("b", {}));
  const when = el("span", {});
  const legend = el("div", { class: "legend" }, series.map((s, k) => el("span", {}, el("i", { class: s.class }), s.title + " ", values[k])), when);
  const drawing = svg("svg", { role: "img", "aria-label": title });
  const element = el("div", { class: "panel chart" }, el("h2", {}, title), legend, drawing);

  drawing.addEventListener("pointermove", (event) => {
    const box = drawing.getBoundingClientRect();
    const share = (event.clientX - box.left - left) / (box.width - left - right);
    const id = samples.length ? samples.at(-1).id - Math.round((1 - share) * span) : 0;
    at = samples.find((s) => s.id >= id) || null;
    draw();
  });
  drawing.addEventListener("pointerleave", () => {
    at = null;
    draw();
  });
  new ResizeObserver(() => draw()).observe(drawing);

  function draw() {
    const width = drawing.clientWidth;
    if (!width) return;
    drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    span = spans.find((s) => s >= samples.length) || spans.at(-1);
    const last = samples.length ? samples.at(-1).id : 0;
    const x = (s) => left + (width - left - right) * (1 - (last - s.id) / span);
    const stacks = samples.map((s) => {
      let sum = 0;
      return series.map((one) => {
        const v = one.value(s) || 0;
        sum += v;
        return stacked ? sum : v;
      });
    });
    const most = nice(Math.max(0, ...stacks.map((v) => Math.max(...v))));
    const y = (v) => top + (height - top - bottom) * (1 - v / most);
    const parts = [];
    for (const share of [0, 0.5, 1]) {
      const line = y(most * share);
      parts.push(svg("line", { class: "grid", x1: left, x2: width - right, y1: line, y2: line }));
      parts.push(svg("text", { x: left - 5, y: line + 4, "text-anchor": "end" }, show(most * share)));
    }
    for (let back = span; back >= 0; back -= span / 2) {
      const place = left + (width - left - right) * (1 - back / span);
      const label = back >= 60 ? `−${back / 60} min` : back ? `−${back} s` : "now";
      parts.push(svg("text", { x: place, y: height - 4, "text-anchor": back === span ? "start" : back ? "middle" : "end" }, label));
    }
    for (let k = series.length - 1; k >= 0; k--) {
      if (!samples.length) break;
      const points = samples.map((s, n) => `${x(s).toFixed(1)},${y(stacks[n][k]).toFixed(1)}`);
      if (stacked) {
        const under = k ? samples.map((s, n) => `${x(s).toFixed(1)},${y(stacks[n][k - 1]).toFixed(1)}`).reverse() : [`${x(samples.at(-1))},${y(0)}`, `${x(samples[0])},${y(0)}`];
        parts.push(svg("polygon", { class: "fill area " + series[k].class, points: [...points, ...under].join(" ") }));
      } else {
        parts.push(svg("polyline", { class: "line " + series[k].class, points: points.join(" ") }));
      }
    }
    const shown = at || samples.at(-1);
    if (at) parts.push(svg("line", { class: "cross", x1: x(at), x2: x(at), y1: top, y2: height - bottom }));
    drawing.replaceChildren(...parts);
    series.forEach((one, k) => (values[k].textContent = shown ? show(one.value(shown) || 0) : ""));
    when.textContent = at ? "at " + clock(at.at) : "";
  }

  return {
    element,
    update(list) {
      samples = list;
      if (at) at = samples.find((s) => s.id === at.id) || null;
      draw();
    },
  };
}

// nice is the next of 1, 2, 5 times a power of ten.
function nice(v) {
  if (v <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(v));
  for (const step of [1, 2, 5, 10]) if (v <= step * power) return step * power;
  return v;
}
