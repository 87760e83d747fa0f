/* Drawings are moved and zoomed by changing their view box. */
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
/* Drawing units per pixel from which bars are too small to read, and only names are shown. */
const FAR = 1.55;
/* The size of names then, in pixels; and of names otherwise, in drawing units. */
const FAR_NAME = 12.5;
const NAME = 13;

function makeMovable(canvas) {
  const drawing = canvas.querySelector("svg");
  const whole = drawing.viewBox.baseVal;
  const near = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
  // Where bars are too small to read, only names are left, and the layers move together.
  const collapsed = drawing.dataset.far ? { ...near, height: Number(drawing.dataset.far) } : near;
  const nodes = all(".node", drawing).map((node) => nodeOf(node));
  const paths = all("path[data-far]", drawing).map((path) => ({ path, near: path.getAttribute("d"), far: path.dataset.far }));
  let far = false;
  let home = near;
  let view = { ...home };
  let untouched = true;
  let waiting = false;
  const scaleOf = (box) => Math.max(box.width / canvas.clientWidth, box.height / canvas.clientHeight);
  const scale = () => scaleOf(view);
  const arrange = (isFar) => {
    const middle = (view.y + view.height / 2 - home.y) / home.height;
    far = isFar;
    drawing.dataset.size = "";
    home = far ? collapsed : near;
    drawing.classList.toggle("far", far);
    for (const { path, near: data, far: other } of paths) path.setAttribute("d", far ? other : data);
    for (const node of nodes) node.arrange(far);
    view.y = home.y + middle * home.height - view.height / 2;
  };
  const draw = () => {
    waiting = false;
    if (canvas.clientWidth === 0) return;  // not laid out yet
    // Bars come back a little later than they went, and never where all of the names fill the frame.
    const limit = far ? Math.min(FAR, 0.87 * scaleOf(collapsed)) : FAR;
    if (collapsed !== near && far !== scale() > limit) arrange(!far);
    drawing.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
    canvas.dispatchEvent(new CustomEvent("drawn", { detail: view }));
    const size = far ? Math.min(Math.round(FAR_NAME * scale()), usual()) : NAME;
    if (drawing.dataset.size === String(size)) return;
    drawing.dataset.size = String(size);
    for (const node of nodes) node.resize(far ? size : null);
  };
  // Names of one size look better than each as large as its box allows: a quarter may be smaller.
  let known = null;
  const usual = () => {
    known ??= nodes.map((node) => node.room()).sort((a, b) => a - b);
    return known[Math.floor(known.length / 4)];
  };
  const show = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(draw);
  };
  // The first view shows everything, in a frame that is no higher than the drawing needs.
  const fit = () => {
    const most = Number.parseFloat(getComputedStyle(canvas).maxHeight) || 800;
    const high = (box, factor) => Math.min(Math.max(box.height * Math.min(canvas.clientWidth / box.width, factor) + 16, 160), most);
    canvas.style.height = `${Math.round(high(near, 1.3))}px`;
    if (canvas.clientWidth === 0) return;
    untouched = true;
    view = { ...near };
    if (collapsed !== near && far !== scale() > FAR) arrange(!far);
    view = { ...home };
    if (far) canvas.style.height = `${Math.round(high(home, 1))}px`;
    draw();
  };
  const zoom = (factor, x = view.x + view.width / 2, y = view.y + view.height / 2) => {
    if (factor === 0) {
      fit();
      return;
    }
    untouched = false;
    const widest = 1.5 * Math.max(home.width, home.height * canvas.clientWidth / canvas.clientHeight);
    const width = Math.min(Math.max(view.width / factor, 60), widest);
    const ratio = width / view.width;
    view = { x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio, width, height: view.height * ratio };
    draw();
  };
  const move = (dx, dy) => { untouched = false; view.x += dx * scale(); view.y += dy * scale(); show(); };
  const follow = (other) => {
    if (["x", "y", "width", "height"].some((key) => Math.abs(other[key] - view[key]) > 1e-6)) {
      untouched = false;
      view = { ...other };
      draw();
    }
  };
  const center = (node) => {
    untouched = false;
    const width = Math.min(view.width, Math.max(canvas.clientWidth, 500));
    view = { ...view, width, height: view.height * width / view.width };
    draw();  // which may bring bars, and so move the node
    const box = node.querySelector(".box").getBBox();
    view.x = box.x + box.width / 2 - view.width / 2;
    view.y = box.y + box.height / 2 - view.height / 2;
    draw();
  };
  /* A copy of the whole drawing, with its bars. */
  const copied = () => {
    const before = far;
    if (before) arrange(false);
    for (const node of nodes) node.resize(null);
    const copy = drawing.cloneNode(true);
    copy.setAttribute("viewBox", `${near.x} ${near.y} ${near.width} ${near.height}`);
    for (const state of ["searching", "choosing"]) copy.classList.remove(state);
    drawing.dataset.size = "";
    if (before) arrange(true);
    draw();
    return copy;
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
    if (moves[event.key]) { move(...moves[event.key]); draw(); }
    else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") zoom(0);
    else return;
    canvas.dispatchEvent(new CustomEvent("viewed"));
    event.preventDefault();
  });
  let before = null;
  window.addEventListener("beforeprint", () => { before = { view, far }; view = { ...home }; draw(); });
  window.addEventListener("afterprint", () => {
    if (before && before.far !== far) arrange(before.far);
    if (before) { view = before.view; draw(); }
  });
  let wide = canvas.clientWidth;
  new ResizeObserver(() => {
    if (canvas.clientWidth === wide) return;
    wide = canvas.clientWidth;
    if (untouched) fit();
    else draw();
  }).observe(canvas);
  fit();
  return { zoom, center, follow, copied };
}

/* A node: in its place with its bars, or where only names are left, as large as they fit. */
function nodeOf(node) {
  const texts = all(".name", node);
  const box = node.querySelector(".box");
  const [x, y, width, height] = ["x", "y", "width", "height"].map((key) => Number(box.getAttribute(key)));
  const home = texts.map((text) => Number(text.getAttribute("y")));
  const low = 27;  // the height of a box without bars
  let widest = null;  // with a margin: glyphs are wider where they are drawn small
  const room = () => {
    widest ??= NAME * 0.92 * (width - 10) / Math.max(...texts.map((text) => text.getComputedTextLength()), 1);
    return widest;
  };
  const arrange = (far) => {
    if (!node.dataset.far) return;
    box.setAttribute("y", far ? node.dataset.far : String(y));
    box.setAttribute("height", String(far ? low : height));
  };
  const resize = (size) => {
    if (!node.dataset.far) return;
    texts.forEach((text, i) => {
      if (size === null) {
        text.style.fontSize = "";
        text.setAttribute("y", String(home[i]));
        return;
      }
      const fitting = Math.min(size, room(), low - 6);
      text.style.fontSize = `${fitting}px`;
      text.setAttribute("y", String(Number(node.dataset.far) + low / 2 + fitting * 0.35));
    });
  };
  return { resize, arrange, room };
}
