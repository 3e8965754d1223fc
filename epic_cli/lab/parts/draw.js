// A movement drawn with the mouse or a finger, computed while it is drawn; and the beginning of it all.
const APART = 15; // milliseconds from one point to the next

function drawHand(on) {
  $("lab-draw").setAttribute("aria-pressed", String(on));
  document.body.classList.toggle("drawing", on);
  if (on) { play(false); $("follow").checked = false; say("hold the mouse on the map, and move"); }
}

function addPoint(event) {
  const now = performance.now();
  if (lab.path.length && now - lab.last < APART) return;
  lab.begun ??= now;
  lab.last = now;
  const frame = $("above").getBoundingClientRect(), { x: viewX, y: viewY, scale } = state.view, [originX, originY] = lab.origin;
  const x = viewX + (event.clientX - frame.left - frameAbove.middleX) / scale, y = viewY - (event.clientY - frame.top - frameAbove.middleY) / scale;
  lab.path.push([(now - lab.begun) / 1000, x + originX, y + originY].map((one) => Number(one.toFixed(4))).join(","));
  if (lab.path.length < 3 || lab.path.length > 2000) return;
  lab.points = lab.path.join(";");
  lab.moves = $("lab-moves").value = "hand";
  changed(false);
}

const above = $("above-box");
const inHand = (event) => document.body.classList.contains("drawing") && event.target === $("above") && (event.stopPropagation(), event.preventDefault(), true);
above.addEventListener("pointerdown", (event) => {
  if (!inHand(event)) return;
  $("above").setPointerCapture(event.pointerId);
  // what is drawn later has another middle: the view goes with it
  Object.assign(lab, { path: [], begun: null, drawing: true, origin: [...scene().origin] });
  addPoint(event);
}, true);
above.addEventListener("pointermove", (event) => { if (lab.drawing && inHand(event)) addPoint(event); }, true);
for (const kind of ["pointerup", "pointercancel"]) {
  above.addEventListener(kind, (event) => {
    if (!lab.drawing || !inHand(event)) return;
    lab.drawing = false;
    drawHand(false);
    changed();
    go(0);
    play(true);
  }, true);
}

$("lab-draw").addEventListener("click", () => drawHand($("lab-draw").getAttribute("aria-pressed") !== "true"));
$("lab-moves").addEventListener("change", () => {
  lab.moves = $("lab-moves").value;
  if (lab.moves === "hand" && !lab.points) drawHand(true); else changed();
});
$("lab-at").addEventListener("change", () => { lab.at = $("lab-at").value.split(/[\n;]/).map((one) => one.trim()).filter(Boolean); changed(); });
$("lab-copy").addEventListener("click", () => copy($("lab-line")));
$("lab-again").addEventListener("click", () => { history.replaceState(null, "", location.pathname); begin(); });
for (const [id, file] of [["lab-page", "lab.html"], ["lab-svg", "lab.svg"], ["lab-gif", "lab.gif"], ["lab-mp4", "lab.mp4"], ["lab-case", "lab-case.zip"], ["lab-csv", "by-hand.csv"]]) {
  // computed when it is asked for, of what is shown then
  $(id).addEventListener("click", () => { $(id).href = `${file}?${query(id === "lab-page" ? lab.networks : 1)}${/gif|mp4/.test(id) ? `&clip=${clipWords()}` : ""}`; });
  $(id).href = file;
}

// The seconds that the charts show, as fast as they are played.
function clipWords() {
  const [from, to] = state.window.map((one) => (scene().start + one).toFixed(3)), dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const part = state.window[1] - state.window[0] < duration() - data.tick ? [`from=${from}`, `to=${to}`] : [];
  return escaped([...part, `speed=${$("speed").value}`, `theme=${dark ? "dark" : "light"}`].join(","));
}

const side = document.querySelector("aside"), team = element("div", side, { id: "lab-team" });
const add = element("select", side, { id: "lab-add", "aria-label": "add a strategy" });
side.insertBefore(team, side.querySelector("h2 + canvas").previousElementSibling);
side.insertBefore(add, team.nextSibling);
text("option", "add a strategy \u2026", add).value = "";
for (const name of Object.keys(lab.strategies)) text("option", name, add);
add.addEventListener("change", () => { lab.team.push({ name: add.value, settings: new Map() }); add.value = ""; teamChanged(); });
// who sets something does not mean the keys of the page
for (const box of [$("lab"), team, add]) box.addEventListener("keydown", (event) => { if (event.target.matches("input, select, textarea")) event.stopPropagation(); });
$("figures").addEventListener("change", () => paintTeam());

function begin() {
  readQuery(location.search);
  $("lab-moves").value = lab.moves;
  $("lab-at").value = lab.at.join("\n");
  fillTeam();
  settle();
  ask();
}
lab.moveNames = data.lab.moves;
lab.drawing = false;
fillExperiment();
begin();
connect();
addEventListener("popstate", begin);
