/* Two drawings that move together; a variable chosen in one is chosen in both. */
for (const tools of all(".tools")) tools.hidden = false;
const canvases = all(".canvas");
const sides = canvases.map((canvas) => makeMovable(canvas));
canvases.forEach((canvas, side) => canvas.addEventListener("drawn", (event) => sides[1 - side].follow(event.detail)));
for (const button of all("[data-zoom]")) button.addEventListener("click", () => sides[0].zoom(Number(button.dataset.zoom)));
const nodes = canvases.map((canvas) => all(".node", canvas));
const rows = all("tbody tr");
let chosen = -1;

function choose(v) {
  chosen = chosen === v ? -1 : v;
  rows.forEach((row, i) => row.classList.toggle("chosen", i === chosen));
  canvases.forEach((canvas, side) => {
    canvas.querySelector("svg").classList.toggle("choosing", chosen >= 0);
    nodes[side].forEach((node, i) => node.classList.toggle("chosen", i === chosen));
    for (const arc of all("path[data-tail]", canvas))
      arc.classList.toggle("near", [arc.dataset.tail, arc.dataset.head].includes(String(chosen)));
  });
}
canvases.forEach((canvas, side) => nodes[side].forEach((node, v) => {
  node.addEventListener("click", () => { if (!canvas.moved) choose(v); });
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose(v);
  });
}));

const search = document.getElementById("search");
if (search) search.addEventListener("input", () => {
  const wanted = search.value.trim().toLowerCase();
  rows.forEach((row, v) => {
    const is = wanted !== "" && row.cells[0].textContent.toLowerCase().includes(wanted);
    row.hidden = wanted !== "" && !is;
    for (const own of nodes) own[v].classList.toggle("match", is);
  });
  for (const canvas of canvases) canvas.querySelector("svg").classList.toggle("searching", wanted !== "");
  const count = rows.filter((row) => !row.hidden).length;
  document.getElementById("found").textContent = wanted === "" ? "" : `${count} found`;
});
