// The pictures over time: they share their margins, the part of the time that is shown, and the
// places where the movement or the network was interrupted.
const LANES = ["error", "lag", "status", "packets"];

function timeFrame(canvas, over = state.window, foot = 4) {
  const width = canvas.clientWidth, height = canvas.clientHeight;
  const right = width > 560 ? width - 110 : width - 6;
  const box = { left: 50, right, top: 4, bottom: height - foot };
  const [start, end] = over;
  return { box, toX: (t) => box.left + (t - start) / (end - start) * (box.right - box.left) };
}

function timeAt(clientX, canvas = $("error"), over = state.window) {
  const { box } = timeFrame(canvas, over);
  const share = (clientX - canvas.getBoundingClientRect().left - box.left) / (box.right - box.left);
  return over[0] + share * (over[1] - over[0]);
}

// Many lines are thin, which is drawn ten times as fast too.
const columnWidth = (shown) => (shown.length > 8 ? 2 : 1);
const lineWidth = (shown) => (shown.length > 8 ? 1 : 1.5);

// Shows this part of the time, as much of it as there is.
function showTime(start, end) {
  const whole = Math.max(duration(), data.tick), least = Math.min(whole, 4 * data.tick);
  const length = Math.min(whole, Math.max(least, end - start));
  const middle = (start + end) / 2;
  const from = Math.min(Math.max(0, middle - length / 2), whole - length);
  state.window = [from, from + length];
  redraw("time");
}

function zoomTime(factor, around = state.time) {
  const [start, end] = state.window;
  const inside = Math.min(end, Math.max(start, around));
  showTime(inside - (inside - start) * factor, inside + (end - inside) * factor);
}

function drawOverTime() {
  if (timeFrame($("error")).box.right < 100) return; // there is no room at all
  drawError();
  /*turns drawAngle(); */
  drawLag();
  drawStatus();
  drawTraffic();
  drawOverview();
}

function timeGrid(pen, box, toX, words) {
  const [start, end] = state.window, begin = scene().start;
  gridAcross(pen, box, nice(begin + start, begin + end, Math.max(2, (box.right - box.left) / 90)), (t) => toX(t - begin), words);
}

function shade(pen, box, toX, words) {
  pen.font = "10px system-ui, sans-serif";
  let written = -Infinity;
  for (const { start, end, kind } of scene().interruptions) {
    const left = toX(start), right = toX(end);
    if (right < box.left || left > box.right) continue;
    pen.fillStyle = color("--shade");
    pen.fillRect(left, box.top, Math.max(2, right - left), box.bottom - box.top);
    const text = kind === "teleport" ? kind : `${kind} ${(end - start).toFixed(1)} s`;
    const x = Math.max(box.left, Math.min(left, box.right - 62)) + 2;
    if (!words || x < written) continue;
    written = x + pen.measureText(text).width + 6;
    pen.textAlign = "left";
    pen.fillStyle = color("--soft");
    pen.fillText(text, x, box.top + 9);
  }
  pen.font = "11px system-ui, sans-serif";
}

const BANDS = 3;

// Where a lane has drawn a strategy at a time: pixels from its top.
const heights = {};

function drawError() {
  const { pen } = prepare($("error"));
  const { box, toX } = timeFrame($("error"), state.window, 18);
  const shown = visible();
  let top = 0, low = Infinity;
  for (const { t, error } of shown) {
    const own = largest(t, error);
    top = Math.max(top, own);
    if (own > 0) low = Math.min(low, own);
  }
  top = top || 1;
  // errors far below a line's own peak need no room
  const bottom = Math.max(Math.min(low, top) / 30, top / 1e9);
  const toY = state.log
    ? (e) => box.bottom - Math.log(Math.max(e, bottom) / bottom) / Math.log(top * 1.3 / bottom) * (box.bottom - box.top)
    : (e) => box.bottom - e / (top * 1.08) * (box.bottom - box.top);
  state.errorTop = top;
  heights.error = (one, time) => toY(errorAt(one, time));
  timeGrid(pen, box, toX, true);
  gridUp(pen, box, state.log ? decades(bottom, top * 1.3) : nice(0, top * 1.08, Math.max(2, (box.bottom - box.top) / 34)), toY);
  const lines = shown.map(({ label, t, error }) => ({ label, t, values: error }));
  drawLines(pen, box, toX, toY, lines, () => {
    shade(pen, box, toX, true);
    // the part beside the way, of a few that can be told apart
    pen.globalAlpha = 0.25;
    for (const one of shown.slice(0, BANDS)) {
      pen.fillStyle = lineColor(one.label);
      below(pen, one.t, one.across, ...rowsWithin(one.t), toX, toY, box);
    }
    pen.globalAlpha = 1;
    drawRecoveries(pen, box, toX, shown);
  });
}

