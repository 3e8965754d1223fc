// The path from above: the truth, the packets, and each strategy's drawing, around one moment.
const map = new PlaneMap($("above"), {
  redraw: () => redraw("above"),
  anchored: () => $("follow").checked,
  moved: (dragged) => {
    if (dragged) $("follow").checked = false;
  },
});

const MAP_ROWS = 9000; // the most rows in one frame, of all lines together, nearest to the moment

function findExtent(paths, first = -Infinity, last = Infinity) {
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { t, x, y } of paths) {
    for (let i = Math.max(0, rowAt(t, first)); i < x.length && t[i] <= last; i++) {
      if (Number.isNaN(x[i]) || Number.isNaN(y[i])) continue;
      if (x[i] < left) left = x[i];
      if (x[i] > right) right = x[i];
      if (y[i] < bottom) bottom = y[i];
      if (y[i] > top) top = y[i];
    }
  }
  return left <= right ? { left, right, bottom, top } : null;
}

function findWholeExtent() {
  const { truth, packets, drawn } = getScene();
  return findExtent([truth, packets]) || findExtent(drawn);
}

function showWholePath() {
  map.look(findWholeExtent() || { left: -1, right: 1, bottom: -1, top: 1 }, 0.92);
}

// Zoom in until the error of the best shown strategy is visible.
function zoomToError(time, best) {
  const error = findError(best, time);
  const others = listVisible().filter((drawn) => !(findError(drawn, time) > 3 * error));
  const box = findExtent([best, getScene().truth, ...others], time - 0.5, time + 0.5);
  if (!box) return showWholePath();
  map.look(box, 0.7);
  const { width, height } = measureCanvas($("above"));
  // make the error visible, unless that hides the rest of the picture
  const [least, most] = [0.35 * height, 0.45 * Math.min(width, height)];
  if (error > 0 && error * map.scale < least) map.scale = Math.min(least / error, 4 * map.scale);
  if (error * map.scale > most) map.scale = most / error;
}

function drawAbove() {
  const { truth, origin } = getScene();
  const shown = listVisible();
  const time = settleTime(state.time);
  const here = findPlace(truth, time) || findPlace(shown[0], time);
  $("clock").textContent = formatClock(time);
  if ($("follow").checked && here) [map.x, map.y] = here;
  const frame = map.begin(origin);
  const { pen, box, toX, toY, inside } = frame;
  const most = Math.round(MAP_ROWS / (shown.length + 4));
  const trail = Number($("trail").value);
  clip(pen, box, () => {
    pen.strokeStyle = getColor("--truth");
    pen.globalAlpha = 0.6;
    const end = state.window[1],
      start = Math.min(state.window[0], time - trail);
    for (const [width, ...part] of [
      [1, 0, start],
      [1, end, getDuration()],
      [7, start, end],
    ]) {
      pen.lineWidth = width; // the path is thin outside of the charts' time
      if (part[0] < part[1]) drawPath(frame, truth, ...selectRowsAround(truth, 2 * most, part));
    }
    pen.globalAlpha = 1;
    drawPackets(pen, inside, toX, toY);
    for (const drawn of state.playing ? [] : shown) {
      // thin and without dashes for thousands of rows; during playback trails are visible
      pen.strokeStyle = getLineColor(drawn.label);
      pen.globalAlpha = 0.35;
      pen.lineWidth = 1;
      drawPath(frame, drawn, ...selectRowsAround(drawn, most, [start, end]));
    }
    pen.globalAlpha = 1;
    for (const drawn of [...shown].reverse()) drawTrail(frame, drawn, time, trail, most);
    pen.setLineDash([]);
    drawHeadings(frame, shown, time, trail, most);
    if (here) drawDot(pen, toX(here[0]), toY(here[1]), 10, null, getColor("--text"));
    const [names, dots] = drawMarkers(frame, shown, time, here);
    drawArrows(frame, shown, names, time);
    const taken = dots.map(([x, y, radius]) => [x, y, 1.2 * radius]); // reach a shape's corners
    if (here) taken.push([toX(here[0]), toY(here[1]), 11]);
    drawLabels(pen, names, box.top, box.bottom, box.right, taken);
    for (const place of dots) drawDot(pen, ...place); // so that no name covers a dot
    drawInset(pen, box, here);
  });
}

// Return the first and the last of the `most` rows around the moment, within a time span.
function selectRowsAround({ t }, most, part = state.window) {
  const [from, to] = findRows(t, part);
  const first = Math.max(from, Math.min(rowAt(t, state.time) - (most >> 1), to - most));
  return [first, Math.min(to, first + most)];
}

