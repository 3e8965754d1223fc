// The page's state: scenes, strategies, moment and time window; and when it is drawn.
// Return the running sums of steps.
function addUp(steps) {
  let count = 0;
  return Uint32Array.from(steps, (step) => {
    count += step;
    return count;
  });
}

// Return times from their steps in ticks, or as they are in seconds.
const unpackTimes = ({ ticks, t }, tick) =>
  ticks ? Float64Array.from(addUp(u16(ticks)), (count) => count * tick) : f64(t);

// Unpack a scene when it is chosen, since there may be many.
function unpack(scene) {
  if (scene.unpacked) return;
  scene.unpacked = true;
  const { truth, shared, tick } = scene;
  const times = unpackTimes(truth, tick);
  scene.truth = { t: times, x: f32(truth.x), y: f32(truth.y) };
  if (shared) scene.shared = { t: unpackTimes(shared, tick), blur: f32(shared.blur) };
  for (const path of [scene.packets, scene.lost])
    for (const key of Object.keys(path)) path[key] = f32(path[key]);
  if (scene.heads) scene.truth.heads = i16(scene.heads);
  scene.lags = f32(scene.lags);
  for (const drawn of scene.drawn) {
    const rows = drawn.at ? addUp(u16(drawn.at)) : null;
    drawn.distance = f32(drawn.distance);
    for (const key of ["x", "y"]) {
      drawn[key] = f32(drawn[key]);
      if (drawn.at === undefined) continue;
      const from = scene.truth[key];
      for (let i = 0; i < drawn[key].length; i++) {
        const known = from[rows ? rows[i] : i];
        if (!Number.isNaN(known)) drawn[key][i] += known;
      }
    }
    if (drawn.at === undefined) drawn.t = unpackTimes(drawn, tick);
    else drawn.t = rows ? Float64Array.from(rows, (at) => times[at]) : times;
    if (drawn.heads) drawn.heads = i16(drawn.heads);
    if (drawn.angle) drawn.angle = f32(drawn.angle);
    const counted = u8(drawn.counted);
    // only rows that count are in the figures and in the picture of errors
    drawn.error = drawn.distance.map((value, i) =>
      counted[i >> 3] & (128 >> (i & 7)) ? value : NaN,
    );
    const shares = u8(drawn.across);
    drawn.across = drawn.error.map((value, i) => (value * shares[i]) / 63);
    drawn.worst = -1;
    drawn.error.forEach((value, i) => {
      if (!Number.isNaN(value) && !(value <= drawn.error[drawn.worst])) drawn.worst = i;
    });
    drawn.runs = { t: unpackTimes(drawn.runs, tick), status: u8(drawn.runs.status) };
    const { t, ms } = drawn.lag;
    const seconds = Float32Array.from(i16(ms), (lag) => (lag === UNKNOWN ? NaN : lag / 1000));
    drawn.lag = { t: t ? f32(t) : scene.lags, seconds };
  }
}
const UNKNOWN = -(2 ** 15);

const state = {
  scene: 0,
  time: 0,
  playing: false,
  exact: false,
  named: "",
  printing: false,
  shown: 0,
  on: new Set(data.shown),
  log: false,
  apart: true,
  window: [0, 1],
  hover: null,
  loops: false,
  awaits: false,
};
const getScene = () => data.scenes[state.scene];
const getDuration = () => getScene().end - getScene().start;
const getWholeTime = () => [0, Math.max(getDuration(), data.tick)];
const listVisible = () => getScene().drawn.filter((drawn) => state.on.has(drawn.label));
const formatClock = (time) => `${(getScene().start + time).toFixed(data.tick < 0.01 ? 3 : 2)} s`;
const findError = (drawn, time) => interpolate(drawn, drawn.distance, time);

// Return a path's value at a time: interpolated in unbroken movement, else that of the row before;
// NaN if unknown.
function interpolate({ t }, values, time) {
  let row = rowAt(t, time);
  if (Number.isNaN(values[row])) {
    // a break has the time of the row before it; times are rounded
    if (t[row + 1] - time < data.tick / 100) row++;
    else if (t[row] === t[row - 1]) row--;
  }
  if (row < 0) return NaN;
  const step = ((time - t[row]) / (t[row + 1] - t[row])) * (values[row + 1] - values[row]);
  return time > t[row] && !Number.isNaN(step) ? values[row] + step : values[row];
}

function findNearestRow(times, time) {
  const row = Math.max(0, rowAt(times, time));
  return row + 1 < times.length && times[row + 1] - time < time - times[row] ? row + 1 : row;
}

// True if rows of a path are left out after a row, as in long recordings.
const hasLeftOutRows = ({ t }, row) => t[row + 1] - t[row] > 1.5 * data.tick;

// True if left out rows around a time are visible at this zoom.
function isBlurred(time) {
  const { shared } = getScene();
  return shared && shared.blur[rowAt(shared.t, time)] * map.scale > 0.5;
}

// Return the moment on the map: if left out rows would be visible, the nearest that all have.
function settleTime(time) {
  if (state.exact || !isBlurred(time)) return time;
  const { t } = getScene().shared;
  return t[findNearestRow(t, time)];
}

// Return a path's place at a time; null if there is none or it is unknown.
function findPlace(path, time) {
  if (!path) return null;
  const row = rowAt(path.t, time);
  const x = interpolate(path, path.x, time);
  const known =
    row >= 0 && (path.t[row] === time || !hasLeftOutRows(path, row) || !isBlurred(time));
  return known && !Number.isNaN(x) ? [x, interpolate(path, path.y, time)] : null;
}

