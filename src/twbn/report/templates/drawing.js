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
  const home = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
  const names = all(".node", drawing).map((node) => nameOf(node));
  let view = { ...home };
  let waiting = false;
  const scale = () => Math.max(view.width / canvas.clientWidth, view.height / canvas.clientHeight);
  const draw = () => {
    waiting = false;
    drawing.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
    const far = drawing.querySelector(".bar") !== null && scale() > FAR;
    drawing.classList.toggle("far", far);
    canvas.dispatchEvent(new CustomEvent("drawn", { detail: view }));
    const size = Math.round(FAR_NAME * scale());
    if (canvas.clientWidth === 0) return;  // not laid out yet
    if (drawing.dataset.size === String(far ? size : NAME)) return;
    drawing.dataset.size = String(far ? size : NAME);
    const most = far ? Math.min(size, usual()) : null;
    for (const name of names) name.resize(most);
  };
  // Names of one size look better than each as large as its box allows: a quarter may be smaller.
  let known = null;
  const usual = () => {
    known ??= names.map((name) => name.room()).sort((a, b) => a - b);
    return known[Math.floor(known.length / 4)];
  };
  const show = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(draw);
  };
  // The first view shows everything, in a frame that is no higher than the drawing needs.
  const fit = () => {
    view = { ...home };
    const most = Number.parseFloat(getComputedStyle(canvas).maxHeight) || 800;
    const natural = home.height * Math.min(canvas.clientWidth / home.width, 1) + 16;
    canvas.style.height = `${Math.round(Math.min(Math.max(natural, 160), most))}px`;
    draw();
  };
  const zoom = (factor, x = view.x + view.width / 2, y = view.y + view.height / 2) => {
    if (factor === 0) view = { ...home };
    else {
      const widest = 4 * Math.max(home.width, canvas.clientWidth);
      const width = Math.min(Math.max(view.width / factor, 60), widest);
      const ratio = width / view.width;
      view = { x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio, width, height: view.height * ratio };
    }
    draw();
  };
  const move = (dx, dy) => { view.x += dx * scale(); view.y += dy * scale(); show(); };
  const follow = (other) => {
    if (["x", "y", "width", "height"].some((key) => Math.abs(other[key] - view[key]) > 1e-6)) {
      view = { ...other };
      draw();
    }
  };
  const center = (box) => {
    const width = Math.min(view.width, Math.max(canvas.clientWidth, 500));
    view = { width, height: view.height * width / view.width };
    view.x = box.x + box.width / 2 - view.width / 2;
    view.y = box.y + box.height / 2 - view.height / 2;
    draw();
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
  window.addEventListener("beforeprint", () => { before = { ...view }; view = { ...home }; draw(); });
  window.addEventListener("afterprint", () => { if (before) { view = before; draw(); } });
  let wide = canvas.clientWidth;
  new ResizeObserver(() => {
    if (canvas.clientWidth === wide) return;
    wide = canvas.clientWidth;
    if (view.width === home.width) fit();
    else draw();
  }).observe(canvas);
  fit();
  return { zoom, center, follow };
}

/* The name of a node: in the middle of its box, and as large as asked and as the box allows, where
   bars are hidden. */
function nameOf(node) {
  const texts = all(".name", node);
  const box = node.querySelector(".box");
  const [x, y, width, height] = ["x", "y", "width", "height"].map((key) => Number(box.getAttribute(key)));
  const home = texts.map((text) => text.getAttribute("y"));
  let widest = null;  // with a margin: glyphs are wider where they are drawn small
  const room = () => {
    widest ??= NAME * 0.92 * (width - 10) / Math.max(...texts.map((text) => text.getComputedTextLength()), 1);
    return widest;
  };
  const resize = (size) => {
    if (!node.classList.contains("barred")) return;
    texts.forEach((text, i) => {
      if (size === null) {
        text.style.fontSize = "";
        text.setAttribute("y", home[i]);
        return;
      }
      const fitting = Math.min(size, room(), height - 6);
      text.style.fontSize = `${fitting}px`;
      text.setAttribute("y", String(y + height / 2 + fitting * 0.35));
    });
  };
  return { resize, room };
}
