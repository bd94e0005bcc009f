function ticks(low, high, about) {
  if (!(high > low)) return [low];
  const raw = (high - low) / about, size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((part) => part * size).find((part) => part >= raw * 0.999);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-6; at += 1) found.push(at * step);
  return found;
}

// Axes with their words; gives back where values go.
function frame(svg, { width, height, y, x, yWords, xWords, yFormat, xTicks }) {
  const left = 52, right = 14, top = 34, bottom = 42;
  const across = (value) => left + ((value - x[0]) / (x[1] - x[0] || 1)) * (width - left - right);
  const up = (value) => height - bottom - ((value - y[0]) / (y[1] - y[0] || 1)) * (height - top - bottom);
  for (const value of ticks(y[0], y[1], 5)) {
    svg.append(drawing("line", { class: "grid", x1: left, x2: width - right, y1: up(value), y2: up(value) }));
    svg.append(drawing("text", { class: "tick", x: left - 6, y: up(value) + 4, "text-anchor": "end" }, yFormat(value)));
  }
  for (const [value, text] of xTicks) {
    svg.append(drawing("text", { class: "tick", x: across(value), y: height - bottom + 17, "text-anchor": "middle" }, text));
  }
  svg.append(drawing("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }));
  svg.append(drawing("text", { class: "tick", x: 6, y: 14 }, yWords));
  svg.append(drawing("text", { class: "tick", x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, xWords));
  return { across, up };
}

function startHops(box) {
  const series = [["estimate", "estimated", "circle", COLOURS[0]], ["measured", "measured", "square", COLOURS[5]], ["plain", "plain model, measured", "triangle", COLOURS[7]], ["seen", "on labels seen in the fit", "diamond", COLOURS[2]]]
    .filter(([key]) => page.levels.some((level) => level[key] !== null));
  if (!series.length) { box.append(element("p", { class: "muted small" }, "No score is known.")); return; }
  for (const [, words, kind, fill] of series) byId("hop-legend").append(legendMark(words, kind, fill, ""));
  const top = isPercent ? 1 : Math.max(...series.flatMap(([key]) => page.levels.map((level) => level[key] ?? 0))) * 1.08 || 1;
  inRoom(box, (width) => {
    const height = 280, svg = drawing("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${page.metric} by hops from the sources; the figures are in the table` });
    const { across, up } = frame(svg, {
      width, height, x: [-0.5, page.levels.length - 0.5], y: [0, top], yWords: page.metric + (isPercent ? " (%)" : ""), xWords: "hops from the nearest source",
      yFormat: isPercent ? (value) => String(Math.round(100 * value)) : digits, xTicks: page.levels.map((level, at) => [at, level.level]),
    });
    series.forEach(([key, , kind, fill], each) => {
      // Side by side, so that equal scores do not hide each other.
      const aside = (each - (series.length - 1) / 2) * Math.min(11, width / page.levels.length / 8);
      const seen = page.levels.map((level, at) => [across(at) + aside, level[key]]).filter((point) => point[1] !== null);
      svg.append(drawing("polyline", { class: "line", stroke: fill, points: seen.map(([x, value]) => `${x},${up(value)}`).join(" ") }));
      for (const [x, value] of seen) svg.append(drawing("path", { class: "mark", d: shape(kind, 5.5), fill, transform: `translate(${x},${up(value)})` }));
    });
    box.replaceChildren(svg);
  });
}
if (page.levels.length) startHops(byId("hop-box"));

function startCurves(parent) {
  const styles = {
    discriminator_loss: ["discriminator", COLOURS[0], ""], discriminator_bound: ["its bound", "ink", "7 4"], probe_loss: ["fresh discriminator (probe)", COLOURS[5], null],
  };
  const isFactor = (curve) => curve.name.endsWith("_factor");
  const groups = [
    ["Loss of the discriminator", page.curves.filter((curve) => curve.name in styles)],
    ["Other losses", page.curves.filter((curve) => !(curve.name in styles) && !isFactor(curve))],
    ["Schedules (factor)", page.curves.filter(isFactor)],
  ].filter(([, curves]) => curves.length);
  for (const [title, curves] of groups) {
    const part = element("div"), box = element("div", { class: "canvas" }), legend = element("div", { class: "legend" });
    part.append(box, legend);
    parent.append(part);
    const looks = curves.map((curve, at) => styles[curve.name] ?? [curve.name.replaceAll("_", " "), COLOURS[[0, 5, 2, 3][at % 4]], ["", "6 3", "2 3"][at % 3]]);
    looks.forEach(([words, colour, dash]) => legend.append(legendMark(words, dash === null ? "diamond" : null, colour, dash === null ? undefined : dash)));
    const values = curves.flatMap((curve) => curve.values.filter((value) => value !== null));
    const low = Math.min(0, ...values), most = Math.max(...values, low + 1e-9), high = most + 0.05 * (most - low), last = Math.max(...curves.flatMap((curve) => curve.epochs), 2);
    inRoom(box, (width) => {
      const height = 260, svg = drawing("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title} over ${last} epochs` });
      const xTicks = ticks(1, last, 5).filter((tick) => Number.isInteger(tick)).map((tick) => [tick, String(tick)]);
      const { across, up } = frame(svg, { width, height, x: [1, last], y: [low, high], yWords: title, xWords: "epoch", yFormat: digits, xTicks });
      curves.forEach((curve, at) => {
        const [, colour, dash] = looks[at], points = curve.epochs.map((epoch, each) => [epoch, curve.values[each]]).filter((point) => point[1] !== null);
        if (dash === null || points.length === 1) {
          for (const [epoch, value] of points) svg.append(drawing("path", { class: "mark", d: shape("diamond", 4.5), fill: colour === "ink" ? "currentColor" : colour, transform: `translate(${across(epoch)},${up(value)})` }));
          return;
        }
        const line = drawing("polyline", { class: colour === "ink" ? "line axis" : "line", "stroke-dasharray": dash, points: points.map(([epoch, value]) => `${across(epoch).toFixed(1)},${up(value).toFixed(1)}`).join(" ") });
        if (colour !== "ink") line.setAttribute("stroke", colour);
        svg.append(line);
      });
      box.replaceChildren(svg);
    });
  }
}
if (page.curves.length) startCurves(byId("curves"));

function startBars(box) {
  const table = page.results[Number(box.dataset.table)], accuracy = table.metric === "accuracy";
  const most = Math.max(...table.methods.flatMap((row) => [...row.scores, row.mean + row.std]), 1e-9);
  const high = accuracy ? 100 : most * 1.05;
  inRoom(box, (width) => {
    const step = 40, height = table.methods.length * step + 34, left = 12, right = 64;
    const svg = drawing("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Mean ${table.metric} of ${table.methods.length} methods; the figures are in the table` });
    const across = (value) => left + (Math.min(Math.max(value, 0), high) / high) * (width - left - right);
    for (const value of ticks(0, high, 5)) {
      svg.append(drawing("line", { class: "grid", x1: across(value), x2: across(value), y1: 6, y2: height - 24 }));
      svg.append(drawing("text", { class: "tick", x: across(value), y: height - 8, "text-anchor": "middle" }, digits(value)));
    }
    table.methods.forEach((row, at) => {
      const top = 8 + at * step, middle = top + 26;
      svg.append(drawing("text", { class: "words-in name", x: left, y: top + 12 }, shortened(row.method, 44)));
      svg.append(drawing("rect", { x: left, y: middle - 7, width: Math.max(across(row.mean) - left, 1), height: 14, fill: row.method === "plain" ? COLOURS[7] : COLOURS[0] }));
      svg.append(drawing("line", { class: "mark", x1: across(row.mean - row.std), x2: across(row.mean + row.std), y1: middle, y2: middle, "stroke-width": 2 }));
      for (const value of row.scores) svg.append(drawing("circle", { class: "mark", cx: across(value), cy: middle, r: 2.6, fill: "#ffffff" }));
      svg.append(drawing("text", { class: "words-in", x: width - 6, y: middle + 4, "text-anchor": "end" }, accuracy ? `${row.mean.toFixed(1)} %` : digits(row.mean)));
    });
    box.replaceChildren(svg);
  });
}
document.querySelectorAll(".bars").forEach(startBars);
