const seen = {};
const picture = (id) => {
  drawNow();
  return $(id).toDataURL();
};
const words = (id) => $(id).textContent;
const key = (name, on = document.body) =>
  on.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
const changed = (id, act) => {
  redraw();
  const before = picture(id);
  act();
  redraw();
  return picture(id) !== before;
};
seen.heads = [...document.querySelectorAll("#figures th[scope=col]")].map((one) => one.textContent);
seen.shown = [...document.querySelectorAll("#figures input:checked")].map(
  (one) => one.closest("tr").dataset.label,
);
seen.folded = [...document.querySelectorAll("#figures tr.folded")].map((one) => one.dataset.label);
$("more").click();
seen.unfolded = document.querySelectorAll("#figures tr.folded").length;
// it opens at the worst moment of the best strategy, near enough to see it
const best = listVisible()[0];
seen.worst = state.time === best.t[best.worst] && $("follow").checked;
seen.error = best.error[best.worst] * map.scale > 25;
// the largest error in the picture is that of the data, however coarse it is drawn
showTime(0, getDuration());
drawNow();
seen.top = state.errorTop === Math.max(...listVisible().map((one) => one.error[one.worst]));
state.time = -1;
$("time").value = 5;
$("time").dispatchEvent(new Event("input"));
drawNow();
seen.clock = words("clock");
seen.now = document.querySelector('tr[data-label="Late"] .now').textContent;
const box = document.querySelector('tr[data-label="Late"] input');
seen.switched = ["error", "lag", "status", "above", "histogram"].filter((id) =>
  changed(id, () => {
    box.click();
  }),
);
box.click();
key("ArrowRight");
seen.step = words("clock");
seen.said = words("said").includes("5.05 s");
key("+");
seen.zoomed = Math.round(getDuration() / (state.window[1] - state.window[0]));
key("PageDown", $("over-time"));
seen.scrolled = state.window[0] > 5;
$("time-all").click();
seen.all = state.window[1] === getDuration();
key("l");
seen.log = state.log;
const wheel = (on, deltaY) =>
  on.dispatchEvent(
    new WheelEvent("wheel", {
      deltaY,
      clientX: 300,
      clientY: 300,
      bubbles: true,
      cancelable: true,
    }),
  );
const scale = map.scale;
wheel($("above"), -100);
seen.nearer = map.scale > scale;
wheel($("error"), -100);
seen.shorter = state.window[1] - state.window[0] < getDuration();
seen.hover = describeLane("error", 5).slice(0, 2);
seen.packet = describeLane("packets", 5)[1].split("\n")[0];
$("entity").value = 1;
$("entity").dispatchEvent(new Event("change"));
seen.entity = words("view-title");
go(0);
$("play").click();
frame(state.shown + 1000);
seen.played = words("clock");
$("play").click();
seen.paused = !state.playing;
dispatchEvent(new Event("beforeprint"));
seen.print = [document.querySelectorAll("details:not([open])").length, getColor("--card")];
dispatchEvent(new Event("afterprint"));
seen.described = [...document.querySelectorAll("canvas")].every(
  (one) => one.getAttribute("role") === "img" && one.getAttribute("aria-label"),
);
seen.turns = [$("angle-box"), $("heading-key")]
  .map((box) => !box.hidden)
  .concat(document.body.className);
seen.words = words("error-words").slice(0, 15);
document.body.dataset.seen = JSON.stringify(seen);
