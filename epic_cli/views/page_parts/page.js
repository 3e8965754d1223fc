"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const state = { scene: 0, row: 0, playing: false, on: new Set(data.shown), view: null, then: 0, at: 0 };

// Positions come as whole numbers of a unit that is too small to see.
for (const scene of data.scenes) {
  const undo = (list) => list.map((v) => (v === null ? NaN : v * scene.unit));
  for (const path of [scene.truth, scene.packets, ...scene.drawn]) {
    path.x = undo(path.x);
    path.y = undo(path.y);
  }
}
const scene = () => data.scenes[state.scene];
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const visible = () => scene().drawn.filter((one) => state.on.has(one.label));

// ---------------------------------------------------------------- canvases

function prepare(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const { width, height } = canvas.getBoundingClientRect();
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.lineJoin = pen.lineCap = "round";
  pen.font = "11px system-ui, sans-serif";
  return { pen, width, height };
}

function niceStep(span, about) {
  const raw = span / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= raw * 0.999);
}

function nice(low, high, about) {
  const step = niceStep(high - low, about);
  const values = [];
  for (let k = Math.ceil(low / step - 1e-9); k <= high / step + 1e-9; k++) values.push(k * step);
  const digits = Math.min(9, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  return values.map((value) => [value, (value === 0 ? 0 : value).toFixed(digits)]);
}

function grid(pen, box, across, up, toX, toY) {
  pen.lineWidth = 1;
  pen.strokeStyle = color("--line");
  pen.fillStyle = color("--soft");
  pen.textAlign = "center";
  for (const [value, text] of nice(across[0], across[1], Math.max(2, (box.right - box.left) / 90))) {
    const x = Math.round(toX(value)) + 0.5;
    pen.beginPath();
    pen.moveTo(x, box.top);
    pen.lineTo(x, box.bottom);
    pen.stroke();
    pen.fillText(text, x, box.bottom + 14);
  }
  pen.textAlign = "right";
  for (const [value, text] of nice(up[0], up[1], Math.max(2, (box.bottom - box.top) / 60))) {
    const y = Math.round(toY(value)) + 0.5;
    pen.beginPath();
    pen.moveTo(box.left, y);
    pen.lineTo(box.right, y);
    pen.stroke();
    pen.fillText(text, box.left - 6, y + 4);
  }
}

function trace(pen, xs, ys, from, to, toX, toY) {
  pen.beginPath();
  let joined = false;
  for (let i = from; i <= to; i++) {
    const x = toX(xs[i]), y = toY(ys[i]);
    if (Number.isNaN(x) || Number.isNaN(y)) { joined = false; continue; }
    if (joined) pen.lineTo(x, y); else pen.moveTo(x, y);
    joined = true;
  }
  pen.stroke();
}

function dot(pen, x, y, radius, fill, edge) {
  if (Number.isNaN(x) || Number.isNaN(y)) return;
  pen.beginPath();
  pen.arc(x, y, radius, 0, 7);
  pen.fillStyle = fill;
  pen.fill();
  if (edge) { pen.strokeStyle = edge; pen.lineWidth = 2; pen.stroke(); }
}

// ---------------------------------------------------------------- from above

function fit() {
  const { truth, packets, drawn } = scene();
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const path of [truth, packets].some((p) => p.x.some((v) => !Number.isNaN(v))) ? [truth, packets] : drawn) {
    for (let i = 0; i < path.x.length; i++) {
      if (Number.isNaN(path.x[i])) continue;
      left = Math.min(left, path.x[i]); right = Math.max(right, path.x[i]);
      bottom = Math.min(bottom, path.y[i]); top = Math.max(top, path.y[i]);
    }
  }
  const size = Math.max(right - left, top - bottom, 1e-9);
  state.view = { x: (left + right) / 2, y: (bottom + top) / 2, wide: (right - left) || size * .1, high: (top - bottom) || size * .1, zoom: 1 };
}

