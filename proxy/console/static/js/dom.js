// Elements are made here and nowhere else: texts become text nodes, never markup.

const svgNames = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") {
      for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.flat().filter((c) => c !== null && c !== undefined));
  return element;
}

// el makes an element; attributes may hold on: {event: handler}.
export const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

// svg is el for drawings.
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(svgNames, tag), attributes, children);

export const byID = (id) => document.getElementById(id);

// tag is a word in a coloured frame; kind is "", good, warn or bad.
export const tag = (text, kind) => el("span", { class: "tag " + (kind || "") }, text);

// bar draws shares of a whole side by side: parts are [class, value]; what they lack of the whole is grey.
export function bar(parts, whole, title, className) {
  const drawing = svg("svg", { class: className, viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": title });
  drawing.append(svg("title", {}, title), svg("rect", { class: "rest", width: 100, height: 10 }));
  let x = 0;
  for (const [kind, value] of parts) {
    const width = whole > 0 ? Math.max(0, Math.min(100 - x, (value / whole) * 100)) : 0;
    drawing.append(svg("rect", { class: "fill " + kind, x, width, height: 10 }));
    x += width;
  }
  return drawing;
}
