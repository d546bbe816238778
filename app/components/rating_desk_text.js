// Text from models and raters as text nodes, with control characters made visible, and places in it in code points.

const CONTROL = /([\u0000-\u0008\u000b-\u001f\u007f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069])/;

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

function verbatim(text, passages = []) {
  const points = [...text];
  const cuts = [...new Set([0, points.length, ...passages.flatMap((one) => [one.start, one.end])])].sort((a, b) => a - b);
  const pieces = cuts.slice(1).map((end, index) => {
    const start = cuts[index];
    const inside = passages.some((one) => one.start <= start && end <= one.end);
    const shown = visible(points.slice(start, end).join(""));
    return inside ? make("mark", {}, ...shown) : shown;
  });
  return make("div", { class: "ib-text", dir: "auto" }, ...pieces.flat());
}

function visible(text) {
  return text.split(CONTROL).map((part, index) =>
    index % 2 ? make("span", { class: "ib-control" }, "U+" + part.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")) : part,
  );
}

function lengthInText(node) {
  if (node.nodeType === Node.TEXT_NODE) return [...node.data].length;
  if (node.classList?.contains("ib-control")) return 1;
  return [...node.childNodes].reduce((sum, child) => sum + lengthInText(child), 0);
}

function offsetInText(box, node, offset) {
  let passed = node.nodeType === Node.TEXT_NODE ? [...node.data.slice(0, offset)].length
    : [...node.childNodes].slice(0, offset).reduce((sum, child) => sum + lengthInText(child), 0);
  for (let at = node; at !== box; at = at.parentNode) {
    for (let before = at.previousSibling; before; before = before.previousSibling) passed += lengthInText(before);
  }
  return passed;
}