function drawAbove() {
  const { pen, width, height } = prepare($("above"));
  const now = scene(), view = state.view;
  const box = { left: 46, right: width - 8, top: 8, bottom: height - 22 };
  const scale = view.zoom * 0.92 * Math.min((box.right - box.left) / view.wide, (box.bottom - box.top) / view.high);
  if ($("follow").checked && !Number.isNaN(now.truth.x[state.row])) {
    view.x = now.truth.x[state.row];
    view.y = now.truth.y[state.row];
  }
  const middleX = (box.left + box.right) / 2, middleY = (box.top + box.bottom) / 2;
  const toX = (x) => middleX + (x - view.x) * scale, toY = (y) => middleY - (y - view.y) * scale;
  state.scale = scale;
  grid(pen, box, [view.x + (box.left - middleX) / scale, view.x + (box.right - middleX) / scale],
    [view.y - (box.bottom - middleY) / scale, view.y + (middleY - box.top) / scale], toX, toY);
  pen.save();
  pen.beginPath();
  pen.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  pen.clip();
  const last = now.times.length - 1;
  pen.strokeStyle = color("--truth");
  pen.lineWidth = 6;
  trace(pen, now.truth.x, now.truth.y, 0, last, toX, toY);
  for (let i = 0; i < now.packets.x.length; i++) {
    const came = now.packet_times[i] <= now.times[state.row];
    pen.globalAlpha = came ? 0.9 : 0.25;
    dot(pen, toX(now.packets.x[i]), toY(now.packets.y[i]), 1.7, color("--packet"));
  }
  const trail = Number($("trail").value), time = now.times[state.row];
  let from = state.row;
  while (from > 0 && time - now.times[from - 1] <= trail) from--;
  for (const one of visible()) {
    pen.strokeStyle = one.color;
    pen.globalAlpha = 0.22;
    pen.lineWidth = 1.2;
    trace(pen, one.x, one.y, 0, last, toX, toY);
    pen.globalAlpha = 1;
    pen.lineWidth = 2.4;
    trace(pen, one.x, one.y, from, state.row, toX, toY);
  }
  dot(pen, toX(now.truth.x[state.row]), toY(now.truth.y[state.row]), 8, "rgba(128,128,128,.35)", color("--soft"));
  for (const one of visible()) dot(pen, toX(one.x[state.row]), toY(one.y[state.row]), 5, one.color, color("--card"));
  pen.restore();
}

// ---------------------------------------------------------------- error

function errorFrame() {
  const { width, height } = $("error").getBoundingClientRect();
  return { left: 46, right: width - 8, top: 6, bottom: height - 20 };
}

function drawError() {
  const { pen } = prepare($("error"));
  const now = scene(), box = errorFrame();
  const start = now.times[0], end = now.times[now.times.length - 1] || start + 1;
  let top = 0;
  for (const one of visible()) for (const e of one.error) if (e > top) top = e;
  top = top * 1.05 || 1;
  const toX = (t) => box.left + (t - start) / (end - start || 1) * (box.right - box.left);
  const toY = (e) => (e === null ? NaN : box.bottom - e / top * (box.bottom - box.top));
  grid(pen, box, [start, end], [0, top], toX, toY);
  for (const one of visible()) {
    pen.strokeStyle = one.color;
    pen.lineWidth = 1.3;
    trace(pen, now.times, one.error, 0, now.times.length - 1, toX, toY);
  }
  const x = toX(now.times[state.row]);
  pen.strokeStyle = color("--text");
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(x, box.top);
  pen.lineTo(x, box.bottom);
  pen.stroke();
  for (const one of visible()) dot(pen, x, toY(one.error[state.row]), 3.5, one.color, color("--card"));
}

// ---------------------------------------------------------------- table

