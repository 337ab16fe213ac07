// A picture of a plan: what shards get at the left, the temporary tables that their rows flow into, and at the right the statement that ends it, or what the
// proxy does with the answers. A click on a fragment shows its text.

import { el, svg } from "./dom.js";

const boxHeight = 42;
const gap = 8;
const hues = 4;

// ends tells what becomes of the answers, by plan, where no server ends the statement.
const ends = {
  forward: ["client", "gets the answer"],
  merge: ["proxy", "merges the rows"],
  transfer: ["proxy", "inserts the rows"],
  pick: ["proxy", "changes the rows"],
};

export function fragments() {
  const drawing = svg("svg", { role: "group", "aria-label": "Picture of the plan" });
  const text = el("div", { class: "detail" });
  const element = el("div", { class: "panel fragments detail", hidden: true }, drawing, text);
  let steps = [], picked = null, drawn = 0;
  new ResizeObserver(() => element.clientWidth !== drawn && draw()).observe(element);

  function pick(step) {
    picked = picked === step ? null : step;
    draw();
  }

  function draw() {
    drawn = element.clientWidth;
    const width = drawing.clientWidth;
    if (!steps.length || !width) return;
    const final = steps.find((s) => s.plan === "finish");
    const sources = steps.filter((s) => s !== final);
    const scratches = [...new Set(sources.map((s) => s.scratch).filter(Boolean))];
    const columns = scratches.length ? 3 : 2;
    const channel = Math.max(18, Math.min(110, width * 0.08));
    const room = width - 2 - channel * (columns - 1);
    const share = columns === 3 ? [0.46, 0.24, 0.3] : [0.58, 0.42];
    const widths = share.map((s) => room * s);
    const xs = widths.map((w, k) => 1 + k * channel + widths.slice(0, k).reduce((a, b) => a + b, 0));
    const nodes = [...new Set(steps.map((s) => s.node).filter(Boolean))];
    const boxes = [], arrows = [];

    const box = (column, middle, title, line, options) => {
      const step = options.step;
      const x = xs[column], y = middle - boxHeight / 2, w = widths[column];
      const g = svg("g", { class: [step ? "fragment" : "station", step && step === picked && "picked", options.aside && "aside"].filter(Boolean).join(" ") },
        svg("title", {}, title + "\n" + line),
        svg("rect", { x, y, width: w, height: boxHeight, rx: 6 }));
      if (options.node) g.append(svg("rect", { class: "node n" + (nodes.indexOf(options.node) % hues), x, y: y + 4, width: 4, height: boxHeight - 8, rx: 2 }));
      g.append(svg("text", { class: "name", x: x + 10, y: y + 17, "data-room": w - 16 }, title), svg("text", { x: x + 10, y: y + 33, "data-room": w - 16 }, line));
      if (step) {
        g.setAttribute("tabindex", 0);
        g.setAttribute("role", "button");
        g.setAttribute("aria-pressed", String(step === picked));
        g.addEventListener("click", () => pick(step));
        g.addEventListener("keydown", (event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), pick(step)));
      }
      boxes.push(g);
    };
    const arrow = (from, y1, to, y2, aside) => {
      const x1 = xs[from] + widths[from] + 1, x2 = xs[to] - 1, bend = (x2 - x1) / 2;
      arrows.push(svg("path", { class: aside ? "arrow aside" : "arrow", d: `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2 - 5} ${y2}` }),
        svg("path", { class: "head", d: `M${x2} ${y2} l-7 -3.5 v7 z` }));
    };

    const middles = sources.map((_, k) => 1 + k * (boxHeight + gap) + boxHeight / 2);
    const height = Math.max(1, sources.length) * (boxHeight + gap) - gap + 2;
    const end = height / 2;
    const aside = (s) => s.plan === "lookup" || s.plan === "index";
    sources.forEach((s, k) => box(0, middles[k], s.node ? s.node + " · " + s.plan : s.plan, tables(s), { step: s, node: s.node, aside: aside(s) }));
    for (const name of scratches) {
      const own = sources.map((s, k) => (s.scratch === name ? middles[k] : 0)).filter(Boolean);
      const middle = (own[0] + own[own.length - 1]) / 2;
      box(1, middle, name, own.length + (own.length > 1 ? " gathers" : " gather"), {});
      own.forEach((y) => arrow(0, y, 1, middle));
      arrow(1, middle, columns - 1, end);
    }
    sources.forEach((s, k) => !s.scratch && arrow(0, middles[k], columns - 1, end, aside(s)));
    const [title, line] = ends[sources[0]?.plan === "lookup" ? sources[sources.length - 1].plan : sources[0]?.plan] || ["proxy", "adds up the answers"];
    if (final) box(columns - 1, end, final.node + " · finish", "statement", { step: final, node: final.node });
    else box(columns - 1, end, title, line, {});

    drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    drawing.setAttribute("height", height);
    const had = drawing.contains(document.activeElement) ? [...drawing.querySelectorAll(".fragment")].indexOf(document.activeElement) : -1;
    drawing.replaceChildren(...arrows, ...boxes);
    for (const t of drawing.querySelectorAll("[data-room]")) fit(t, Number(t.dataset.room));
    if (had >= 0) drawing.querySelectorAll(".fragment")[had]?.focus();
    text.replaceChildren(...(picked ? [el("p", {}, el("b", {}, [picked.node, picked.plan].filter(Boolean).join(" · ")), " ", (picked.shards || "").replaceAll(",", ", ")), el("code", {}, picked.sql)] :
      [el("p", { class: "dim" }, "A click on a box shows what the server gets.")]));
  }

  return {
    element,
    update(list) {
      steps = list;
      picked = null;
      element.hidden = !steps.length;
      drawn = 0;
      draw();
    },
  };
}

// tables names the physical tables of a step, their database left out where all have one.
function tables(step) {
  const list = (step.shards || "").split(",").filter(Boolean);
  const db = list[0]?.slice(0, list[0].indexOf(".") + 1);
  const short = db && list.every((name) => name.startsWith(db)) ? list.map((name) => name.slice(db.length)) : list;
  if (!short.length) return step.sql ? "the statement" : "";
  return (short.length > 1 ? short.length + ": " : "") + short.join(", ");
}

// fit shortens a text to the room that it has.
function fit(element, room) {
  const whole = element.textContent;
  let letters = whole.length;
  while (letters > 1 && element.getComputedTextLength() > room) {
    letters = Math.min(letters - 1, Math.floor((letters * room) / element.getComputedTextLength()));
    element.textContent = whole.slice(0, Math.max(1, letters)) + "…";
  }
}
