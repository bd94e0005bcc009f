const ROLE_SHAPES = { source: "square", target: "circle", "no rows": "diamond" };

// What a domain can be coloured by: words, value, format, and whether less is better.
function measures() {
  const better = isPercent ? "brighter is better" : "brighter is smaller, better";
  const all = [
    ["measured", `measured ${page.metric}`, (d) => d.measured, score, !isPercent, better],
    ["estimate", `estimated ${page.metric}`, (d) => d.estimate, score, !isPercent, better],
    ["plain", `plain model's ${page.metric}`, (d) => d.plain, score, !isPercent, better],
    ["seen", `${page.metric} in the fit`, (d) => d.seen, score, !isPercent, better],
    ["confidence", "confidence", (d) => d.confidence, percent, false, ""],
    ["width", "half width of the 90 % interval", (d) => d.width, digits, true, "brighter is narrower"],
    ["hops", "hops from a source", (d) => d.hops, String, true, ""],
    ["rows", "number of rows", (d) => d.n_rows, (v) => v.toLocaleString("en"), false, ""],
  ].concat(page.outputs.map((name, at) => [
    `values.${at}`,
    page.kind === "classification" ? `predicted share of ${shortened(name, 24)}` : `mean ${shortened(name, 24)}`,
    (d) => (at < d.values.length ? d.values[at] : null),
    page.kind === "classification" ? percent : digits, false, "",
  ]));
  const known = all.map(([key, words, value, format, turned, hint]) => ({ key, words, value, format, turned, hint }));
  return known.filter((each) => page.domains.some((domain) => each.value(domain) !== null));
}

function domainLines(domain) {
  const hops = domain.hops === null ? "no path to a source" : domain.hops === 1 ? "1 hop" : `${domain.hops} hops`;
  const lines = [domain.role === "source" ? "source" : `${domain.role}, ${hops}`, `${domain.n_rows.toLocaleString("en")} rows, ${domain.n_labelled.toLocaleString("en")} labelled`];
  if (domain.estimate !== null) lines.push(`estimated ${page.metric} ${score(domain.estimate)}`);
  if (domain.measured !== null) lines.push(`measured ${page.metric} ${score(domain.measured)}`);
  if (domain.plain !== null) lines.push(`plain model ${score(domain.plain)}`);
  return lines;
}

