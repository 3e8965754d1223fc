// Mouse, touch and keys.
function zoomAbove(factor, clientX, clientY) {
  const view = state.view, { box, middleX, middleY } = frameAbove;
  const frame = $("above").getBoundingClientRect();
  const x = clientX === undefined || $("follow").checked ? 0 : clientX - frame.left - middleX;
  const y = clientY === undefined || $("follow").checked ? 0 : clientY - frame.top - middleY;
  if (Math.abs(x) > box.right || !(view.scale * factor > 1e-30 && view.scale * factor < 1e30)) return;
  // what is under the pointer stays there
  view.x += x / view.scale * (1 - 1 / factor);
  view.y -= y / view.scale * (1 - 1 / factor);
  view.scale *= factor;
  redraw("above");
}

function moveAbove(x, y) {
  $("follow").checked = false;
  state.view.x -= x / state.view.scale;
  state.view.y += y / state.view.scale;
  redraw("above");
}

const wheelFactor = (event) => Math.exp(Math.max(-200, Math.min(200, event.deltaY)) * 0.002);

// Follows the pointers that are down on an element: one drags, two pinch and drag. With a finger,
// one scrolls the page where it moves up or down.
function gestures(element, { drag, pinch, begin, box }) {
  const down = new Map();
  let from = null; // where a box begins
  const edges = (event) => [Math.min(from.x, event.clientX), Math.max(from.x, event.clientX), Math.min(from.y, event.clientY), Math.max(from.y, event.clientY)];
  const middle = () => {
    const points = [...down.values()];
    const x = points.reduce((sum, p) => sum + p.x, 0) / points.length, y = points.reduce((sum, p) => sum + p.y, 0) / points.length;
    const apart = points.length > 1 ? Math.hypot(points[0].x - points[1].x, points[0].y - points[1].y) : 0;
    return { x, y, apart };
  };
  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    down.set(event.pointerId, { x: event.clientX, y: event.clientY });
    from = event.shiftKey && box ? { x: event.clientX, y: event.clientY } : null;
    if (down.size === 1 && begin && !from) begin(event);
  });
  element.addEventListener("pointermove", (event) => {
    if (!down.has(event.pointerId)) return;
    if (from) {
      const [left, right, top, bottom] = edges(event);
      Object.assign($("frame").style, { left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${bottom - top}px` });
      $("frame").hidden = false;
      return;
    }
    const before = middle();
    down.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const now = middle();
    if (down.size > 1) pinch(before.apart && now.apart ? now.apart / before.apart : 1, now, now.x - before.x, now.y - before.y);
    else drag(event, now.x - before.x, now.y - before.y);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    element.addEventListener(end, (event) => {
      down.delete(event.pointerId);
      $("frame").hidden = true;
      if (from && end === "pointerup" && Math.abs(event.clientX - from.x) > 4) box(...edges(event));
      from = null;
    });
  }
  element.addEventListener("touchmove", (event) => { if (event.touches.length > 1) event.preventDefault(); }, { passive: false });
}

gestures($("above"), {
  drag: (event, x, y) => moveAbove(x, y),
  pinch: (factor, at, x, y) => { moveAbove(x, y); zoomAbove(factor, at.x, at.y); },
  box: (left, right, top, bottom) => {
    const frame = $("above").getBoundingClientRect(), { box, middleX, middleY, scale } = frameAbove;
    $("follow").checked = false;
    state.view.x += ((left + right) / 2 - frame.left - middleX) / scale;
    state.view.y -= ((top + bottom) / 2 - frame.top - middleY) / scale;
    state.view.scale *= Math.min((box.right - box.left) / (right - left), (box.bottom - box.top) / Math.max(1, bottom - top));
    redraw("above");
  },
});
$("above").addEventListener("wheel", (event) => {
  event.preventDefault();
  zoomAbove(1 / wheelFactor(event), event.clientX, event.clientY);
}, { passive: false });
$("above").addEventListener("pointermove", (event) => {
  if (event.buttons) return;
  const frame = $("above").getBoundingClientRect();
  tip(wordsAbove(event.clientX - frame.left, event.clientY - frame.top), event);
});

for (const lane of LANES) {
  const canvas = $(lane), seek = (event) => { go(timeAt(event.clientX)); };
  const share = (pixels) => pixels / (canvas.clientWidth - 56) * (state.window[1] - state.window[0]);
  gestures(canvas, {
    begin: (event) => { if (!event.button) seek(event); },
    drag: seek,
    box: (left, right) => showTime(timeAt(left), timeAt(right)),
    pinch: (factor, at, x) => { showTime(state.window[0] - share(x), state.window[1] - share(x)); zoomTime(1 / factor, timeAt(at.x)); },
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const sideways = event.shiftKey ? event.deltaY : event.deltaX;
    if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) showTime(state.window[0] + share(sideways), state.window[1] + share(sideways));
    else zoomTime(wheelFactor(event), timeAt(event.clientX));
  }, { passive: false });
  canvas.addEventListener("pointermove", (event) => {
    state.hover = Math.min(Math.max(0, timeAt(event.clientX)), duration());
    placeCursor();
    nameLine(nearestLine(lane, state.hover, event.offsetY));
    tip(wordsAt(lane, state.hover), event);
  });
}
for (const id of [...LANES, "above"]) {
  $(id).addEventListener("pointerleave", (event) => { state.hover = null; nameLine(""); placeCursor(); tip([], event); });
}

// The strip of the whole recording: its window follows the pointer.
const carry = (event) => {
  const [start, end] = state.window, half = (end - start) / 2;
  const middle = timeAt(event.clientX, $("overview"), [0, Math.max(duration(), data.tick)]);
  showTime(middle - half, middle + half);
};
gestures($("overview"), { begin: carry, drag: carry, pinch: (factor) => zoomTime(1 / factor) });
$("overview").addEventListener("wheel", (event) => { event.preventDefault(); zoomTime(wheelFactor(event)); }, { passive: false });

// The path and the pictures over time below each other, as they are shown, in one file.
function save() {
  const shown = ["above", ...LANES].map($).filter((one) => one.clientHeight), ratio = window.devicePixelRatio || 1;
  const sheet = document.createElement("canvas"), pen = sheet.getContext("2d"), head = 22;
  sheet.width = shown[0].width;
  sheet.height = shown.reduce((sum, one) => sum + one.height + head * ratio, 0);
  pen.scale(ratio, ratio);
  pen.fillStyle = color("--card");
  pen.fillRect(0, 0, sheet.width, sheet.height);
  pen.font = "600 12px system-ui, sans-serif";
  let top = 0;
  for (const one of shown) {
    pen.fillStyle = color("--text");
    pen.fillText(one.id === "above" ? `${data.title}, ${$("clock").textContent}` : one.getAttribute("aria-label"), 8, top + 15);
    pen.drawImage(one, 0, top + head, one.clientWidth, one.clientHeight);
    top += one.clientHeight + head;
  }
  const link = document.createElement("a");
  link.download = `${data.title.replace(/[^\w.-]+/g, "-")}.png`;
  link.href = sheet.toDataURL();
  link.click();
}

$("play").addEventListener("click", () => play(!state.playing));
$("time").addEventListener("input", (event) => go(Number(event.target.value)));
$("time").addEventListener("keydown", (event) => {
  const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10 }[event.key];
  if (!by) return;
  event.preventDefault();
  event.stopPropagation();
  step(event.shiftKey ? 10 * by : by);
});
$("fit").addEventListener("click", () => { $("follow").checked = false; wholePath(); redraw("above"); });
$("in").addEventListener("click", () => zoomAbove(1.5));
$("out").addEventListener("click", () => zoomAbove(1 / 1.5));
$("time-in").addEventListener("click", () => zoomTime(0.5));
$("time-out").addEventListener("click", () => zoomTime(2));
$("time-all").addEventListener("click", () => showTime(0, duration()));
$("save").addEventListener("click", save);
$("worst").addEventListener("click", () => goToWorst());
$("follow").addEventListener("change", () => redraw("above"));
$("trail").addEventListener("change", () => redraw("above"));
$("log").addEventListener("change", () => { state.log = $("log").checked; rememberPlace(); redraw("time"); });
$("entity").addEventListener("change", (event) => choose(Number(event.target.value)));

const MAP_KEYS = {
  ArrowLeft: () => moveAbove(40, 0), ArrowRight: () => moveAbove(-40, 0), ArrowUp: () => moveAbove(0, 40), ArrowDown: () => moveAbove(0, -40),
  "+": () => zoomAbove(1.25), "=": () => zoomAbove(1.25), "-": () => zoomAbove(0.8),
};
const PAGE_KEYS = {
  " ": () => play(!state.playing),
  ArrowLeft: (by) => { step(-by); sayNow(); }, ArrowRight: (by) => { step(by); sayNow(); },
  "+": () => zoomTime(0.5), "=": () => zoomTime(0.5), "-": () => zoomTime(2),
  0: () => $("fit").click(), w: () => goToWorst(), l: () => $("log").click(),
};
const TIME_KEYS = {
  PageUp: () => scrollTime(-0.8), PageDown: () => scrollTime(0.8),
  Home: () => go(0), End: () => go(duration()),
};
const scrollTime = (share) => {
  const by = share * (state.window[1] - state.window[0]);
  showTime(state.window[0] + by, state.window[1] + by);
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const own = event.target.matches("button, input[type=checkbox], summary, a") && event.key === " ";
  if (own || event.target.matches("select") || (event.target.matches(".scroll") && event.key.startsWith("Arrow"))) return;
  const act = (event.target === $("above-box") && MAP_KEYS[event.key])
    || (event.target === $("over-time") && TIME_KEYS[event.key]) || PAGE_KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act(event.shiftKey ? 10 : 1);
});