function text(tag, words, parent, kind) {
  const element = document.createElement(tag);
  element.textContent = words;
  if (kind) element.className = kind;
  parent.append(element);
  return element;
}

// A long name may be broken before each of its settings.
function name(label, parent) {
  const words = document.createElement("span");
  label.split(/(?=\+)/).forEach((part, i) => words.append(...(i ? [document.createElement("wbr"), part] : [part])));
  parent.append(words);
}

function heads(table, columns, first) {
  const head = document.createElement("tr");
  for (const [title, meaning] of first) text("th", title, head).title = meaning;
  for (const column of columns) text("th", column.title, head).title = column.meaning;
  table.tHead.replaceChildren(head);
}

function fillTables() {
  const brief = data.columns.map((column, i) => [column, i]).filter(([column]) => column.brief);
  const colors = Object.fromEntries(data.scenes.flatMap((s) => s.drawn).map((one) => [one.label, one.color]));
  heads($("figures"), brief.map(([column]) => column), [["strategy", "click to switch on or off"], ["now", "distance from the truth at this moment"]]);
  heads($("all"), data.columns, [["strategy", ""]]);
  for (const row of data.rows) {
    const line = document.createElement("tr");
    line.dataset.label = row.label;
    const label = document.createElement("label"), box = document.createElement("input");
    const swatch = document.createElement("span"), paint = colors[row.label] || "gray";
    box.type = "checkbox";
    box.checked = state.on.has(row.label);
    swatch.className = "swatch";
    swatch.style.borderColor = paint;
    const show = () => {
      swatch.style.background = box.checked ? paint : "transparent";
      line.classList.toggle("off", !box.checked);
    };
    box.addEventListener("change", () => {
      state.on[box.checked ? "add" : "delete"](row.label);
      show();
      draw();
    });
    show();
    label.append(box, swatch);
    name(row.label, label);
    text("td", "", line).append(label);
    text("td", "", line, "now");
    for (const [, i] of brief) text("td", row.cells[i], line, row.best[i] ? "best" : "");
    $("figures").tBodies[0].append(line);
    const full = document.createElement("tr");
    name(row.label, text("td", "", full));
    row.cells.forEach((words, i) => text("td", words, full, row.best[i] ? "best" : ""));
    $("all").tBodies[0].append(full);
  }
}

function updateNow() {
  const errors = Object.fromEntries(scene().drawn.map((one) => [one.label, one.error[state.row]]));
  for (const line of $("figures").tBodies[0].rows) {
    const error = errors[line.dataset.label];
    line.cells[1].textContent = error === null || error === undefined ? "-" : error.toPrecision(3);
  }
}

// ---------------------------------------------------------------- time

function draw() {
  drawAbove();
  drawError();
  updateNow();
  $("time").value = state.row;
  $("clock").textContent = `${scene().times[state.row].toFixed(2)} s`;
  const button = $("play");
  button.textContent = state.playing ? "\u275a\u275a" : "\u25b6";
  button.setAttribute("aria-label", state.playing ? "Pause" : "Play");
}

function go(row) {
  state.row = Math.min(Math.max(0, row), scene().times.length - 1);
  state.at = scene().times[state.row];
  draw();
}

function rowAt(time) {
  const times = scene().times;
  let low = 0, high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= time) low = middle; else high = middle - 1;
  }
  return low;
}

function play(on) {
  const times = scene().times;
  if (on && state.row === times.length - 1) go(0);
  state.playing = on;
  state.then = performance.now();
  state.at = times[state.row];
  if (on) requestAnimationFrame(frame);
  draw();
}

function frame(now) {
  if (!state.playing) return;
  const times = scene().times;
  state.at += Math.max(0, now - state.then) / 1000 * Number($("speed").value);
  state.then = now;
  const row = rowAt(state.at);
  if (row >= times.length - 1) { state.row = times.length - 1; play(false); return; }
  if (row !== state.row) { state.row = row; draw(); }
  requestAnimationFrame(frame);
}

