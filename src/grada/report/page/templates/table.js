function startTable(table) {
  const body = table.tBodies[0], rows = Array.from(body.rows), box = byId("table-box");
  const search = byId("search"), found = byId("found");
  const plain = (text) => text.normalize("NFKC").toLowerCase();
  const words = page.domains.map((domain) => plain(`${domain.name} ${domain.role}`));
  let order = rows.map((_, at) => at);

  const value = (at, key) => (key.startsWith("values.") ? page.domains[at].values[Number(key.slice(7))] : page.domains[at][key]) ?? null;

  function sort(key, sign) {
    order.sort((one, other) => {
      const a = value(one, key), b = value(other, key);
      if (a === null || b === null) return (a === null) - (b === null) || one - other; // unknown last
      const diff = typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b;
      return sign * diff || one - other;
    });
    body.remove(); // rows move far quicker while the table is not laid out
    body.append(...order.map((at) => rows[at]));
    table.append(body);
  }

  for (const head of table.tHead.rows[0].cells) {
    head.firstElementChild.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const each of table.tHead.rows[0].cells) each.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      sort(head.dataset.key, down ? -1 : 1);
    });
  }

  function filter() {
    const asked = plain(search.value.trim());
    let count = 0;
    rows.forEach((row, at) => {
      row.hidden = asked !== "" && !words[at].includes(asked);
      count += row.hidden ? 0 : 1;
    });
    found.textContent = `${asked === "" ? "" : `${count.toLocaleString("en")} of `}${rows.length.toLocaleString("en")} domains`;
    const first = order.find((at) => !rows[at].hidden);
    if (first !== undefined) reach(first);
  }
  search.addEventListener("input", filter);

  // One stop for the Tab key in the whole table; arrows go on from there.
  const button = (at) => rows[at].querySelector("button");
  function reach(at) {
    body.querySelector('button[tabindex="0"]')?.setAttribute("tabindex", -1);
    button(at).setAttribute("tabindex", 0);
  }
  body.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], row = event.target.closest("tr");
    if (!step || !row) return;
    event.preventDefault();
    const seen = order.filter((at) => !rows[at].hidden), next = seen[seen.indexOf(Number(row.dataset.at)) + step];
    if (next !== undefined) { reach(next); button(next).focus(); }
  });
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row && !String(getSelection())) select(Number(row.dataset.at));
  });

  function describe(at) {
    const detail = byId("detail");
    detail.replaceChildren();
    if (at === null) { detail.append(element("p", { class: "muted" }, "No domain selected.")); return; }
    const domain = page.domains[at], list = element("dl");
    const add = (name, text) => { const pair = element("div"); pair.append(element("dt", { dir: "auto" }, name), element("dd", {}, text)); list.append(pair); };
    add("role", domain.role);
    add("hops", domain.hops === null ? "no path" : String(domain.hops));
    add("rows", domain.n_rows.toLocaleString("en"));
    add("labelled", domain.n_labelled.toLocaleString("en"));
    if (domain.estimate !== null) add(`estimated ${page.metric}`, `${score(domain.estimate)} (${score(domain.low)} to ${score(domain.high)})`);
    for (const [key, name, format] of [["measured", `measured ${page.metric}`, score], ["plain", "plain model", score], ["seen", `${page.metric} in the fit`, score], ["confidence", "confidence", percent], ["width", "± 90 %", digits]]) {
      if (domain[key] !== null) add(name, shown(domain[key], format));
    }
    domain.values.forEach((each, part) => add(page.kind === "classification" ? `share of ${shortened(page.outputs[part], 40)}` : `mean ${page.outputs[part]}`, page.kind === "classification" ? percent(each) : digits(each)));
    const close = page.edges.filter(([i, j]) => i === at || j === at).map(([i, j]) => page.domains[i === at ? j : i].name);
    const head = element("p");
    head.append(element("b", { class: "name", dir: "auto" }, domain.name || "(empty name)"));
    const around = close.slice(0, 12).map((name) => shortened(name, 30)).join(", ") + (close.length > 12 ? ` and ${close.length - 12} more` : "");
    detail.append(head, list, element("p", { class: "muted small", dir: "auto" }, close.length ? `Neighbours: ${around}` : "No neighbours."));
  }

  selection.heard.push((at) => {
    rows.forEach((row, each) => {
      row.classList.toggle("picked", each === at);
      if (each === at) row.setAttribute("aria-current", "true"); else row.removeAttribute("aria-current");
    });
    describe(at);
    if (at === null) return;
    if (rows[at].hidden) { search.value = ""; filter(); }
    reach(at);
    const top = rows[at].offsetTop - table.tHead.offsetHeight;
    if (top < box.scrollTop || top + rows[at].offsetHeight > box.scrollTop + box.clientHeight - table.tHead.offsetHeight) box.scrollTop = top - 40;
  });
}
if (page.domains.length) startTable(byId("domain-table"));