// Draw in the next frame, once for all requests.
const stale = { above: true, time: true, histogram: true, now: true };
let asked = false;
function redraw(...parts) {
  for (const part of parts.length ? parts : Object.keys(stale)) stale[part] = true;
  if (!asked) {
    asked = true;
    requestAnimationFrame(drawNow);
  }
}
function drawNow() {
  asked = false;
  if (state.printing) return;
  if (stale.above) drawAbove();
  if (stale.time) drawOverTime();
  if (stale.histogram) drawHistogram();
  if (stale.now) updateNow();
  placeCursor();
  for (const part of Object.keys(stale)) stale[part] = false;
}

// The shown moment, and the playback.
function go(time, exact = false) {
  state.exact = exact;
  state.time = Math.min(Math.max(0, time), getDuration());
  $("time").value = state.time;
  $("clock").textContent = formatClock(state.time);
  $("time").setAttribute("aria-valuetext", formatClock(state.time));
  const [start, end] = state.window;
  if (state.time < start || state.time > end) {
    showTime(state.time - (end - start) * 0.1, state.time + (end - start) * 0.9);
  }
  redraw("above", "now");
  rememberPlace();
}

// Step by rows, which are a tick apart.
const step = (rows) => go(Math.round(state.time / data.tick + rows) * data.tick);

function play(on) {
  if (on && state.time >= getDuration()) go(0);
  state.playing = on;
  state.shown = performance.now();
  $("play").textContent = on ? "\u275a\u275a" : "\u25b6";
  $("play").setAttribute("aria-label", on ? "Pause" : "Play");
  if (on) requestAnimationFrame(frame);
  redraw("above");
}

function frame(now) {
  if (!state.playing) return;
  requestAnimationFrame(frame);
  if (state.awaits) return; // the next picture is on its way
  const passed = Math.max(0, now - state.shown) / 1000;
  const time = state.time + passed * Number($("speed").value);
  state.shown = now;
  go(time);
  if (time >= getDuration()) state.loops ? go(0) : play(false);
}

// Show this time window, as far as there is data.
function showTime(start, end) {
  const [, whole] = getWholeTime();
  const length = Math.min(whole, Math.max(Math.min(whole, 4 * data.tick), end - start));
  const from = Math.min(Math.max(0, (start + end - length) / 2), whole - length);
  state.window = [from, from + length];
  redraw("above", "time");
}

function zoomTime(factor, around = state.time) {
  const [start, end] = state.window;
  const inside = Math.min(end, Math.max(start, around));
  showTime(inside - (inside - start) * factor, inside + (end - inside) * factor);
}

// Return the best shown strategy whose error is visible beside the others'.
function findLeader() {
  const getWorstError = (drawn) => drawn.error[drawn.worst];
  const judged = listVisible().filter((drawn) => drawn.worst >= 0);
  const usual = judged.map(getWorstError).sort((a, b) => a - b)[judged.length >> 1];
  return judged.find((drawn) => getWorstError(drawn) >= usual / 50);
}

const WORST = 20; // seconds around a worst moment

function goToWorst(label) {
  const found = label ? getScene().drawn.find((drawn) => drawn.label === label) : findLeader();
  if (!found || found.worst < 0) return;
  if (!state.on.has(found.label)) turnStrategy(found.label, true);
  const time = found.t[found.worst];
  const [start, end] = state.window;
  const half = Math.min(WORST, end - start) / 2;
  showTime(time - half, time + half);
  $("follow").checked = true;
  zoomToError(time, found);
  go(time, true);
  const far = `${formatShort(found.error[found.worst])} from the ${data.truth}`;
  say(`${formatClock(time)}: ${found.label} is ${far}, its worst`);
}

// Show the lane of angles and the key's entry if there are rotations.
function fitTurns() {
  const turns = data.scenes.some(({ heads }) => heads);
  document.body.classList.toggle("turns", turns);
  $("heading-key").hidden = !turns;
}

function choose(index) {
  state.scene = index;
  unpack(getScene());
  const { entity, unit, axes, words } = getScene();
  const above = `above, ${axes[1]} over ${axes[0]} (${unit})`;
  for (const named of document.querySelectorAll(".length")) named.textContent = unit;
  const of = data.of && `, ${data.of}`;
  $("view-title").textContent = `${entity ? `${entity} from` : "From"} ${above}${of}`;
  for (const [picture, described] of Object.entries(words)) {
    $(`${picture}-words`).textContent = described;
  }
  $("time").max = getDuration();
  $("lost-key").hidden = !getScene().lost.t.length;
  fillRecoveries();
  state.time = 0;
  state.window = getWholeTime();
  showWholePath();
  const best = findLeader();
  if (best) {
    const time = best.t[best.worst];
    if (getDuration() > 60) showTime(time - 10, time + 10);
    zoomToError(time, best);
    go(time, true);
  } else go(0);
  redraw();
}

// Keep the state in the address, so that it can be shared; not during playback.
let remembering = 0;
function rememberPlace() {
  clearTimeout(remembering);
  if (!document.body.dataset.ready) return;
  remembering = setTimeout(() => {
    if (state.playing) return;
    const parts = new URLSearchParams({ t: (getScene().start + state.time).toFixed(3) });
    for (const { label } of data.rows) {
      const first = data.shown.includes(label);
      if (state.on.has(label) !== first) parts.append(first ? "off" : "on", label);
    }
    if (data.scenes.length > 1) parts.set("entity", getScene().entity);
    if (state.log) parts.set("log", "1");
    if (!state.apart) parts.set("apart", "0");
    history.replaceState(null, "", `#${parts}`);
  }, 400);
}
