
const model = document.getElementById("model") && JSON.parse(document.getElementById("model").textContent);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
for (const tools of all(".tools")) tools.hidden = false;

/* Maximum number of drawing units per pixel when a drawing is first shown. */
const READABLE = 1.25;

/* Drawings are moved and zoomed by changing their view box. */
function makeMovable(canvas) {
  const drawing = canvas.querySelector("svg");
  const whole = drawing.viewBox.baseVal;
  const home = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
  let view = { ...home };
  const show = () => drawing.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  const scale = () => Math.max(view.width / canvas.clientWidth, view.height / canvas.clientHeight);
  // A drawing whose names would be too small to read begins enlarged, at its top.
  const readable = () => {
    view = { ...home };
    const shrink = READABLE / scale();
    if (shrink >= 1) return;
    view.width = canvas.clientWidth * READABLE;
    view.height = canvas.clientHeight * READABLE;
    const boxes = all("rect", drawing).map((rect) => rect.getBBox());
    const top = Math.min(...boxes.map((box) => box.y + box.height));
    const middles = boxes.filter((box) => box.y < top).map((box) => box.x + box.width / 2).sort((a, b) => a - b);
    view.x = middles[Math.floor(middles.length / 2)] - view.width / 2;
    show();
  };
  const zoom = (factor, x = view.x + view.width / 2, y = view.y + view.height / 2) => {
    if (factor === 0) view = { ...home };
    else {
      const widest = 4 * Math.max(home.width, canvas.clientWidth * READABLE);
      const width = Math.min(Math.max(view.width / factor, 60), widest);
      const ratio = width / view.width;
      view = { x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio, width, height: view.height * ratio };
    }
    show();
  };
  const move = (dx, dy) => { view.x += dx * scale(); view.y += dy * scale(); show(); };
  const center = (box) => {
    const width = Math.min(view.width, Math.max(canvas.clientWidth, 500));
    view = { width, height: view.height * width / view.width };
    view.x = box.x + box.width / 2 - view.width / 2;
    view.y = box.y + box.height / 2 - view.height / 2;
    show();
  };
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse());
    zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, at.x, at.y);
  }, { passive: false });
  let last = null;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.moved = false;
    if (event.button === 0 && event.isPrimary) last = event;
  });
  window.addEventListener("pointermove", (event) => {
    if (!last) return;
    if (!canvas.moved && Math.hypot(event.clientX - last.clientX, event.clientY - last.clientY) < 4) return;
    canvas.moved = true;
    canvas.classList.add("dragging");
    move(last.clientX - event.clientX, last.clientY - event.clientY);
    last = event;
  });
  const release = () => {
    last = null;
    canvas.classList.remove("dragging");
    setTimeout(() => { canvas.moved = false; });  // after the click that ends a drag
  };
  for (const end of ["pointerup", "pointercancel", "blur"]) window.addEventListener(end, release);
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;  // the browser's own zoom
    const step = 60;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    hideTip();
    if (moves[event.key]) move(...moves[event.key]);
    else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") zoom(0);
    else return;
    event.preventDefault();
  });
  let before = null;
  window.addEventListener("beforeprint", () => { before = { ...view }; view = { ...home }; show(); });
  window.addEventListener("afterprint", () => { if (before) { view = before; show(); } });
  readable();
  return { zoom, center };
}

const canvas = document.getElementById("network");
const network = canvas && makeMovable(canvas);
if (document.getElementById("proof")) makeMovable(document.getElementById("proof"));
for (const button of all("[data-zoom]")) button.addEventListener("click", () => network.zoom(Number(button.dataset.zoom)));
const nodes = canvas ? all(".node", canvas) : [];
const arcs = canvas ? all("path[data-tail]", canvas) : [];
const cards = all(".card");