// The rows of the part of the time that is shown, with one beside it at each end.
const rowsWithin = (t) => [Math.max(0, rowAt(t, state.window[0])), Math.min(t.length - 1, rowAt(t, state.window[1]) + 1)];

function largest(t, values) {
  const [from, to] = rowsWithin(t);
  let top = 0;
  for (let i = from; i <= to; i++) if (values[i] > top) top = values[i];
  return top;
}

// The lines of a lane, each {label, t, values}, above what is drawn first, and their names beside.
function drawLines(pen, box, toX, toY, lines, first) {
  const names = [];
  clip(pen, box, () => {
    first();
    for (const { label, t, values } of lines) {
      const [from, to] = rowsWithin(t), paint = to - from > (box.right - box.left) / 2 ? envelope : trace;
      pen.strokeStyle = pen.fillStyle = lineColor(label);
      pen.setLineDash(dashes(label));
      pen.lineWidth = lineWidth(lines);
      paint(pen, t, values, from, to, toX, toY, box, columnWidth(lines));
      let at = to;
      while (at > from && values[at] !== values[at]) at--;
      names.push({ x: box.right, y: toY(values[at]), name: label, color: lineColor(label) });
    }
    pen.setLineDash([]);
  });
  if (canvasHasMargin(pen.canvas, box)) label(pen, names, box.top - 4, box.bottom + 4, pen.canvas.clientWidth);
}

function decades(bottom, top) {
  const values = (steps) => {
    const found = [];
    for (let k = Math.floor(Math.log10(bottom)); 10 ** k <= top; k++) for (const step of steps) found.push(step * 10 ** k);
    return found.filter((one) => one >= bottom * 0.999 && one <= top).map((one) => [one, one < 1e-3 || one >= 1e5 ? one.toExponential(0) : `${Number(one.toFixed(4))}`]);
  };
  return [values([1]), values([1, 2, 5])].find((one) => one.length > 2) || nice(bottom, top, 6);
}

// How long each strategy needs after an interruption: a bar for as long, or to the end of the watch.
function drawRecoveries(pen, box, toX, shown) {
  const most = Math.floor((box.bottom - box.top) / 2 / 4);
  scene().interruptions.forEach((one, i) => {
    if (toX(one.end) > box.right || toX(one.end + 5) < box.left) return;
    shown.slice(0, most).forEach((drawn, place) => {
      const seconds = drawn.recoveries[i];
      if (!seconds) return;
      const y = box.top + 14 + 4 * place;
      pen.fillStyle = lineColor(drawn.label);
      pen.fillRect(toX(one.end), y, toX(one.end + seconds) - toX(one.end), 2.5);
    });
  });
}

function drawOverview() {
  const whole = [0, Math.max(duration(), data.tick)];
  const { pen, width, height } = prepare($("overview"));
  const { box, toX } = timeFrame($("overview"), whole, 2);
  pen.drawImage(wholeErrors(pen.canvas, box, toX), 0, 0, width, height);
  pen.strokeStyle = color("--soft");
  pen.lineWidth = 1;
  pen.strokeRect(box.left + 0.5, box.top - 2.5, box.right - box.left - 1, box.bottom - box.top + 3);
  const left = toX(state.window[0]), right = toX(state.window[1]);
  pen.fillStyle = color("--band");
  pen.fillRect(left, box.top - 2, Math.max(3, right - left), box.bottom - box.top + 2);
  pen.strokeStyle = color("--accent");
  pen.lineWidth = 1.5;
  pen.strokeRect(left, box.top - 2, Math.max(3, right - left), box.bottom - box.top + 2);
}

// The errors of the whole recording; they are drawn anew only where something else is to be seen.
let overview = { key: "", canvas: null };
function wholeErrors(over, box, toX) {
  const shown = visible();
  const key = [state.scene, state.log, over.width, over.height, color("--line0"), ...shown.map((one) => one.label + slot(one.label))].join("\n");
  if (overview.key === key) return overview.canvas;
  const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
  [canvas.width, canvas.height] = [over.width, over.height];
  pen.scale(over.width / over.clientWidth, over.height / over.clientHeight);
  let top = 0;
  for (const one of shown) if (one.worst >= 0) top = Math.max(top, one.error[one.worst]);
  const scaled = state.log ? (e) => Math.log(1 + 99 * e / top) / Math.log(100) : (e) => e / top;
  const toY = (e) => box.bottom - scaled(e) * 0.92 * (box.bottom - box.top);
  shade(pen, box, toX, false);
  pen.globalAlpha = 0.85;
  for (const one of [...shown].reverse()) {
    pen.fillStyle = lineColor(one.label);
    envelope(pen, one.t, one.error, 0, one.t.length - 1, toX, toY, box, 1);
  }
  overview = { key, canvas };
  return canvas;
}