function selectTrailRows({ t }, time, trail, most = Infinity) {
  const last = rowAt(t, time);
  return [Math.max(0, last - most, rowAt(t, time - trail)), last];
}

function drawPath({ pen, toX, toY, box, inside }, path, first, last) {
  const { lineWidth } = pen;
  for (const [from, to] of findRunsInside(path, inside, first, last)) {
    let begin = from;
    let cut = false;
    for (let i = from; i <= to; i++) {
      if (i < to && !(getScene().shared && hasLeftOutRows(path, i) && isBlurred(path.t[i])))
        continue;
      traceLine(pen, path.x, path.y, begin, i, toX, toY, box);
      begin = i + 1;
      cut ||= i < to;
    }
    if (!cut) continue;
    pen.lineWidth = 1; // a thin line continues where rows are left out
    traceLine(pen, path.x, path.y, from, to, toX, toY, box);
    pen.lineWidth = lineWidth;
  }
}

function drawTrail(frame, drawn, time, trail, most) {
  const { pen, toX, toY, box } = frame;
  const [first, last] = selectTrailRows(drawn, time, trail, most);
  if (last < 0) return;
  pen.strokeStyle = getLineColor(drawn.label);
  pen.setLineDash(getDashes(drawn.label));
  // the older half is fainter
  const middle = rowAt(drawn.t, (drawn.t[first] + drawn.t[last]) / 2);
  pen.lineWidth = 2;
  pen.globalAlpha = 0.5;
  drawPath(frame, drawn, first, middle);
  pen.globalAlpha = 1;
  pen.lineWidth = 2.6;
  drawPath(frame, drawn, Math.max(first, middle), last);
  const place = findPlace(drawn, time);
  if (!place) return;
  traceLine(pen, [drawn.x[last], place[0]], [drawn.y[last], place[1]], 0, 1, toX, toY, box);
}

// Draw a line from each strategy to the truth; return names and dots, which are drawn later.
function drawMarkers({ pen, toX, toY, box }, shown, time, here) {
  const [names, dots] = [[], []];
  for (const { label: name, ...path } of [...shown].reverse()) {
    const place = findPlace(path, time);
    if (!place) continue;
    const [x, y] = [toX(place[0]), toY(place[1])];
    if (here) {
      pen.strokeStyle = getLineColor(name);
      pen.lineWidth = 1;
      traceLine(pen, [here[0], place[0]], [here[1], place[1]], 0, 1, toX, toY, box);
    }
    dots.push([x, y, 7, getLineColor(name), getColor("--card"), data.styles[name].shape]);
    const seen = x > box.left && x < box.right && y > box.top && y < box.bottom;
    if (seen) names.unshift({ x: x + 4, y, ...getLineStyle(name) });
  }
  if (here) {
    const [x, y] = [toX(here[0]) + 6, toY(here[1])];
    names.push({ x, y, name: data.truth, color: getColor("--soft") });
  }
  return [names, dots];
}

// Return the rows of a path that may be inside a box: runs of chunks whose boxes touch it.
const CHUNK = 128;
function makeChunks(path) {
  if (path.boxes) return path.boxes;
  path.boxes = [];
  for (let from = 0; from < path.x.length; from += CHUNK) {
    // with the next chunk's first row, to which lines lead
    const to = Math.min(from + CHUNK + 1, path.x.length);
    let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = from; i < to; i++) {
      const [x, y] = [path.x[i], path.y[i]];
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < bottom) bottom = y;
      if (y > top) top = y;
    }
    path.boxes.push({ left, right, bottom, top });
  }
  return path.boxes;
}

function findRunsInside(path, box, first, last) {
  const boxes = makeChunks(path);
  const runs = [];
  for (let c = Math.floor(first / CHUNK); c * CHUNK <= last; c++) {
    const { left, right, bottom, top } = boxes[c];
    if (left > box.right || right < box.left || bottom > box.top || top < box.bottom) continue;
    const [from, to] = [Math.max(first, c * CHUNK), Math.min(last, (c + 1) * CHUNK)];
    const before = runs.at(-1);
    if (before && before[1] >= from) before[1] = to;
    else runs.push([from, to]);
  }
  return runs;
}

// Draw packets on the path: hollow in flight, bright on arrival, lost ones crossed out.
const FLASH = 0.2; // seconds
const MAP_PACKETS = 2500; // the most packets of other moments in one frame

