// Lanes: pictures over time below each other. All share their margins, and the part of the time
// that is shown: a span {window: [start, end], begin}, whose axis begins at a time of its own.
function timeFrame(canvas, { window: [start, end] }, foot = 4) {
  const width = canvas.clientWidth;
  const right = width > 560 ? width - 110 : width - 6;
  const box = { left: 50, right, top: 4, bottom: canvas.clientHeight - foot };
  const toX = (time) => box.left + ((time - start) / (end - start)) * (right - box.left);
  const toTime = (x) => start + ((x - box.left) / (right - box.left)) * (end - start);
  return { box, toX, toTime };
}
const hasMargin = (canvas, box) => canvas.clientWidth > box.right + 50;

// Draws lines {name, color, dash, t, values, dots}. share(value) is how high a value is, from 0
// to 1; ticks(box) are the values of its axis; behind(pen, box, toX, toY) draws what lies below the
// lines. Returns how many pixels from the top a value is.
function drawLane(canvas, span, { lines, share, ticks, behind, foot = 4, words = false }) {
  const { pen } = prepare(canvas);
  const { box, toX } = timeFrame(canvas, span, foot);
  const toY = (value) => box.bottom - share(value) * (box.bottom - box.top);
  const { window, begin } = span;
  const across = Math.max(2, (box.right - box.left) / 90);
  const values = nice(begin + window[0], begin + window[1], across);
  gridAcross(pen, box, values, (time) => toX(time - begin), words);
  gridUp(pen, box, ticks(box), toY);
  const names = [];
  clip(pen, box, () => {
    behind?.(pen, box, toX, toY);
    for (const line of lines) {
      const { t, values } = line;
      const [from, to] = rowsWithin(t, window);
      pen.strokeStyle = pen.fillStyle = line.color;
      pen.setLineDash(line.dash || []);
      // many lines are thin, which is drawn ten times as fast too
      pen.lineWidth = lines.length > 8 ? 1 : 1.5;
      if (line.dots) {
        for (let i = from; i <= to; i++) pen.fillRect(toX(t[i]) - 1, toY(values[i]) - 1, 2.5, 2.5);
      } else {
        const paint = to - from > (box.right - box.left) / 2 ? envelope : trace;
        paint(pen, t, values, from, to, toX, toY, box, columnWidth(lines));
      }
      let last = to;
      while (last > from && Number.isNaN(values[last])) last--;
      names.push({ ...line, x: box.right, y: toY(values[last]) });
    }
    pen.setLineDash([]);
  });
  if (hasMargin(canvas, box)) label(pen, names, box.top - 4, box.bottom + 4, canvas.clientWidth);
  return toY;
}
const columnWidth = (lines) => (lines.length > 8 ? 2 : 1);

// The rows of the part of the time that is shown, with one beside it at each end.
function rowsWithin(t, [start, end]) {
  return [Math.max(0, rowAt(t, start)), Math.min(t.length - 1, rowAt(t, end) + 1)];
}

// The largest value that is shown, at least 0.
function largest(t, values, window) {
  const [from, to] = rowsWithin(t, window);
  let top = 0;
  for (let i = from; i <= to; i++) if (values[i] > top) top = values[i];
  return top;
}

// By numbers of statuses: how high each is drawn, and which goes before others in one pixel.
const BAND = [0, 1, 0.22, 0.55];
const RARE = [3, 2, 0, 1];

// A band for each row {name, color, t, status, last}: when its runs begin, and how it draws then.
function drawStatuses(canvas, span, rows, behind) {
  const row = rows.length > 8 ? 9 : 12;
  canvas.style.height = `${Math.max(1, rows.length) * row + 6}px`;
  const { pen } = prepare(canvas);
  const { box, toX } = timeFrame(canvas, span);
  const [start, end] = span.window;
  const wide = columnWidth(rows);
  const pixels = Math.max(1, Math.round((box.right - box.left) / wide));
  behind?.(pen, box, toX);
  pen.font = `${row > 10 ? 11 : 9}px system-ui, sans-serif`;
  rows.forEach(({ name, color: paint, t, status, last }, place) => {
    const middle = box.top + row * (place + 0.5);
    const band = (x, width, kind) => {
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
      if (before >= 0) band(box.left + from * wide, (pixel - from) * wide, before);
      [from, before] = [pixel, now];
    }
    const beside = hasMargin(canvas, box);
    const [x, room] = beside ? [box.right + 9, canvas.clientWidth - box.right - 10] : [46, 44];
    pen.textAlign = beside ? "left" : "right";
    pen.fillText(shortened(pen, name, room), x, middle + 4);
  });
}
