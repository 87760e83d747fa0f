const model = document.getElementById("model") && JSON.parse(document.getElementById("model").textContent);
for (const tools of all(".tools")) tools.hidden = false;

const canvas = document.getElementById("network");
const network = canvas && makeMovable(canvas);
if (document.getElementById("proof")) makeMovable(document.getElementById("proof"));
for (const button of all("[data-zoom]")) button.addEventListener("click", () => network.zoom(Number(button.dataset.zoom)));
const nodes = canvas ? all(".node", canvas) : [];
const arcs = canvas ? all("path[data-tail]", canvas) : [];
const cards = all(".card");
let chosen = -1;
const watchers = [];  // called when another variable is chosen

/* Scrolls the list, and not the page. */
function showInList(card) {
  const list = document.getElementById("cards");
  const [at, frame] = [card.getBoundingClientRect(), list.getBoundingClientRect()];
  if (at.top < frame.top) list.scrollTop += at.top - frame.top;
  else if (at.bottom > frame.bottom) list.scrollTop += at.bottom - frame.bottom;
}

/* Choosing a variable highlights its arcs and its card. */
function choose(v) {
  const again = chosen === v;
  for (const element of [...nodes, ...cards]) element.classList.remove("chosen");
  for (const arc of arcs) arc.classList.remove("near");
  canvas.querySelector("svg").classList.toggle("choosing", !again);
  chosen = again ? -1 : v;
  if (!again) {
    nodes[v].classList.add("chosen");
    for (const arc of arcs) arc.classList.toggle("near", arc.dataset.tail === String(v) || arc.dataset.head === String(v));
    if (cards[v]) {
      cards[v].classList.add("chosen");
      cards[v].hidden = false;
      showInList(cards[v]);
    }
  }
  for (const watch of watchers) watch();
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
  if (nodes[v].dataset.nats) element("p", nodes[v].dataset.nats, tip).className = "hint";
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
  tip.dataset.v = String(v);
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
    network.center(nodes[v]);
}
let soon = 0;
const hideTip = () => { clearTimeout(soon); tip.hidden = true; };
if (canvas) canvas.addEventListener("viewed", hideTip);
nodes.forEach((node, v) => {
  node.querySelector("title").remove();  // the table says more; the label stays for screen readers
  node.setAttribute("aria-describedby", "tip");
  node.addEventListener("pointerenter", (event) => {
    if (event.pointerType !== "touch") soon = setTimeout(() => showTip(v), 300);
  });
  node.addEventListener("pointerleave", hideTip);
  node.addEventListener("focus", () => {
    if (!node.matches(":focus-visible")) return;
    bringIntoView(v);
    showTip(v);
  });
  node.addEventListener("blur", hideTip);
  node.addEventListener("click", (event) => {
    if (!canvas.moved && !event.target.closest(".bar")) choose(v);
  });
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose(v);
  });
});
document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });

for (const button of all(".find")) button.addEventListener("click", () => {
  const v = Number(button.dataset.v);
  if (chosen !== v) choose(v);
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
  if (chosen !== visited) choose(visited);
  bringIntoView(visited);
});