function startGraph(box) {
  const svg = drawing("svg", { role: "group", "aria-label": `Graph of ${page.domains.length} domains and ${page.edges.length} edges. Arrow keys move, Enter selects.` });
  const edgeLayers = [0.35, 0.6, 1].map((opacity, at) => drawing("path", { class: "edge", "stroke-opacity": page.edges.length > 1500 ? opacity * 0.5 : opacity, "stroke-width": 0.6 + 0.5 * at }));
  const near = drawing("path", { class: "edge near" });
  const nodeLayer = drawing("g"), tagLayer = drawing("g", { "aria-hidden": "true" });
  const ring = drawing("path", { class: "ring", visibility: "hidden" });
  svg.append(...edgeLayers, near, nodeLayer, ring, tagLayer);
  box.append(svg);
  box.classList.add("still");
  const tip = tooltip(box), domains = page.domains;
  const view = { k: 1, x: 0, y: 0 }, at = domains.map(() => [0, 0]);
  let width = 0, height = 0, radius = 6, focused = 0, measure = measures()[0];

  const heaviest = Math.max(...page.edges.map((edge) => edge[2]), 1e-12);
  const lightest = Math.min(...page.edges.map((edge) => edge[2]), heaviest);
  const heavy = (weight) => (heaviest - lightest < 1e-9 ? 2 : Math.min(2, Math.floor((3 * (weight - lightest)) / (heaviest - lightest))));

  const nodes = domains.map((domain, place) => {
    const node = drawing("g", { class: "node", role: "button", tabindex: place ? -1 : 0, "aria-pressed": "false", "aria-label": `${domain.name}: ${domainLines(domain).join("; ")}`, "data-at": place });
    node.append(drawing("path"));
    nodeLayer.append(node);
    return node;
  });

  function layOut() {
    const put = fitted(domains.map((domain) => [domain.x, domain.y]), width, height, 26);
    domains.forEach((domain, place) => { at[place] = put(domain.x, domain.y); });
    radius = Math.min(Math.max(Math.sqrt((width * height) / domains.length) * 0.15, 3.2), 12);
    svg.style.setProperty("--stroke", radius < 5 ? 0.7 : 1.3); // outlines must not drown small nodes
    nodes.forEach((node, place) => node.firstChild.setAttribute("d", shape(ROLE_SHAPES[domains[place].role], radius)));
  }

  const spot = (place) => [at[place][0] * view.k + view.x, at[place][1] * view.k + view.y];
  const lines = (edges) => edges.map(([i, j]) => { const a = spot(i), b = spot(j); return `M${a[0].toFixed(1)},${a[1].toFixed(1)}L${b[0].toFixed(1)},${b[1].toFixed(1)}`; }).join("");

  function draw() {
    const layers = [[], [], []];
    for (const edge of page.edges) layers[heavy(edge[2])].push(edge);
    edgeLayers.forEach((layer, each) => layer.setAttribute("d", lines(layers[each])));
    nodes.forEach((node, place) => node.setAttribute("transform", `translate(${spot(place).map((v) => v.toFixed(1)).join(",")})`));
    box.className = `canvas ${view.k > 1 ? "moved" : "still"}`;
    drawNear();
    drawTags();
  }

  function drawNear() {
    const chosen = selection.at;
    // A ring on top of all: a node that changed its place in the document would lose the focus.
    ring.setAttribute("visibility", chosen === null ? "hidden" : "visible");
    if (chosen !== null) {
      ring.setAttribute("d", shape(ROLE_SHAPES[domains[chosen].role], radius + 2));
      ring.setAttribute("transform", nodes[chosen].getAttribute("transform"));
    }
    near.setAttribute("d", chosen === null ? "" : lines(page.edges.filter(([i, j]) => i === chosen || j === chosen)));
  }

  function drawTags() {
    tagLayer.replaceChildren();
    const taken = [], cell = (x, y) => taken.some(([l, t, r, b]) => x[0] < r && x[1] > l && y[0] < b && y[1] > t);
    const inside = domains.map((_, place) => place).filter((place) => { const [x, y] = spot(place); return x > -20 && x < width + 20 && y > -20 && y < height + 20; });
    if (selection.at !== null) inside.sort((a, b) => (b === selection.at) - (a === selection.at));
    const spots = inside.slice(0, 1500).map(spot);
    let count = 0;
    for (const place of inside) {
      if (count >= 150) break;
      const [x, y] = spot(place), name = shortened(domains[place].name.replace(/\s+/g, " "), 16);
      const half = 3.4 * Array.from(name).length + 2, top = y + radius + 2;
      const room = [[x - half, x + half], [top, top + 12]];
      const covers = spots.some(([nx, ny]) => nx + radius > room[0][0] && nx - radius < room[0][1] && ny + radius > room[1][0] && ny - radius < room[1][1] - 2);
      if (place !== selection.at && (covers || cell(...room) || x - half < 0 || x + half > width)) continue;
      taken.push([room[0][0], room[1][0], room[0][1], room[1][1]]);
      tagLayer.append(drawing("text", { class: "tag", x: x.toFixed(1), y: (top + 10).toFixed(1) }, name));
      count += 1;
    }
  }

  function colour() {
    const values = domains.map(measure.value).filter((value) => value !== null);
    const low = Math.min(...values), high = Math.max(...values);
    nodes.forEach((node, place) => {
      const value = measure.value(domains[place]), path = node.firstChild;
      path.classList.toggle("none", value === null);
      if (value === null) { path.removeAttribute("fill"); return; }
      const share = high > low ? (value - low) / (high - low) : 1;
      path.setAttribute("fill", ramp(measure.turned ? 1 - (high > low ? share : 0) : share));
    });
    const legend = byId("graph-legend");
    legend.replaceChildren();
    for (const [role, kind] of Object.entries(ROLE_SHAPES)) {
      if (domains.some((domain) => domain.role === role)) legend.append(legendMark(role === "no rows" ? "domain without rows" : role, kind));
    }
    const one = high === low;
    legend.append(one ? legendMark(`${measure.words} ${measure.format(low)} everywhere`, "circle", ramp(1)) : legendRamp(`${measure.words} ${measure.format(low)}`, measure.format(high), measure.turned, measure.hint));
    if (values.length < domains.length) legend.append(element("span", { class: "muted" }, "not filled: not known"));
  }

  function zoom(factor, x = width / 2, y = height / 2) {
    const k = Math.min(Math.max(view.k * factor, 1), 40);
    view.x = x - ((x - view.x) * k) / view.k;
    view.y = y - ((y - view.y) * k) / view.k;
    view.k = k;
    hold();
    draw();
  }

  function hold() {
    view.x = Math.min(Math.max(view.x, width * (0.5 - view.k)), width * 0.5);
    view.y = Math.min(Math.max(view.y, height * (0.5 - view.k)), height * 0.5);
    if (view.k === 1) view.x = view.y = 0;
  }

  const show = (place) => { const [x, y] = spot(place), scale = box.clientWidth / width; tip.show(x * scale, y * scale, domains[place].name, domainLines(domains[place])); };
  const placeOf = (event) => { const node = event.target.closest?.(".node"); return node ? Number(node.dataset.at) : null; };

  function focusOn(place) {
    nodes[focused].setAttribute("tabindex", -1);
    focused = place;
    nodes[place].setAttribute("tabindex", 0);
  }

  function neighbour(dx, dy) {
    const [x, y] = spot(focused);
    let best = null, least = Infinity;
    domains.forEach((_, place) => {
      const [px, py] = spot(place), ahead = (px - x) * dx + (py - y) * dy;
      const aside = Math.abs((px - x) * dy) + Math.abs((py - y) * dx), cost = ahead + 2.5 * aside;
      if (place !== focused && ahead > 0.5 && cost < least) { best = place; least = cost; }
    });
    return best;
  }

  let drag = null;
  svg.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, y: event.clientY, moved: false }; });
  svg.addEventListener("pointermove", (event) => {
    const place = placeOf(event);
    if (!drag || !event.buttons) { place === null ? tip.hide() : show(place); return; }
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    if (!drag.moved && Math.hypot(dx, dy) < 4) return;
    if (!drag.moved) svg.setPointerCapture(event.pointerId);
    drag = { x: event.clientX, y: event.clientY, moved: true };
    tip.hide();
    view.x += dx; view.y += dy;
    hold();
    draw();
  });
  svg.addEventListener("pointerleave", () => tip.hide());
  svg.addEventListener("click", (event) => {
    const place = placeOf(event), moved = drag?.moved;
    drag = null;
    if (place === null || moved) return;
    focusOn(place);
    select(place);
  });
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const bounds = svg.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * 0.0025), event.clientX - bounds.left, event.clientY - bounds.top);
  }, { passive: false });
  svg.addEventListener("focusin", (event) => { const place = placeOf(event); if (place !== null) { focusOn(place); show(place); } });
  svg.addEventListener("focusout", () => tip.hide());
  svg.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (steps[event.key]) {
      const next = neighbour(...steps[event.key]);
      if (next !== null) { focusOn(next); nodes[next].focus(); }
    } else if (event.key === "Enter" || event.key === " ") select(focused);
    else if (event.key === "Escape") { if (selection.at !== null) select(selection.at); }
    else if (event.key === "+" || event.key === "=") zoom(1.5, ...spot(focused));
    else if (event.key === "-") zoom(1 / 1.5, ...spot(focused));
    else if (event.key === "0") zoom(0);
    else return;
    event.preventDefault();
  });
  byId("zoom-in").addEventListener("click", () => zoom(1.5));
  byId("zoom-out").addEventListener("click", () => zoom(1 / 1.5));
  byId("zoom-reset").addEventListener("click", () => zoom(0));

  options(byId("graph-colour"), measures().map((each) => [each.key, each.words]), (event) => {
    measure = measures().find((each) => each.key === event.target.value);
    colour();
  });
  selection.heard.push((place) => {
    nodes.forEach((node, each) => {
      node.classList.toggle("picked", each === place);
      node.setAttribute("aria-pressed", String(each === place));
    });
    if (place !== null) focusOn(place);
    drawNear();
    drawTags();
  });
  inRoom(box, (now) => {
    width = now;
    height = Math.round(Math.min(Math.max(now * 0.55, 260), 560));
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    Object.assign(view, { k: 1, x: 0, y: 0 });
    layOut();
    draw();
  });
  colour();
}
if (page.domains.length) startGraph(byId("graph-box"));
