// A flame graph with its root on top; a click shows a function and what it calls over the whole width.

import { el, svg } from "./dom.js";
import { millis } from "./format.js";

const rowHeight = 18;
const widthMin = 1.2; // narrower frames are left out

// flame draws a tree of {name, value, children}; value is in nanoseconds.
export function flame() {
  const drawing = svg("svg", { role: "img", "aria-label": "Flame graph" });
  const readout = el("p", { class: "readout code" });
  const back = el("button", { class: "small", on: { click: () => zoom(root) } }, "Whole profile");
  const element = el("div", { class: "panel flame detail" }, el("div", { class: "bar" }, el("h2", {}, "Flame graph"), back), readout, drawing);
  let root = null, focus = null, match = "";
  new ResizeObserver(() => draw()).observe(element);

  function zoom(frame) {
    focus = frame;
    draw();
  }

  function describe(frame) {
    return `${frame.name}  ${millis(frame.value / 1e6)}, ${((frame.value / root.value) * 100).toFixed(1)} %`;
  }

  function draw() {
    if (!root) return;
    const width = drawing.clientWidth;
    const parts = [];
    let depthMax = 0;
    const add = (frame, x, w, depth) => {
      if (w < widthMin) return;
      depthMax = Math.max(depthMax, depth);
      const hit = match && frame.name.toLowerCase().includes(match);
      const rect = svg("rect", { class: hit ? "hit" : colour(frame.name), x, y: depth * rowHeight, width: w, height: rowHeight - 1, rx: 2, tabindex: depth < 40 ? 0 : undefined });
      rect.append(svg("title", {}, describe(frame)));
      rect.addEventListener("click", () => zoom(frame));
      rect.addEventListener("keydown", (event) => event.key === "Enter" && zoom(frame));
      for (const event of ["pointerenter", "focus"]) rect.addEventListener(event, () => (readout.textContent = describe(frame)));
      parts.push(rect);
      const letters = Math.floor((w - 6) / 6.4);
      if (letters > 2) parts.push(svg("text", { x: x + 3, y: depth * rowHeight + 12.5 }, shorten(frame.name, letters)));
      let at = x;
      for (const child of frame.children || []) {
        const share = frame.value ? (child.value / frame.value) * w : 0;
        add(child, at, share, depth + 1);
        at += share;
      }
    };
    add(focus, 0, width, 0);
    const height = (depthMax + 1) * rowHeight;
    drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    drawing.setAttribute("height", height);
    drawing.replaceChildren(...parts);
    back.disabled = focus === root;
  }

  return {
    element,
    update(tree) {
      root = focus = tree;
      readout.textContent = describe(root);
      draw();
    },
    filter(text) {
      match = text.trim().toLowerCase();
      draw();
    },
  };
}

// colour sets the proxy's own functions apart from the rest.
function colour(name) {
  if (name.startsWith("kingshard/") || name.startsWith("main.")) return "h" + (hash(name) % 4);
  return "h4";
}

function hash(text) {
  let h = 7;
  for (const c of text) h = (h * 31 + c.codePointAt(0)) >>> 0;
  return h;
}

function shorten(name, letters) {
  const short = name.slice(name.lastIndexOf("/") + 1);
  return short.length <= letters ? short : short.slice(0, letters - 1) + "…";
}

// own lists functions by the time spent in themselves: {name, own, value}.
export function own(root) {
  const functions = new Map();
  const walk = (frame, above) => {
    const called = (frame.children || []).reduce((sum, c) => sum + c.value, 0);
    const f = functions.get(frame.name) || { name: frame.name, own: 0, value: 0 };
    f.own += frame.value - called;
    if (!above.has(frame.name)) f.value += frame.value;
    functions.set(frame.name, f);
    const fresh = !above.has(frame.name);
    if (fresh) above.add(frame.name);
    for (const c of frame.children || []) walk(c, above);
    if (fresh) above.delete(frame.name);
  };
  for (const c of root.children || []) walk(c, new Set());
  return [...functions.values()];
}