function drawPackets(pen, inside, toX, toY) {
  const { packets, lost } = getScene();
  const now = state.time;
  const isInside = ({ x, y }, i) =>
    x[i] >= inside.left && x[i] <= inside.right && y[i] >= inside.bottom && y[i] <= inside.top;
  const paint = getColor("--packet");
  const places = [];
  const [from, to] = findRows(packets.t, state.window);
  for (let i = from; i <= to; i++) if (isInside(packets, i)) places.push(i);
  const every = Math.max(1, Math.ceil(places.length / MAP_PACKETS));
  const sent = rowAt(packets.t, now);
  let count = 0;
  for (const i of places) {
    const recent = packets.t[i] <= now && now - packets.t[i] < 3;
    if (!recent && count++ % every) continue;
    const [x, y] = [toX(packets.x[i]), toY(packets.y[i])];
    const arrival = getArrival(packets, i);
    if (i > sent || (arrival <= now - FLASH && !recent)) {
      // past and future packets are faint
      pen.globalAlpha = i > sent ? 0.28 : 0.75;
      pen.fillStyle = paint;
      pen.fillRect(x - 1.5, y - 1.5, 3, 3);
      pen.globalAlpha = 1;
    } else if (arrival > now) drawDot(pen, x, y, 3.5, getColor("--card"), paint);
    else if (now - arrival < FLASH) drawDot(pen, x, y, 6.5, getColor("--flash"), paint);
    else drawDot(pen, x, y, 2.6, paint);
  }
  pen.strokeStyle = getColor("--bad");
  pen.lineWidth = 2;
  pen.beginPath();
  let crosses = 0;
  for (let i = 0; i < lost.t.length && crosses < MAP_PACKETS; i++) {
    if (lost.t[i] > now || lost.t[i] < state.window[0] || !isInside(lost, i)) continue;
    drawCross(pen, toX(lost.x[i]), toY(lost.y[i]), 4);
    crosses++;
  }
  pen.stroke();
}

const getArrival = ({ t, arrival }, i) => (Number.isNaN(arrival[i]) ? t[i] : arrival[i]);

// Draw the whole path in a corner of the map if the map shows only a part.
const INSET = 96; // pixels, its longer side
let inset = { key: "", canvas: null };

function drawInset(pen, box, here) {
  const whole = findWholeExtent();
  if (!whole || !here) return;
  const wide = Math.max(whole.right - whole.left, 1e-9);
  const high = Math.max(whole.top - whole.bottom, 1e-9);
  const scale = INSET / Math.max(wide, high);
  const [width, height] = [wide * scale + 12, high * scale + 12];
  const room = width <= (box.right - box.left) / 3 && height <= box.bottom - box.top;
  const { inside } = map.frame;
  const beyond = whole.left < inside.left || whole.right > inside.right;
  if (!room || !(beyond || whole.bottom < inside.bottom || whole.top > inside.top)) return;
  const [left, top] = [box.right - width - 8, box.top + 8];
  const convertToX = (x) => 6 + (x - whole.left) * scale;
  const convertToY = (y) => 6 + (whole.top - y) * scale;
  const key = [state.scene, width, height, getColor("--card")].join(" ");
  if (inset.key !== key)
    inset = { key, canvas: drawInsetPicture(width, height, convertToX, convertToY) };
  pen.drawImage(inset.canvas, left, top, width, height);
  // the part that the map shows
  const [x, y] = [left + convertToX(inside.left), top + convertToY(inside.top)];
  const size = [(inside.right - inside.left) * scale, (inside.top - inside.bottom) * scale];
  pen.strokeStyle = getColor("--accent");
  pen.lineWidth = 1.5;
  const card = { left, top, right: left + width, bottom: top + height };
  clip(pen, card, () => pen.strokeRect(x, y, ...size));
  drawDot(
    pen,
    left + convertToX(here[0]),
    top + convertToY(here[1]),
    3,
    getColor("--accent"),
    getColor("--card"),
  );
}

function drawInsetPicture(width, height, toX, toY) {
  const { truth } = getScene();
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d");
  const sharp = 2;
  [canvas.width, canvas.height] = [sharp * width, sharp * height];
  pen.scale(sharp, sharp);
  pen.fillStyle = getColor("--card");
  pen.fillRect(0, 0, width, height);
  pen.strokeStyle = getColor("--soft");
  pen.strokeRect(0.5, 0.5, width - 1, height - 1);
  pen.lineWidth = 1.5;
  const room = { left: 0, top: 0, right: width, bottom: height };
  traceLine(pen, truth.x, truth.y, 0, truth.t.length - 1, toX, toY, room);
  return canvas;
}

