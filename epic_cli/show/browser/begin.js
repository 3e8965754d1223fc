// Show the moment of the address: #t=12.5&off=NAME&on=NAME&entity=NAME&log=1&apart=0.
function readLink(link) {
  const asked = new URLSearchParams(link.slice(1));
  for (const label of asked.getAll("off")) state.on.delete(label);
  for (const label of asked.getAll("on")) state.on.add(label);
  return asked;
}

const wanted = readLink(location.hash);
fitTurns();
fillWords();
fillReports();
fillEntities();
fillFigures();
const opened = Math.max(
  0,
  data.scenes.findIndex((one) => one.entity === wanted.get("entity")),
);
$("entity").value = opened;
choose(opened);
state.log = wanted.get("log") === "1" || measureSpread() > 30;
state.apart = wanted.get("apart") !== "0";
for (const way of ["log", "apart"]) $(way).checked = state[way];
if (wanted.has("t") || data.at !== null) go(Number(wanted.get("t") ?? data.at) - getScene().start);
drawNow();
document.body.dataset.ready = "yes";

// Return the ratio of the largest errors of the worst and the best shown strategy.
function measureSpread() {
  const largest = listVisible()
    .filter((one) => one.worst >= 0)
    .map((one) => one.error[one.worst])
    .filter((one) => one > 0);
  return largest.length ? Math.max(...largest) / Math.min(...largest) : 1;
}

addEventListener("hashchange", () => {
  const asked = new URLSearchParams(location.hash.slice(1));
  const meant = data.scenes.findIndex((one) => one.entity === asked.get("entity"));
  if (meant >= 0) {
    $("entity").value = meant;
    choose(meant);
  }
  if (asked.has("t")) go(Number(asked.get("t")) - getScene().start);
});
addEventListener("resize", () => {
  fillRecoveries();
  redraw();
});
function repaint() {
  colors.clear();
  paintFigures();
  drawNow();
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  redraw();
  repaint();
});
// Print on white. Pictures drawn before the layout for paper are scaled to its width.
function prepareForPaper(on) {
  if (on === state.printing) return;
  document.documentElement.classList.toggle("print", on);
  for (const box of document.querySelectorAll("details")) {
    if (on) box.dataset.was = box.open;
    box.open = on || box.dataset.was === "true";
  }
  state.printing = false;
  pixels.each = on ? 3 : 1;
  if (!on) sizes.clear();
  redraw();
  repaint();
  state.printing = on;
}
addEventListener("beforeprint", () => prepareForPaper(true));
addEventListener("afterprint", () => prepareForPaper(false));
matchMedia("print").addEventListener("change", ({ matches }) => prepareForPaper(matches));
