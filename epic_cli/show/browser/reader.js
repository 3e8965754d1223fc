// The user's actions: pointers, wheel, keys and buttons; and the text under the pointer.
function placeCursor() {
  const { toX } = makeTimeFrame($("error"), getShownTime());
  $("cursor").style.transform = `translateX(${toX(state.time)}px)`;
  $("hairline").hidden = state.hover === null;
  if (state.hover !== null) $("hairline").style.transform = `translateX(${toX(state.hover)}px)`;
}

// Show the text about the place under the pointer.
function showTip(lines, event) {
  const box = $("tip");
  box.hidden = !lines.length;
  if (!lines.length) return;
  box.textContent = lines.join("\n");
  const { offsetWidth: width, offsetHeight: height } = box;
  const left = Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 4));
  const low = event.clientY + 18;
  box.style.left = `${left}px`;
  box.style.top = `${low + height > innerHeight ? Math.max(4, low - height - 28) : low}px`;
}

// Name the line under the pointer, whatever other lines have no name.
function nameLine(label) {
  if (label === state.named) return;
  state.named = label;
  redraw("above", "time");
}

function leave(event) {
  state.hover = null;
  nameLine("");
  placeCursor();
  showTip([], event);
}

$("above").addEventListener("pointermove", (event) => {
  if (!event.buttons) showTip(describePath(...map.pointOn(event)), event);
});
$("above").addEventListener("pointerleave", leave);

for (const lane of LANES) {
  const canvas = $(lane);
  const seek = (event) => go(findTime(event.clientX));
  const scroll = (pixels) => {
    const [start, end] = state.window;
    const by = (pixels / (canvas.clientWidth - 56)) * (end - start);
    showTime(start + by, end + by);
  };
  handleGestures(canvas, {
    begin: (event) => {
      if (!event.button) seek(event);
    },
    drag: seek,
    box: (left, right) => showTime(findTime(left), findTime(right)),
    pinch: (factor, at, x) => {
      scroll(-x);
      zoomTime(1 / factor, findTime(at.x));
    },
  });
  handleWheel(canvas, (event) => {
    const sideways = event.shiftKey ? event.deltaY : event.deltaX;
    const upwards = event.shiftKey ? 0 : event.deltaY;
    if (Math.abs(sideways) > Math.abs(upwards)) scroll(sideways);
    else zoomTime(computeWheelFactor(event), findTime(event.clientX));
  });
  canvas.addEventListener("pointermove", (event) => {
    state.hover = Math.min(Math.max(0, findTime(event.clientX)), getDuration());
    placeCursor();
    nameLine(findLineAt(canvas, getShownTime(), event.offsetX, event.offsetY));
    showTip(describeLane(lane, state.hover), event);
  });
  canvas.addEventListener("pointerleave", leave);
}

// The strip of the whole recording: its window follows the pointer.
const carry = (event) => {
  const [start, end] = state.window;
  const middle = findTime(event.clientX, $("overview"), getAllTime());
  showTime(middle - (end - start) / 2, middle + (end - start) / 2);
};
handleGestures($("overview"), {
  begin: carry,
  drag: carry,
  pinch: (factor) => zoomTime(1 / factor),
});
handleWheel($("overview"), (event) => zoomTime(computeWheelFactor(event)));

// Save the shown path and the pictures over time, below each other, in one file.
function save() {
  const shown = ["above", ...LANES].map($).filter((canvas) => canvas.clientHeight);
  const ratio = window.devicePixelRatio || 1;
  const sheet = document.createElement("canvas");
  const pen = sheet.getContext("2d");
  const head = 22;
  sheet.width = shown[0].width;
  sheet.height = shown.reduce((sum, canvas) => sum + canvas.height + head * ratio, 0);
  pen.scale(ratio, ratio);
  pen.fillStyle = getColor("--card");
  pen.fillRect(0, 0, sheet.width, sheet.height);
  pen.font = "600 12px system-ui, sans-serif";
  let top = 0;
  for (const canvas of shown) {
    const above = `${data.title}, ${$("clock").textContent}`;
    const words = canvas === $("above") ? above : canvas.getAttribute("aria-label");
    pen.fillStyle = getColor("--text");
    pen.fillText(words, 8, top + 15);
    pen.drawImage(canvas, 0, top + head, canvas.clientWidth, canvas.clientHeight);
    top += canvas.clientHeight + head;
  }
  const link = document.createElement("a");
  link.download = `${data.title.replace(/[^\w.-]+/g, "-")}.png`;
  link.href = sheet.toDataURL();
  link.click();
}

