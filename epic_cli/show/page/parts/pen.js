// Canvases, axes and lines.
function prepare(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.lineJoin = "bevel";
  pen.lineCap = "butt";
  pen.font = "11px system-ui, sans-serif";
  return { pen, width, height };
}

function clip(pen, box, paint) {
  pen.save();
  pen.beginPath();
  pen.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  pen.clip();
  paint();
  pen.restore();
}

// Round values from low to high with their texts: steps of 1, 2 or 5 times 10^k.
function nice(low, high, about) {
  const raw = (high - low) / about;
  if (!(raw > 0 && Number.isFinite(raw))) return [];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((one) => one >= raw * 0.999);
  const digits = Math.min(9, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  const values = [];
  const first = Math.ceil(low / step - 1e-9);
  for (let k = 0; k <= 10 * about && first + k <= high / step + 1e-9; k++) { // huge numbers have no next one
    const value = (first + k) * step;
    values.push([value, step >= 1e6 || step < 1e-6 ? String(Number(value.toExponential(0))).replace("e+", "e") : (value === 0 ? 0 : value).toFixed(digits)]);
  }
  return values;
}

function gridAcross(pen, box, values, toX, words = true) {
  pen.lineWidth = 1;
  pen.strokeStyle = color("--line");
  pen.fillStyle = color("--soft");
  pen.textAlign = "center";
  pen.beginPath();
  for (const [value, text] of values) {
    const x = Math.round(toX(value)) + 0.5;
    pen.moveTo(x, box.top);
    pen.lineTo(x, box.bottom);
    if (words) pen.fillText(text, Math.max(12, x), box.bottom + 13);
  }
  pen.stroke();
}

function gridUp(pen, box, values, toY) {
  pen.lineWidth = 1;
  pen.strokeStyle = color("--line");
  pen.fillStyle = color("--soft");
  pen.textAlign = "right";
  pen.beginPath();
  for (const [value, text] of values) {
    const y = Math.round(toY(value)) + 0.5;
    pen.moveTo(box.left, y);
    pen.lineTo(box.right, y);
    pen.fillText(text, box.left - 5, y + 4);
  }
  pen.stroke();
}

// A line through rows; what is not a number breaks it, a lone row is a dot. What
// is beside the box is left out: dashes there would take longer than the picture.
function trace(pen, xs, ys, from, to, toX, toY, box) {
  pen.beginPath();
  let joined = 0, lastX = 0, lastY = 0;
  for (let i = from; i <= to; i++) {
    const x = toX(xs[i]), y = toY(ys[i]);
    if (x !== x || y !== y) {
      if (joined === 1) pen.lineTo(lastX + 1, lastY);
      joined = 0;
      continue;
    }
    const beside = (x < box.left && lastX < box.left) || (x > box.right && lastX > box.right)
      || (y < box.top && lastY < box.top) || (y > box.bottom && lastY > box.bottom);
    if (joined && !beside) pen.lineTo(x, y); else pen.moveTo(x, y);
    joined++;
    lastX = x;
    lastY = y;
  }
  if (joined === 1) pen.lineTo(lastX + 1, lastY);
  pen.stroke();
}

// What is below a line, down to the foot of the box.
function below(pen, xs, ys, from, to, toX, toY, box) {
  let last = NaN;
  pen.beginPath();
  for (let i = from; i <= to; i++) {
    const x = toX(xs[i]), y = toY(ys[i]);
    if (y === y) {
      if (last !== last) pen.moveTo(x, box.bottom);
      pen.lineTo(x, y);
    } else if (last === last) pen.lineTo(last, box.bottom);
    last = y === y ? x : NaN;
  }
  if (last === last) pen.lineTo(last, box.bottom);
  pen.fill();
}

// A line of more rows than pixels: from the least to the largest value in each column of pixels,
// and on to those of the column before; a column is so many pixels wide. Where there are no rows
// for a while, a thin line goes on to the next.
function envelope(pen, xs, ys, from, to, toX, toY, box, width) {
  const wide = Math.round((box.right - box.left) / width);
  let column = -1, low = 0, high = 0, before = null, lastX = 0, lastY = 0;
  pen.beginPath();
  const paint = () => {
    if (column < 0 || column > wide) return;
    const [above, below] = before ? [Math.min(high, before[1]), Math.max(low, before[0])] : [high, low];
    // whole pixels are filled fastest
    const top = Math.floor(above);
    pen.fillRect(box.left + column * width, top, width, Math.ceil(below) - top + 1);
  };
  for (let i = from; i <= to; i++) {
    const x = toX(xs[i]), y = toY(ys[i]), at = Math.floor((x - box.left) / width);
    if (y !== y) { paint(); column = -1; before = null; continue; }
    if (at !== column) {
      paint();
      const next = at === column + 1;
      if (column >= 0 && !next) { pen.moveTo(lastX, lastY); pen.lineTo(x, y); }
      before = next && column >= 0 ? [low, high] : null;
      [column, low, high] = [at, y, y];
    } else if (y > low) low = y;
    else if (y < high) high = y;
    lastX = x;
    lastY = y;
  }
  paint();
  pen.stroke();
}

function dot(pen, x, y, radius, fill, edge) {
  if (x !== x || y !== y) return;
  pen.beginPath();
  pen.arc(x, y, radius, 0, 7);
  if (fill) { pen.fillStyle = fill; pen.fill(); }
  if (edge) { pen.strokeStyle = edge; pen.lineWidth = 1.5; pen.stroke(); }
}
