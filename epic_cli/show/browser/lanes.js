// Lanes: pictures over time below each other. All share their margins and the time window, a span
// {window: [start, end], begin}; the axis begins at its own time.
function makeTimeFrame(canvas, { window: [start, end] }, foot = 4) {
  const { width, height } = measureCanvas(canvas);
  const right = width > 560 ? width - 110 : width - 6;
  const box = { left: 50, right, top: 4, bottom: height - foot };
  const convertToX = (time) => box.left + ((time - start) / (end - start)) * (right - box.left);
  const convertToTime = (x) => start + ((x - box.left) / (right - box.left)) * (end - start);
  return { box, toX: convertToX, toTime: convertToTime };
}
function setHeight(canvas, height) {
  if (canvas.style.height === height) return;
  canvas.style.height = height;
  sizes.delete(canvas);
}
const hasMargin = (canvas, box) => measureCanvas(canvas).width > box.right + 50;

// Draw lines {name, color, dash, t, values, dots, sure}; apart: each in a row of its own. share(value)
// returns the height of a value, from 0 to 1; ticks(box) the values of the axis; behind(pen, box, toX,
// toY, lines) draws the background; a note tells of values up to beyond, which have no room. A line
// that is sure (under the pointer) stands out.
function drawLane(canvas, span, { lines, apart = false, foot = 4, words = false, ...how }) {
  const rows = apart && lines.length > 1 ? lines.map((line) => [line]) : [lines];
  const row = Math.max(28, Math.min(56, 420 / rows.length)); // pixels
  setHeight(canvas, rows.length > 1 ? `${foot + row * rows.length}px` : "");
  const { pen } = prepare(canvas);
  const { box, toX } = makeTimeFrame(canvas, span, foot);
  const high = (box.bottom - box.top) / rows.length;
  const drawn = rows.flatMap((some, row) => {
    const top = box.top + row * high;
    const part = { ...box, top, bottom: top + high - (rows.length > 1 ? 4 : 0) };
    return drawRow(pen, part, toX, span, some, { ...how, words: words && some === rows.at(-1) });
  });
  drawnLines.set(canvas, drawn);
}

// The lines of each lane, with a function that returns a value's pixels from the top.
const drawnLines = new Map();

// Return the name of the line near a place of a lane; empty if none is near.
function findLineAt(canvas, span, x, y) {
  const time = makeTimeFrame(canvas, span).toTime(x);
  let found = { apart: 12, name: "" };
  for (const { name, t, values, toY } of drawnLines.get(canvas) || []) {
    const row = rowAt(t, time);
    const step = ((time - t[row]) / (t[row + 1] - t[row])) * (values[row + 1] - values[row]);
    const apart = Math.abs(toY(values[row] + (step || 0)) - y);
    if (apart < found.apart) found = { apart, name };
  }
  return found.name;
}

function drawRow(pen, box, toX, span, lines, { share, ticks, behind, words, beyond = 0 }) {
  const { canvas } = pen;
  const convertToY = (value) => box.bottom - share(value) * (box.bottom - box.top);
  const { window, begin } = span;
  const across = Math.max(2, (box.right - box.left) / 90);
  const values = chooseNiceTicks(begin + window[0], begin + window[1], across);
  drawGridAcross(pen, box, values, (time) => toX(time - begin), words);
  drawGridUp(pen, box, ticks(box), convertToY);
  const names = [],
    some = lines.some((line) => line.sure);
  clip(pen, box, () => {
    behind?.(pen, box, toX, convertToY, lines);
    for (const line of lines) {
      const { t, values } = line;
      const [from, to] = findRows(t, window);
      pen.strokeStyle = pen.fillStyle = line.color;
      pen.setLineDash(line.dash || []);
      // many lines are thin, which is also ten times as fast
      pen.lineWidth = line.sure ? 2.6 : lines.length > 8 ? 1 : 1.5;
      pen.globalAlpha = some && !line.sure ? 0.3 : 1;
      if (line.dots) {
        for (let i = from; i <= to; i++)
          pen.fillRect(toX(t[i]) - 1, convertToY(values[i]) - 1, 2.5, 2.5);
      } else {
        const paint = to - from > (box.right - box.left) / 2 ? traceEnvelope : traceLine;
        paint(pen, t, values, from, to, toX, convertToY, box, chooseColumnWidth(lines));
      }
      let last = to;
      while (last > from && Number.isNaN(values[last])) last--;
      names.push({ ...line, x: box.right, y: convertToY(values[last]) });
    }
    pen.globalAlpha = 1;
    pen.setLineDash([]);
    if (beyond) {
      pen.fillStyle = getColor("--soft");
      pen.textAlign = "right";
      pen.fillText(`\u2191 up to ${beyond.toPrecision(3)}`, box.right - 4, box.top + 10);
    }
  });
  if (hasMargin(canvas, box))
    drawLabels(pen, names, box.top - 4, box.bottom + 4, measureCanvas(canvas).width);
  return lines.map((line) => ({ ...line, toY: convertToY }));
}
const chooseColumnWidth = (lines) => (lines.length > 8 ? 2 : 1);

