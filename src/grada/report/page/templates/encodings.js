function startEncodings(box) {
  const rows = page.encodings, domains = page.domains;
  const planes = [["tsne", "t-SNE"], ["pca", "PCA"]].filter(([key]) => rows[key].length);
  const ways = [["domain", "domain"]];
  if (rows.group.length) ways.unshift(["group", "predicted class"]);
  if (rows.value.length) ways.unshift(["value", "predicted value"]);
  ways.push(["hop", "hops"], ["role", "role"]);
  const words = { tsne: "t-SNE keeps neighbours together; distances and sizes of clusters mean little.", pca: "The first two principal axes: large distances are kept." };
  const spots = rows.domain.map(() => [0, 0]);
  let plane = planes[0][0], way = ways[0][0], width = 0, height = 0, points = [];
  const svg = drawing("svg", { role: "img", "aria-label": `Encodings of ${rows.pca.length} sampled rows in the plane` });
  box.append(svg);
  const tip = tooltip(box);

  const used = Array.from(new Set(rows.domain)).sort((a, b) => a - b), rank = new Map(used.map((at, each) => [at, each]));
  const groups = Array.from(new Set(rows.group)).sort((a, b) => a - b), groupRank = new Map(groups.map((at, each) => [at, each]));
  const hops = used.map((at) => domains[at].hops).filter((hop) => hop !== null), far = Math.max(...hops, 1);
  const values = rows.value.length ? [Math.min(...rows.value), Math.max(...rows.value)] : [0, 1];
  // Colour and shape go round at different lengths, so that few pairs come up twice.
  const cycled = (each) => [SHAPES[Math.floor(each / COLOURS.length) % SHAPES.length], COLOURS[each % COLOURS.length]];
  const classed = (each) => [SHAPES[each % SHAPES.length], COLOURS[each % COLOURS.length]];
  const className = (group) => (group < page.outputs.length ? page.outputs[group] : `class number ${group + 1}`);

  function look(row) {
    const domain = domains[rows.domain[row]];
    if (way === "group") return classed(groupRank.get(rows.group[row]));
    if (way === "value") return ["circle", ramp((rows.value[row] - values[0]) / (values[1] - values[0] || 1))];
    if (way === "hop") return [ROLE_SHAPES[domain.role], domain.hops === null ? null : ramp(1 - domain.hops / far)];
    if (way === "role") return [ROLE_SHAPES[domain.role], domain.role === "source" ? COLOURS[0] : COLOURS[1]];
    return cycled(rank.get(rows.domain[row]));
  }

  function legend() {
    const list = byId("point-legend");
    list.replaceChildren();
    if (way === "group") groups.slice(0, 24).forEach((group, each) => list.append(legendMark(className(group), ...classed(each))));
    if (way === "value") list.append(legendRamp(digits(values[0]), digits(values[1]), false, "predicted"));
    if (way === "hop") list.append(legendRamp("0 hops", String(far), true, ""), legendMark("source", "square"), legendMark("target", "circle"));
    if (way === "role") list.append(legendMark("source", "square", COLOURS[0]), legendMark("target", "circle", COLOURS[1]));
    if (way === "domain" && used.length <= 24) used.forEach((at, each) => list.append(legendMark(shortened(domains[at].name, 30), ...cycled(each))));
    if (way === "domain" && used.length > 24) list.append(element("span", { class: "muted" }, `${used.length} domains: colours repeat. Select a domain to see its rows alone.`));
  }

  function draw() {
    const margin = 14, put = fitted(rows[plane], width, height, margin);
    svg.replaceChildren();
    points = rows[plane].map(([x, y], row) => {
      const [kind, fill] = look(row), own = selection.at === null || rows.domain[row] === selection.at;
      spots[row] = put(x, y);
      const point = drawing("path", { d: shape(kind, own && selection.at !== null ? 5 : 3.6), "fill-opacity": own ? 0.85 : 0.12, transform: `translate(${spots[row][0].toFixed(1)},${spots[row][1].toFixed(1)})`, "data-row": row, class: fill ? "" : "mark none" });
      if (fill) point.setAttribute("fill", fill);
      return point;
    });
    // Rows of the selected domain on top.
    svg.append(...points.filter((_, row) => rows.domain[row] !== selection.at), ...points.filter((_, row) => rows.domain[row] === selection.at));
    byId("point-words").textContent = words[plane];
  }

  svg.addEventListener("pointermove", (event) => {
    const row = event.target.dataset?.row;
    if (row === undefined) { tip.hide(); return; }
    const domain = domains[rows.domain[row]], lines = [domain.role];
    if (rows.group.length) lines.push(`predicted ${shortened(className(rows.group[row]), 60)}`);
    if (rows.value.length) lines.push(`predicted ${digits(rows.value[row])}`);
    tip.show(...spots[row], domain.name, lines);
  });
  svg.addEventListener("pointerleave", () => tip.hide());
  svg.addEventListener("click", (event) => { const row = event.target.dataset?.row; if (row !== undefined) select(rows.domain[row]); });
  options(byId("projection"), planes, (event) => { plane = event.target.value; draw(); });
  options(byId("point-colour"), ways, (event) => { way = event.target.value; legend(); draw(); });
  selection.heard.push(draw);
  inRoom(box, (now) => {
    width = now;
    height = Math.round(Math.min(Math.max(now * 0.6, 260), 460));
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    draw();
  });
  legend();
}
if (page.encodings.pca.length) startEncodings(byId("point-box"));