/* A file of text, offered to the reader. */
function offer(name, kind, text) {
  const link = element("a", null);
  link.href = URL.createObjectURL(new Blob([text], { type: kind }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/* The drawing as a picture: with the styles of this page, and the whole of it. */
function picture() {
  const copy = network.copied();
  const styles = getComputedStyle(document.documentElement);
  const colours = ["paper", "panel", "ink", "muted", "line", "accent", "accent-soft", "known", "known-soft", "set", "set-soft", "changed"]
    .map((name) => `--${name}: ${styles.getPropertyValue(`--${name}`)};`).join(" ");
  const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
  const rules = all("style").map((one) => one.textContent).join("\n");
  style.textContent = `${rules}\nsvg:root { ${colours} background: var(--paper); }`;
  copy.prepend(style);
  const [, , width, height] = copy.getAttribute("viewBox").split(" ").map(Number);
  copy.setAttribute("width", String(Math.round(width)));
  copy.setAttribute("height", String(Math.round(height)));
  return new XMLSerializer().serializeToString(copy);
}
const saves = document.getElementById("save-picture");
if (saves) saves.addEventListener("click", () => offer(`${document.title}.svg`, "image/svg+xml", picture()));

/* Evidence in, posteriors out. */
if (model) makePanel();

function makePanel() {
  const tree = new JunctionTree(model);
  const prior = tree.prior.posteriors;
  let given = new Map();  // of a variable: its state, and whether it is set or observed
  let past = [];
  let shown = prior;
  const buttons = model.states.map(() => []);
  for (const button of all(".state")) buttons[Number(button.dataset.v)][Number(button.dataset.s)] = button;
  const bars = model.states.map(() => []);
  for (const bar of canvas ? all(".bar", canvas) : []) bars[Number(bar.dataset.v)][Number(bar.dataset.s)] = bar;
  const byId = (id) => document.getElementById(id);
  const status = byId("evidence");
  const told = byId("explanation");
  const mpe = byId("mpe");
  const colour = byId("influence");
  const probability = (log) => log > -600
    ? Math.exp(log).toPrecision(4)
    : `about 10 to the power of ${Math.round(log / Math.LN10)}`;
  const percent = (p, digits = 2) => `${(100 * p).toFixed(digits)} %`;
  const isPressed = (button) => button.getAttribute("aria-pressed") === "true";
  const setMode = () => byId("mode-set").checked;

  const parts = () => {
    const evidence = new Map();
    const set = new Map();
    for (const [v, { state, isSet }] of given) (isSet ? set : evidence).set(v, state);
    return { evidence, set };
  };
  const isSame = (a, b) => a.length === b.length && a.every((p, s) => Math.abs(p - b[s]) < 1e-12);
  const distance = (a, b) => a.reduce((sum, p, s) => sum + Math.abs(p - b[s]) / 2, 0);

  const paint = (v, found, best) => {
    const one = given.get(v);
    buttons[v].forEach((button, s) => {
      const p = found ? found.posteriors[v][s] : Number.NaN;
      const known = one !== undefined && one.state === s;
      const text = found ? percent(p) : "–";
      button.dataset.p = String(p);
      button.style.setProperty("--p", found ? p.toFixed(4) : "0");
      button.lastElementChild.textContent = text;
      button.title = found ? `P = ${p}, before any evidence ${prior[v][s]}` : "";
      button.setAttribute("aria-pressed", String(known));
      button.classList.toggle("best", best !== null && best.states[v] === s);
      const how = known ? (one.isSet ? ", set" : ", known") : "";
      const top = best !== null && best.states[v] === s ? ", in the most probable explanation" : "";
      button.setAttribute("aria-label", `${model.names[v]} is ${model.states[v][s]}: ${found ? text : "impossible evidence"}${how}${top}`);
      const bar = bars[v][s];
      if (!bar) return;
      bar.querySelector(".fill").style.transform = `scaleX(${found ? p.toFixed(4) : 0})`;
      bar.querySelector(".number").textContent = found ? percent(p, 1) : "–";
      bar.classList.toggle("known", known);
      bar.classList.toggle("best", best !== null && best.states[v] === s);
    });
    for (const element of [cards[v], nodes[v]]) {
      if (!element) continue;
      element.classList.toggle("known", one !== undefined && !one.isSet);
      element.classList.toggle("set", one !== undefined && one.isSet);
    }
  };

  let painted = null;  // what is on the page
  const update = ({ keep = false } = {}) => {
    const begun = performance.now();
    const { evidence, set } = parts();
    const now = tree.under(set);
    const found = now.marginals(evidence);
    const best = found && isPressed(mpe) ? now.explanation(evidence) : null;
    const took = performance.now() - begun;
    const before = shown;
    if (found) shown = found.posteriors;
    const keys = (map, v) => { const one = map.get(v); return one ? `${one.state}${one.isSet}` : ""; };
    for (let v = 0; v < model.names.length; v++) {
      const is = !painted || painted.best || best || !found || !painted.found ||
        !isSame(found.posteriors[v], painted.found.posteriors[v]) || keys(given, v) !== keys(painted.given, v);
      if (is) paint(v, found, best);
      if (keep) continue;
      const changed = found !== null && !given.has(v) && distance(before[v], found.posteriors[v]) > 0.01;
      if (nodes[v]) nodes[v].classList.toggle("changed", changed);
      if (cards[v]) cards[v].classList.toggle("changed", changed);
    }
    painted = { found, best, given: new Map(given) };
    for (const arc of arcs) arc.classList.toggle("cut", set.has(Number(arc.dataset.head)));
    document.body.classList.toggle("asked-now", given.size > 0);
    byId("clear").disabled = given.size === 0;
    byId("undo").disabled = past.length === 0;
    const said = (map, verb) => [...map].map(([v, s]) => `${model.names[v]} ${verb} ${model.states[v][s]}`).join(", ");
    const observed = said(evidence, "=");
    const known = [observed && `Evidence: ${observed}`, set.size && `Set: ${said(set, "=")}`].filter(Boolean).join(". ");
    status.classList.toggle("impossible", !found);
    status.dataset.log = found ? String(found.log) : "";
    if (given.size === 0) status.textContent = "No evidence yet.";
    else if (!found) status.textContent = `This has probability zero; remove some of it. ${known}.`;
    else status.textContent = evidence.size ? `Probability of the evidence: ${probability(found.log)}. ${known}.` : `${known}.`;
    told.dataset.log = best ? String(best.log) : "";
    told.textContent = best ? `★ most probable together, log P = ${best.log.toFixed(4)}` : "";
    byId("timing").textContent = ` The last answer took ${took.toFixed(1)} ms here.`;
    tint(now, evidence);
    if (!keep) remember();
  };

  /* Evidence as a part of the address, so that it can be kept and sent. */
  const remember = () => {
    const words = [...given].map(([v, { state, isSet }]) =>
      `${isSet ? "do" : "e"}:${encodeURIComponent(model.names[v])}=${encodeURIComponent(model.states[v][state])}`);
    const address = words.length ? `#${words.join("&")}` : "#";
    if (address === (location.hash || "#")) return;
    try { history.replaceState(null, "", address); } catch { /* an address that cannot change */ }
  };
  const recall = () => {
    const found = new Map();
    const unknown = [];
    for (const word of location.hash.slice(1).split("&").filter((part) => /^(e|do):/.test(part))) {
      try {
        const [kind, rest] = [word.slice(0, word.indexOf(":")), word.slice(word.indexOf(":") + 1)];
        const [name, state] = rest.split("=").map(decodeURIComponent);
        const v = model.names.indexOf(name);
        const s = v < 0 ? -1 : model.states[v].indexOf(state);
        if (s >= 0) found.set(v, { state: s, isSet: kind === "do" });
        else unknown.push(`${name} = ${state}`);
      } catch { unknown.push(word); }
    }
    given = found;
    past = [];
    update({ keep: true });
    if (unknown.length) status.textContent += ` The address names what this network does not have: ${unknown.join(", ")}.`;
  };
  window.addEventListener("hashchange", recall);

  const change = (next) => {
    hideTip();  // it would cover what changes
    past.push(given);
    given = next;
    update();
  };
  const enter = (v, s) => {
    const next = new Map(given);
    const one = next.get(v);
    if (one && one.state === s && one.isSet === setMode()) next.delete(v);
    else next.set(v, { state: s, isSet: setMode() });
    change(next);
  };
  for (const button of all(".state")) button.addEventListener("click", () => enter(Number(button.dataset.v), Number(button.dataset.s)));
  for (const bar of bars.flat()) bar.addEventListener("click", () => {
    if (!canvas.moved) enter(Number(bar.dataset.v), Number(bar.dataset.s));
  });
  const undo = () => {
    if (!past.length) return;
    given = past.pop();
    update();
  };
  byId("undo").addEventListener("click", undo);
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLInputElement && event.target.type === "search";
    if ((event.ctrlKey || event.metaKey) && event.key === "z" && !event.shiftKey && !typing) {
      event.preventDefault();
      undo();
    }
  });
  byId("clear").addEventListener("click", () => change(new Map()));
  mpe.addEventListener("click", () => {
    mpe.setAttribute("aria-pressed", String(!isPressed(mpe)));
    update({ keep: true });
  });

  /* Colour by what a variable would tell about the chosen one. */
  let target = -1;
  const tint = (now, evidence) => {
    const nats = target < 0 ? null : now.influence(target, evidence);
    const most = nats ? Math.max(...nats.map((value, v) => (v === target ? 0 : value)), 1e-9) : 1;
    nodes.forEach((node, v) => {
      const own = nats && v !== target ? nats[v] : null;
      node.classList.toggle("tinted", own !== null);
      node.classList.toggle("target", v === target);
      if (own === null) delete node.dataset.nats;
      else {
        node.dataset.nats = `tells ${own.toFixed(4)} nats about ${model.names[target]}`;
        node.style.setProperty("--tint", `${Math.round(100 * Math.sqrt(own / most))}%`);
      }
    });
    byId("legend").textContent = nats
      ? `Colour: what each variable would tell about ${model.names[target]}; the darkest ${most.toFixed(3)} nats.`
      : "";
  };
  const offerInfluence = () => {
    colour.disabled = chosen < 0 && target < 0;
    colour.setAttribute("aria-pressed", String(target >= 0));
    colour.title = chosen < 0 && target < 0 ? "Choose a variable first: click its name" : `What each variable would tell about ${model.names[target >= 0 ? target : chosen]}`;
  };
  if (colour) {
    colour.addEventListener("click", () => {
      target = target >= 0 ? -1 : chosen;
      const { evidence, set } = parts();
      tint(tree.under(set), evidence);
      offerInfluence();
    });
    watchers.push(() => {
      if (target >= 0 && chosen >= 0) {
        target = chosen;
        const { evidence, set } = parts();
        tint(tree.under(set), evidence);
      }
      offerInfluence();
    });
    offerInfluence();
  }

  /* The order of the cards changes when asked to, never under the reader's hand. */
  const list = byId("cards");
  const sort = (key) => {
    const order = cards.map((_, v) => v).sort((a, b) => key(a, b) || a - b);
    list.append(...order.map((v) => cards[v]));
    list.scrollTop = 0;
  };
  const moved = (v) => distance(prior[v], shown[v]);
  const orders = {
    table: () => 0,
    name: (a, b) => model.names[a].localeCompare(model.names[b]),
    change: (a, b) => moved(b) - moved(a),
  };
  for (const button of all("[data-order]")) button.addEventListener("click", () => {
    for (const other of all("[data-order]")) other.setAttribute("aria-pressed", String(other === button));
    sort(orders[button.dataset.order]);
  });

  byId("save-table").addEventListener("click", () => {
    const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const lines = ["variable,state,prior,posterior,role"];
    model.names.forEach((name, v) => model.states[v].forEach((state, s) => {
      const one = given.get(v);
      const role = one && one.state === s ? (one.isSet ? "set" : "observed") : "";
      lines.push([quoted(name), quoted(state), prior[v][s], painted.found ? shown[v][s] : "", role].join(","));
    }));
    offer(`${document.title}.csv`, "text/csv", `${lines.join("\r\n")}\r\n`);
  });
  recall();
}