// Draw headings as darts along the path and an arrow at the moment.
const DARTS = 34; // pixels from one dart to the next on a line
const ARROW = 34; // pixels of an arrow that lies in the plane
const CONE = 62;

// Return a row's heading projected on the plane, of length 1 at most; null if there is none.
function getHeading({ heads }, row) {
  if (!heads || row < 0) return null;
  const [x, y] = [heads[2 * row] / 32767, heads[2 * row + 1] / 32767];
  return x || y ? [x, y] : null;
}

// Return the rows from first to last that get a dart, far enough from each other.
function selectDartRows(path, first, last, toX, toY) {
  const rows = [];
  const taken = new Set();
  let [lastX, lastY] = [NaN, NaN];
  for (let i = first; i <= last; i++) {
    const [x, y] = [toX(path.x[i]), toY(path.y[i])];
    if (Number.isNaN(x) || Math.hypot(x - lastX, y - lastY) < DARTS || !getHeading(path, i))
      continue;
    // a dart is here already
    const cell = `${Math.round(x / DARTS)} ${Math.round(y / DARTS)}`;
    if (taken.has(cell)) continue;
    taken.add(cell);
    rows.push(i);
    [lastX, lastY] = [x, y];
  }
  return rows;
}

function drawDarts({ pen, box, toX, toY }, path, first, last, size) {
  pen.beginPath();
  for (const i of selectDartRows(path, first, last, toX, toY)) {
    const [x, y] = [toX(path.x[i]), toY(path.y[i])];
    if (x < box.left - size || x > box.right + size) continue;
    if (y < box.top - size || y > box.bottom + size) continue;
    const [hx, hy] = getHeading(path, i).map((part) => part * size);
    const wide = (0.42 * size) / Math.hypot(hx, hy);
    pen.moveTo(x + hx, y - hy);
    pen.lineTo(x - 0.8 * hx - wide * hy, y + 0.8 * hy - wide * hx);
    pen.lineTo(x - 0.35 * hx, y + 0.35 * hy);
    pen.lineTo(x - 0.8 * hx + wide * hy, y + 0.8 * hy + wide * hx);
    pen.closePath();
  }
  pen.fill();
  pen.stroke();
}

// Draw darts of the shown truth, and of the strategies' trails.
function drawHeadings(frame, shown, time, trail, most) {
  const { pen } = frame;
  const { truth } = getScene();
  pen.strokeStyle = getColor("--card");
  pen.lineWidth = 1;
  pen.fillStyle = getColor("--soft");
  if (truth.heads) drawDarts(frame, truth, ...selectRowsAround(truth, 2 * most), 9);
  for (const drawn of [...shown].reverse()) {
    pen.fillStyle = getLineColor(drawn.label);
    if (drawn.heads) drawDarts(frame, drawn, ...selectTrailRows(drawn, time, trail, most), 8);
  }
}

// Draw the truth's view as a cone at the moment, and each strategy's heading as an arrow.
function drawArrows({ pen, toX, toY }, shown, names, time) {
  const { truth } = getScene();
  const isSeen = (path) => {
    const place = findPlace(path, time);
    const heading = getHeading(path, rowAt(path.t, time));
    return place && heading && [toX(place[0]), toY(place[1]), ...heading];
  };
  const cone = isSeen(truth);
  if (cone) {
    const [x, y, across, up] = cone;
    const angle = Math.atan2(-up, across);
    pen.beginPath();
    pen.moveTo(x, y);
    pen.arc(x, y, CONE * Math.hypot(across, up), angle - 0.26, angle + 0.26);
    pen.closePath();
    pen.fillStyle = getColor("--soft");
    pen.globalAlpha = 0.35;
    pen.fill();
    pen.globalAlpha = 1;
  }
  for (const drawn of [...shown].reverse()) {
    const found = isSeen(drawn);
    if (!found) continue;
    const [x, y, across, up] = found;
    const [hx, hy] = [ARROW * across, ARROW * up];
    const [ux, uy] = [across, up].map((part) => part / Math.hypot(across, up));
    for (const [paint, width] of [
      [getColor("--card"), 5],
      [getLineColor(drawn.label), 2.4],
    ]) {
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
    // names stand beyond the tips of arrows
    const name = names.find((other) => other.name === drawn.label);
    if (name && hx > 0) name.x += Math.max(0, hx - 4);
  }
}
