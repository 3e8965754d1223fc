// What turns: where it heads, as darts along the path and an arrow at the moment; angles over time.
const DARTS = 34;           // pixels from one dart to the next on a line
const ARROW = 34, CONE = 62; // lengths in pixels of what lies in the plane
LANES.splice(1, 0, "angle");

const i16 = typed(Int16Array);
function unpackTurns(scene) {
  if (scene.heads) scene.truth.heads = i16(scene.heads);
  for (const one of scene.drawn) if (one.heads) one.heads = i16(one.heads);
  for (const one of scene.drawn) if (one.angle) one.turned = { label: one.label, t: one.t, error: f32(one.angle) };
}
data.scenes.forEach(unpackTurns);

// Where a row heads on the plane: as long as it lies in it, at most 1; null: nowhere.
function headingOf(path, row) {
  if (!path.heads || row < 0) return null;
  const x = path.heads[2 * row] / 32767, y = path.heads[2 * row + 1] / 32767;
  return x || y ? [x, y] : null;
}

// The rows from first to last that get a dart, far enough from each other to be told apart.
function dartRows(path, first, last, toX, toY, apart = DARTS) {
  const rows = [], taken = new Set();
  let lastX = NaN, lastY = NaN;
  for (let i = first; i <= last; i++) {
    const x = toX(path.x[i]), y = toY(path.y[i]);
    if (x !== x || Math.hypot(x - lastX, y - lastY) < apart || !headingOf(path, i)) continue;
    const cell = `${Math.round(x / apart)} ${Math.round(y / apart)}`; // where it has been before, there is one
    if (taken.has(cell)) continue;
    taken.add(cell);
    rows.push(i);
    [lastX, lastY] = [x, y];
  }
  return rows;
}

function drawDarts(pen, path, first, last, { box, toX, toY }, size) {
  pen.beginPath();
  for (const i of dartRows(path, first, last, toX, toY)) {
    const x = toX(path.x[i]), y = toY(path.y[i]), [hx, hy] = headingOf(path, i).map((one) => one * size);
    if (x < box.left - size || x > box.right + size || y < box.top - size || y > box.bottom + size) continue;
    const length = Math.hypot(hx, hy), wide = 0.42 * size / length;
    pen.moveTo(x + hx, y - hy);
    pen.lineTo(x - 0.8 * hx - wide * hy, y + 0.8 * hy - wide * hx);
    pen.lineTo(x - 0.35 * hx, y + 0.35 * hy);
    pen.lineTo(x - 0.8 * hx + wide * hy, y + 0.8 * hy + wide * hx);
    pen.closePath();
  }
  pen.fill();
  pen.stroke();
}

// Of the truth as far as it is shown, of the strategies as far as their trails go.
function drawHeadings(pen, shown, trail, most) {
  const { truth } = scene();
  pen.setLineDash([]);
  pen.strokeStyle = color("--card");
  pen.lineWidth = 1;
  pen.fillStyle = color("--soft");
  drawDarts(pen, truth, ...around(truth, 2 * most), frameAbove, 9);
  for (const one of [...shown].reverse()) {
    const time = settled(state.time), last = rowAt(one.t, time), first = Math.max(0, last - most, rowAt(one.t, time - trail));
    pen.fillStyle = lineColor(one.label);
    drawDarts(pen, one, first, last, frameAbove, 8);
  }
}

// At the moment, what the truth sees is a cone, and where each strategy heads an arrow.
function drawArrows(pen, shown, names) {
  const { toX, toY } = frameAbove, { truth } = scene();
  const time = settled(state.time), at = (path) => ({ place: placeAt(path, time), heading: headingOf(path, rowAt(path.t, time)) });
  const { place, heading } = at(truth);
  if (place && heading) {
    const [x, y, angle] = [toX(place[0]), toY(place[1]), Math.atan2(-heading[1], heading[0])];
    pen.beginPath();
    pen.moveTo(x, y);
    pen.arc(x, y, CONE * Math.hypot(...heading), angle - 0.26, angle + 0.26);
    pen.closePath();
    pen.fillStyle = color("--soft");
    pen.globalAlpha = 0.35;
    pen.fill();
    pen.globalAlpha = 1;
  }
  for (const one of [...shown].reverse()) {
    const { place, heading } = at(one);
    if (!place || !heading) continue;
    const [hx, hy] = heading.map((part) => part * ARROW), length = Math.hypot(hx, hy);
    const x = toX(place[0]), y = toY(place[1]), ux = hx / length, uy = hy / length;
    for (const [paint, width] of [[color("--card"), 5], [lineColor(one.label), 2.4]]) {
      pen.strokeStyle = paint;
      pen.lineWidth = width;
      pen.beginPath();
      pen.moveTo(x + 6 * ux, y - 6 * uy);
      pen.lineTo(x + hx, y - hy);
      pen.moveTo(x + hx - 8 * ux - 5 * uy, y - hy + 8 * uy - 5 * ux);
      pen.lineTo(x + hx, y - hy);
      pen.lineTo(x + hx - 8 * ux + 5 * uy, y - hy + 8 * uy + 5 * ux);
      pen.stroke();
    }
    // names stand beyond what points at them
    const name = names.find((other) => other.name === one.label);
    if (name && hx > 0) name.x += Math.max(0, hx - 4);
  }
}

function drawAngle() {
  const shown = visible().filter((one) => one.turned), here = Boolean(scene().truth.heads);
  $("angle-box").hidden = !here;
  if (!here) return;
  const { pen } = prepare($("angle"));
  const { box, toX } = timeFrame($("angle"), state.window, 7);
  let top = Math.max(0, ...shown.map(({ turned }) => largest(turned.t, turned.error)));
  state.angleTop = top;
  top = 1.08 * (top || 1);
  const toY = (angle) => box.bottom - angle / top * (box.bottom - box.top);
  timeGrid(pen, box, toX, false);
  gridUp(pen, box, nice(0, top, 3), toY);
  const lines = shown.map(({ label, turned }) => ({ label, t: turned.t, values: turned.error }));
  drawLines(pen, box, toX, toY, lines, () => shade(pen, box, toX, false));
}

// What others are sorted by, and the words.
function angleWords({ label, turned }, time) {
  const angle = turned ? turned.error[rowAt(turned.t, time)] : NaN;
  return angle === angle ? [-angle, `${label}  ${short(angle)}\u00b0`] : [Infinity, `${label}  -`];
}