const BUTTONS = {
  play: () => play(!state.playing),
  fit: () => {
    $("follow").checked = false;
    showWholePath();
    redraw("above");
  },
  in: () => map.zoom(1.5),
  out: () => map.zoom(1 / 1.5),
  "time-in": () => zoomTime(0.5),
  "time-out": () => zoomTime(2),
  "time-all": () => showTime(...getWholeTime()),
  save,
  worst: () => goToWorst(),
};
for (const [id, act] of Object.entries(BUTTONS)) $(id).addEventListener("click", act);
$("follow").addEventListener("change", () => redraw("above"));
$("trail").addEventListener("change", () => redraw("above"));
for (const way of ["log", "apart"])
  $(way).addEventListener("change", () => {
    state[way] = $(way).checked;
    rememberPlace();
    redraw("time");
  });
$("entity").addEventListener("change", (event) => choose(Number(event.target.value)));
$("time").addEventListener("input", (event) => go(Number(event.target.value)));
$("time").addEventListener("keydown", (event) => {
  const rows = {
    ArrowLeft: -1,
    ArrowDown: -1,
    ArrowRight: 1,
    ArrowUp: 1,
    PageUp: 10,
    PageDown: -10,
  };
  const by = rows[event.key];
  if (!by) return;
  event.preventDefault();
  event.stopPropagation();
  step(event.shiftKey ? 10 * by : by);
});

function announceMoment() {
  const few = listVisible().slice(0, 6);
  const errors = few.map(
    (drawn) => `${drawn.label} ${formatShort(findError(drawn, state.time) || 0)}`,
  );
  say(`${formatClock(state.time)}; errors: ${errors.join(", ")}`);
}
const announceStep = (rows) => {
  step(rows);
  announceMoment();
};
const scrollTime = (share) => {
  const [start, end] = state.window;
  showTime(start + share * (end - start), end + share * (end - start));
};
const MAP_KEYS = {
  ArrowLeft: () => map.move(40, 0),
  ArrowRight: () => map.move(-40, 0),
  ArrowUp: () => map.move(0, 40),
  ArrowDown: () => map.move(0, -40),
  "+": () => map.zoom(1.25),
  "=": () => map.zoom(1.25),
  "-": () => map.zoom(0.8),
};
const TIME_KEYS = {
  PageUp: () => scrollTime(-0.8),
  PageDown: () => scrollTime(0.8),
  Home: () => go(0),
  End: () => go(getDuration()),
};
const PAGE_KEYS = {
  " ": () => play(!state.playing),
  ArrowLeft: (rows) => announceStep(-rows),
  ArrowRight: (rows) => announceStep(rows),
  "+": () => zoomTime(0.5),
  "=": () => zoomTime(0.5),
  "-": () => zoomTime(2),
  0: () => $("fit").click(),
  w: () => goToWorst(),
  l: () => $("log").click(),
};
document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || target.matches("select")) return;
  if (key === " " && target.matches("button, input[type=checkbox], summary, a")) return;
  if (key.startsWith("Arrow") && target.matches(".scroll")) return;
  const own = { "above-box": MAP_KEYS, "over-time": TIME_KEYS }[target.id] || {};
  const act = own[key] || PAGE_KEYS[key];
  if (!act) return;
  event.preventDefault();
  act(event.shiftKey ? 10 : 1);
});