// Return the rows of the time window, with one more at each end.
function findRows(t, [start, end]) {
  return [Math.max(0, rowAt(t, start)), Math.min(t.length - 1, rowAt(t, end) + 1)];
}

// Return the largest shown value, at least 0.
function findLargest(t, values, window) {
  const [from, to] = findRows(t, window);
  let top = 0;
  for (let i = from; i <= to; i++) if (values[i] > top && values[i] < Infinity) top = values[i];
  return top;
}

// Return the top of an axis: the largest value, unless a few values or one line lie far beyond the
// others. {roof, beyond}: beyond is the largest value that has no room, or 0.
const NEARLY_ALL = 0.97,
  FAR = 3,
  SAMPLES = 500;
function chooseRoof(lines, window) {
  const usual = [];
  let top = 0;
  for (const { t, values } of lines) {
    const [from, to] = findRows(t, window);
    const some = [];
    for (let i = from; i <= to; i += Math.ceil((to - from + 1) / SAMPLES))
      if (Number.isFinite(values[i])) some.push(values[i]);
    some.sort((a, b) => a - b);
    if (some.length) usual.push(Math.max(0, some[Math.floor(NEARLY_ALL * (some.length - 1))]));
    top = Math.max(top, findLargest(t, values, window));
  }
  usual.sort((a, b) => a - b);
  const most = Math.min(usual.at(-1) || 0, 20 * usual[(usual.length - 1) >> 1] || Infinity);
  return most && top > FAR * most ? { roof: 1.5 * most, beyond: top } : { roof: top, beyond: 0 };
}

// By status: the height of its band, and its precedence within a pixel.
const BAND = [0, 1, 0.22, 0.55];
const RARE = [3, 2, 0, 1];

// Draw a band for each row {name, color, t, status, last}: the beginnings and statuses of its runs.
function drawStatuses(canvas, span, rows, behind) {
  const row = rows.length > 8 ? 9 : 12;
  setHeight(canvas, `${Math.max(1, rows.length) * row + 6}px`);
  const { pen } = prepare(canvas);
  const { box, toX } = makeTimeFrame(canvas, span);
  const [start, end] = span.window;
  const wide = chooseColumnWidth(rows);
  const pixels = Math.max(1, Math.round((box.right - box.left) / wide));
  behind?.(pen, box, toX);
  pen.font = `${row > 10 ? 11 : 9}px system-ui, sans-serif`;
  rows.forEach(({ name, color: paint, t, status, last }, place) => {
    const middle = box.top + row * (place + 0.5);
    const drawBand = (x, width, kind) => {
      const high = BAND[kind] * (row - 3) || 0.5;
      pen.fillRect(x, middle - high / 2, width, high);
    };
    pen.fillStyle = paint;
    let run = Math.max(0, rowAt(t, start));
    let from = 0;
    let before = -1;
    for (let pixel = 0; pixel <= pixels; pixel++) {
      const until = start + ((end - start) * (pixel + 1)) / pixels;
      let now = -1;
      if (pixel < pixels && until > t[0] && until - (end - start) / pixels <= last) {
        now = status[run];
        while (run + 1 < t.length && t[run + 1] < until) {
          run++;
          if (RARE[status[run]] > RARE[now]) now = status[run];
        }
      }
      if (now === before) continue;
      if (before >= 0) drawBand(box.left + from * wide, (pixel - from) * wide, before);
      [from, before] = [pixel, now];
    }
    const beside = hasMargin(canvas, box);
    const [x, room] = beside
      ? [box.right + 9, measureCanvas(canvas).width - box.right - 10]
      : [46, 44];
    pen.textAlign = beside ? "left" : "right";
    pen.fillText(shortenText(pen, name, room), x, middle + 4);
  });
}
