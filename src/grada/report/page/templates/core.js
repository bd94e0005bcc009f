"use strict";
// Names and other words of the user's reach the page through textContent and setAttribute only.
const page = JSON.parse(document.getElementById("page-data").textContent);
const byId = (id) => document.getElementById(id);

function element(tag, attributes = {}, text) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function drawing(tag, attributes = {}, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const isPercent = page.metric === "accuracy";
const digits = (value) => String(Number(value.toPrecision(3)));
const percent = (value) => (100 * value).toFixed(1) + " %";
const score = (value) => (value === null ? "–" : isPercent ? percent(value) : value.toPrecision(3));
const shown = (value, format) => (value === null || value === undefined ? "–" : format(value));

function shortened(name, most) {
  const letters = Array.from(name);
  return letters.length <= most ? name : letters.slice(0, most - 1).join("") + "…";
}

// Viridis: rises in lightness, so that it also reads in grey and with any colour vision.
const RAMP = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"]
  .map((code) => [1, 3, 5].map((at) => parseInt(code.slice(at, at + 2), 16)));

function ramp(share) {
  const at = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const low = Math.min(Math.floor(at), RAMP.length - 2);
  const mix = RAMP[low].map((value, part) => Math.round(value + (at - low) * (RAMP[low + 1][part] - value)));
  return `rgb(${mix.join(",")})`;
}

// Okabe and Ito's colours, told apart with any colour vision, the blue a little lighter for the
// dark page; shapes go round beside them.
const COLOURS = ["#2b82c4", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#8c8c8c"];
const SHAPES = ["circle", "square", "triangle", "diamond", "cross"];

function shape(kind, r) {
  if (kind === "square") return `M${-r * 0.9},${-r * 0.9}h${r * 1.8}v${r * 1.8}h${-r * 1.8}z`;
  if (kind === "diamond") return `M0,${-r * 1.2}L${r * 1.2},0L0,${r * 1.2}L${-r * 1.2},0z`;
  if (kind === "triangle") return `M0,${-r * 1.15}L${r * 1.1},${r * 0.85}L${-r * 1.1},${r * 0.85}z`;
  if (kind === "cross") return `M${-r},${-r * 0.4}h${r * 0.6}v${-r * 0.6}h${r * 0.8}v${r * 0.6}h${r * 0.6}v${r * 0.8}h${-r * 0.6}v${r * 0.6}h${-r * 0.8}v${-r * 0.6}h${-r * 0.6}z`;
  return `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`;
}

function legendMark(text, kind, fill, dash) {
  const item = element("span");
  const svg = drawing("svg", { width: 22, height: 16, viewBox: "-11 -8 22 16", "aria-hidden": "true" });
  if (dash !== undefined) {
    const line = drawing("line", { x1: -10, x2: 10, y1: 0, y2: 0, stroke: fill, "stroke-width": 2, "stroke-dasharray": dash });
    if (fill === "ink") line.setAttribute("class", "axis");
    svg.append(line);
  }
  if (kind) {
    const mark = drawing("path", { d: shape(kind, 5), class: fill ? "mark" : "mark none" });
    if (fill) mark.setAttribute("fill", fill);
    svg.append(mark);
  }
  item.append(svg, element("span", { class: "name", dir: "auto" }, text));
  return item;
}

function legendRamp(low, high, turned, words) {
  const item = element("span");
  const svg = drawing("svg", { class: "ramp", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
  for (let at = 0; at < 25; at += 1) {
    svg.append(drawing("rect", { x: at * 4, y: 0, width: 4.2, height: 10, "shape-rendering": "crispEdges", fill: ramp(turned ? 1 - at / 24 : at / 24) }));
  }
  item.append(element("span", {}, low), svg, element("span", {}, high + (words ? ` (${words})` : "")));
  return item;
}

// One domain is selected on the whole page; every part hears of it.
const selection = { at: null, heard: [] };
function select(at) {
  selection.at = at === selection.at ? null : at;
  for (const hear of selection.heard) hear(selection.at);
}

function options(list, chosen, onChange) {
  for (const [value, label] of chosen) list.append(element("option", { value }, label));
  list.addEventListener("change", onChange);
}

// Draw again when the room changes, and once at the start.
function inRoom(box, draw) {
  let width = 0;
  const measure = () => {
    const now = Math.round(box.clientWidth);
    if (now > 0 && now !== width) draw((width = now));
  };
  new ResizeObserver(() => requestAnimationFrame(measure)).observe(box);
  measure();
}

// Points into a room, their middle in its middle. A little stretching of one axis fills the room
// without making another picture of it.
function fitted(points, width, height, margin) {
  const low = [Infinity, Infinity], high = [-Infinity, -Infinity];
  for (const point of points) {
    for (const axis of [0, 1]) {
      low[axis] = Math.min(low[axis], point[axis]);
      high[axis] = Math.max(high[axis], point[axis]);
    }
  }
  const scales = [width, height].map((room, axis) => (high[axis] - low[axis] > 1e-6 ? (room - 2 * margin) / (high[axis] - low[axis]) : Infinity));
  const least = Math.min(...scales);
  const used = scales.map((scale) => (Number.isFinite(least) ? Math.min(scale, 1.7 * least) : 0));
  return (x, y) => [width / 2 + (x - (low[0] + high[0]) / 2) * used[0], height / 2 - (y - (low[1] + high[1]) / 2) * used[1]];
}

function tooltip(box) {
  const tip = element("div", { class: "tip", hidden: "", "aria-hidden": "true" });
  box.append(tip);
  return {
    show(x, y, head, lines) {
      tip.replaceChildren(element("b", { class: "name", dir: "auto" }, head), ...lines.map((line) => element("span", { dir: "auto" }, line)));
      tip.hidden = false;
      const left = Math.min(Math.max(x + 14, 4), box.clientWidth - tip.offsetWidth - 4);
      const below = y + 16 + tip.offsetHeight < box.clientHeight;
      tip.style.left = `${Math.max(left, 4)}px`;
      tip.style.top = `${Math.max(below ? y + 16 : y - tip.offsetHeight - 14, 4)}px`;
    },
    hide() { tip.hidden = true; },
  };
}

function startTheme() {
  const button = byId("theme"), root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  let kept = null;
  try { kept = localStorage.getItem("grada-theme"); } catch { /* no storage for files here */ }
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const say = () => { button.textContent = isDark() ? "Light mode" : "Dark mode"; };
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("grada-theme", root.dataset.theme); } catch { /* as above */ }
    say();
  });
  system.addEventListener("change", say);
  say();
}
startTheme();