function choose(index) {
  state.scene = index;
  const { entity, axes } = scene();
  $("view-title").textContent = `${entity ? entity + " from" : "From"} above, ${axes[1]} over ${axes[0]}`;
  $("time").max = scene().times.length - 1;
  fit();
  go(0);
}

// ---------------------------------------------------------------- input

$("play").addEventListener("click", () => play(!state.playing));
$("time").addEventListener("input", (event) => go(Number(event.target.value)));
$("fit").addEventListener("click", () => { $("follow").checked = false; fit(); draw(); });
$("follow").addEventListener("change", () => { if (state.view.zoom === 1 && $("follow").checked) state.view.zoom = 4; draw(); });
$("trail").addEventListener("change", draw);
$("entity").addEventListener("change", (event) => choose(Number(event.target.value)));
$("above").addEventListener("wheel", (event) => {
  event.preventDefault();
  const frame = $("above").getBoundingClientRect();
  const x = event.clientX - frame.left - (frame.width + 38) / 2, y = event.clientY - frame.top - (frame.height - 14) / 2;
  const factor = Math.exp(-Math.max(-200, Math.min(200, event.deltaY)) * 0.002);
  // what is under the pointer stays there
  state.view.x += x / state.scale * (1 - 1 / factor);
  state.view.y -= y / state.scale * (1 - 1 / factor);
  state.view.zoom *= factor;
  draw();
}, { passive: false });
let held = null;
$("above").addEventListener("pointerdown", (event) => { held = [event.clientX, event.clientY]; $("above").setPointerCapture(event.pointerId); });
$("above").addEventListener("pointermove", (event) => {
  if (!held) return;
  $("follow").checked = false;
  state.view.x -= (event.clientX - held[0]) / state.scale;
  state.view.y += (event.clientY - held[1]) / state.scale;
  held = [event.clientX, event.clientY];
  draw();
});
for (const end of ["pointerup", "pointercancel"]) $("above").addEventListener(end, () => { held = null; });
const seek = (event) => {
  const box = errorFrame(), frame = $("error").getBoundingClientRect(), times = scene().times;
  const share = (event.clientX - frame.left - box.left) / (box.right - box.left);
  go(rowAt(times[0] + share * (times[times.length - 1] - times[0])));
};
$("error").addEventListener("pointerdown", (event) => { $("error").setPointerCapture(event.pointerId); seek(event); });
$("error").addEventListener("pointermove", (event) => { if (event.buttons) seek(event); });
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("select, input[type=range]") && event.key !== " ") return;
  if (event.target.matches("button, input[type=checkbox], summary") && event.key === " ") return;
  const by = event.shiftKey ? 10 : 1;
  const keys = { " ": () => play(!state.playing), ArrowLeft: () => go(state.row - by), ArrowRight: () => go(state.row + by), 0: () => $("fit").click() };
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

// ---------------------------------------------------------------- begin

// #t=12.5&off=NAME&entity=NAME: a link can show one moment
const asked = new URLSearchParams(location.hash.slice(1));
for (const label of asked.getAll("off")) state.on.delete(label);
for (const label of asked.getAll("on")) state.on.add(label);
$("story").textContent = data.story;
for (const line of data.ranking) text("li", line, $("ranking"));
for (const line of data.notes) text("li", line, $("notes"));
for (const column of data.columns) { text("dt", column.title, $("meanings")); text("dd", column.meaning, $("meanings")); }
$("entity-choice").hidden = data.scenes.length < 2;
data.scenes.forEach((one, index) => { text("option", one.entity || "(no name)", $("entity")).value = index; });
fillTables();
const first = Math.max(0, data.scenes.findIndex((one) => one.entity === asked.get("entity")));
$("entity").value = first;
choose(first);
if (asked.has("t")) go(rowAt(Number(asked.get("t"))));
document.body.dataset.ready = "yes";