/* Choosing a variable highlights its arcs and its card. */
function choose(v) {
  const again = nodes[v].classList.contains("chosen");
  for (const element of [...nodes, ...cards]) element.classList.remove("chosen");
  for (const arc of arcs) arc.classList.remove("near");
  canvas.querySelector("svg").classList.toggle("choosing", !again);
  if (again) return;
  nodes[v].classList.add("chosen");
  for (const arc of arcs) arc.classList.toggle("near", arc.dataset.tail === String(v) || arc.dataset.head === String(v));
  if (cards[v]) {
    cards[v].classList.add("chosen");
    cards[v].hidden = false;
    cards[v].scrollIntoView({ block: "nearest" });
  }
}

/* The conditional table of a variable, with a row for each configuration of its parents. */
const MAX_ROWS = 12;
const MAX_STATES = 8;
const tip = document.getElementById("tip");
function element(kind, text, parent) {
  const made = document.createElement(kind);
  if (text !== null) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}
function fillTip(v) {
  tip.replaceChildren();
  const title = nodes[v].getAttribute("aria-label");
  if (!model) { element("p", title, tip); return; }
  element("h3", model.names[v], tip);
  const parents = model.parents[v];
  const states = model.states[v];
  const table = element("table", null, tip);
  const head = element("tr", null, element("thead", null, table));
  for (const p of parents) element("th", model.names[p], head);
  const shown = Math.min(states.length, MAX_STATES);
  for (const state of states.slice(0, shown)) element("th", state, head).className = "number";
  const body = element("tbody", null, table);
  const rows = model.tables[v].length / states.length;
  for (let row = 0; row < Math.min(rows, MAX_ROWS); row++) {
    const line = element("tr", null, body);
    let rest = row;
    const cells = [];
    for (const p of [...parents].reverse()) {
      cells.unshift(model.states[p][rest % model.states[p].length]);
      rest = Math.floor(rest / model.states[p].length);
    }
    for (const cell of cells) element("th", cell, line);
    for (let s = 0; s < shown; s++)
      element("td", model.tables[v][row * states.length + s].toFixed(4), line).className = "number";
  }
  const hidden = [];
  if (rows > MAX_ROWS) hidden.push(`${rows - MAX_ROWS} further rows`);
  if (states.length > shown) hidden.push(`${states.length - shown} further states`);
  if (hidden.length) element("p", `Not shown: ${hidden.join(", ")}.`, tip).className = "hint";
}
function showTip(v) {
  fillTip(v);
  tip.hidden = false;
  const box = nodes[v].getBoundingClientRect();
  const size = tip.getBoundingClientRect();
  const left = Math.min(Math.max(8, box.left), window.innerWidth - size.width - 8);
  const below = box.bottom + 8 + size.height < window.innerHeight;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${below ? box.bottom + 8 : Math.max(8, box.top - size.height - 8)}px`;
}
/* A variable reached by keyboard or from its card must be visible in the drawing. */
function bringIntoView(v) {
  const frame = canvas.getBoundingClientRect();
  const box = nodes[v].getBoundingClientRect();
  if (box.height < 12 || box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom)
    network.center(nodes[v].querySelector("rect").getBBox());
}
const hideTip = () => { tip.hidden = true; };
nodes.forEach((node, v) => {
  node.querySelector("title").remove();  // the table says more; the label stays for screen readers
  node.setAttribute("aria-describedby", "tip");
  node.addEventListener("mouseenter", () => showTip(v));
  node.addEventListener("mouseleave", hideTip);
  node.addEventListener("focus", () => {
    if (!node.matches(":focus-visible")) return;
    bringIntoView(v);
    showTip(v);
  });
  node.addEventListener("blur", hideTip);
  node.addEventListener("click", () => { if (!canvas.moved) choose(v); });
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose(v);
  });
});
document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });

for (const button of all(".find")) button.addEventListener("click", () => {
  const v = Number(button.dataset.v);
  if (!nodes[v].classList.contains("chosen")) choose(v);
  bringIntoView(v);
});

/* Finding variables by a part of their names. */
const search = document.getElementById("search");
if (search) search.addEventListener("input", () => {
  const wanted = search.value.trim().toLowerCase();
  const names = model ? model.names : nodes.map((node) => node.getAttribute("aria-label").split(", parents: ")[0]);
  const matches = names.map((name) => wanted !== "" && name.toLowerCase().includes(wanted));
  nodes.forEach((node, v) => node.classList.toggle("match", matches[v]));
  cards.forEach((card, v) => { card.hidden = wanted !== "" && !matches[v]; });
  canvas.querySelector("svg").classList.toggle("searching", wanted !== "");
  const count = matches.filter(Boolean).length;
  document.getElementById("found").textContent = wanted === "" ? "" : `${count} found`;
});
let visited = -1;
if (search) search.addEventListener("keydown", (event) => {
  const matches = nodes.flatMap((node, v) => (node.classList.contains("match") ? [v] : []));
  if (event.key !== "Enter" || !matches.length) return;
  visited = matches.find((v) => v > visited) ?? matches[0];  // one after the other
  if (!nodes[visited].classList.contains("chosen")) choose(visited);
  bringIntoView(visited);
});

/* Evidence in, posteriors out. */
if (model) {
  const tree = new JunctionTree(model);
  const evidence = new Map();
  const buttons = all(".state");
  const status = document.getElementById("evidence");
  const clear = document.getElementById("clear");
  const mpe = document.getElementById("mpe");
  const told = document.getElementById("explanation");
  const probability = (log) => log > -600
    ? Math.exp(log).toPrecision(4)
    : `about 10 to the power of ${Math.round(log / Math.LN10)}`;
  const percent = (p) => `${(100 * p).toFixed(2)} %`;

  const update = () => {
    const begun = performance.now();
    const found = tree.marginals(evidence);
    const best = found && mpe.getAttribute("aria-pressed") === "true" ? tree.explanation(evidence) : null;
    const took = performance.now() - begun;
    for (const button of buttons) {
      const v = Number(button.dataset.v);
      const s = Number(button.dataset.s);
      const known = evidence.get(v) === s;
      const p = found ? found.posteriors[v][s] : NaN;
      button.dataset.p = String(p);
      button.style.setProperty("--p", found ? p.toFixed(4) : "0");
      button.querySelector(".p").textContent = found ? percent(p) : "–";
      button.title = found ? `P = ${p}` : "";
      button.setAttribute("aria-pressed", String(known));
      button.classList.toggle("best", best !== null && best.states[v] === s);
      const top = best !== null && best.states[v] === s ? ", in the most probable explanation" : "";
      button.setAttribute("aria-label", `${model.names[v]} is ${model.states[v][s]}: ${found ? percent(p) : "impossible evidence"}${known ? ", known" : ""}${top}`);
    }
    cards.forEach((card, v) => card.classList.toggle("known", evidence.has(v)));
    nodes.forEach((node, v) => node.classList.toggle("known", evidence.has(v)));
    clear.disabled = evidence.size === 0;
    const known = [...evidence].map(([v, s]) => `${model.names[v]} = ${model.states[v][s]}`).join(", ");
    status.classList.toggle("impossible", !found);
    status.dataset.log = found ? String(found.log) : "";
    if (evidence.size === 0) status.textContent = "No evidence yet.";
    else if (!found) status.textContent = `Evidence: ${known}. This has probability zero: remove some of it.`;
    else status.textContent = `Evidence: ${known}. Probability: ${probability(found.log)}.`;
    told.dataset.log = best ? String(best.log) : "";
    told.textContent = best ? `★ marks the most probable states of all variables together; log probability ${best.log.toFixed(4)}.` : "";
    document.getElementById("timing").textContent = ` The last answer took ${took.toFixed(1)} ms here.`;
  };
  for (const button of buttons) button.addEventListener("click", () => {
    const v = Number(button.dataset.v);
    const s = Number(button.dataset.s);
    if (evidence.get(v) === s) evidence.delete(v);
    else evidence.set(v, s);
    update();
  });
  clear.addEventListener("click", () => { evidence.clear(); update(); });
  mpe.addEventListener("click", () => {
    mpe.setAttribute("aria-pressed", String(mpe.getAttribute("aria-pressed") !== "true"));
    update();
  });
  update();
}
