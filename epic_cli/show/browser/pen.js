// Canvases, axes and lines.

// The cached size of a canvas, since asking for it lays out the whole page.
const sizes = new Map();
const sizing = new ResizeObserver((changes) => {
  const other = changes.some(({ target }) => {
    const { width, height } = measureCanvas(target);
    return width !== target.clientWidth || height !== target.clientHeight;
  });
  if (other) dispatchEvent(new Event("resize"));
});
function measureCanvas(canvas) {
  if (!sizes.has(canvas)) {
    sizes.set(canvas, { width: canvas.clientWidth, height: canvas.clientHeight });
    sizing.observe(canvas);
  }
  return sizes.get(canvas);
}
addEventListener("resize", () => sizes.clear());

const pixels = { each: 1 }; // canvas pixels per pixel of the screen

function prepare(canvas) {
  const ratio = pixels.each * (window.devicePixelRatio || 1);
  const { width, height } = measureCanvas(canvas);
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

// Return round values from low to high with their texts, in steps of 1, 2 or 5 times 10^k.
function chooseNiceTicks(low, high, about) {
  const raw = (high - low) / about;
  if (!(raw > 0 && Number.isFinite(raw))) return [];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((one) => one >= raw * 0.999);
  const digits = Math.min(9, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  const values = [];
  const first = Math.ceil(low / step - 1e-9);
  for (let k = 0; k <= 10 * about && first + k <= high / step + 1e-9; k++) {
    // adding a step to a huge number changes nothing
    const value = (first + k) * step;
    values.push([
      value,
      step >= 1e6 || step < 1e-6
        ? String(Number(value.toExponential(0))).replace("e+", "e")
        : (value === 0 ? 0 : value).toFixed(digits),
    ]);
  }
  return values;
}

// Return a log axis's ticks: powers of ten, with doubles and halves if there are few.
function chooseDecadeTicks(bottom, top) {
  const listTicks = (steps) => {
    const found = [];
    for (let k = Math.floor(Math.log10(bottom)); 10 ** k <= top; k++)
      for (const step of steps) found.push(step * 10 ** k);
    return found
      .filter((one) => one >= bottom * 0.999 && one <= top)
      .map((one) => [
        one,
        one < 1e-3 || one >= 1e5 ? one.toExponential(0) : `${Number(one.toFixed(4))}`,
      ]);
  };
  return (
    [listTicks([1]), listTicks([1, 2, 5])].find((one) => one.length > 2) ||
    chooseNiceTicks(bottom, top, 6)
  );
}

function drawGridAcross(pen, box, values, toX, words = true) {
  pen.lineWidth = 1;
  pen.strokeStyle = getColor("--line");
  pen.fillStyle = getColor("--soft");
  pen.textAlign = "center";
  pen.beginPath();
  for (const [value, text] of values) {
    const x = Math.round(toX(value)) + 0.5;
    pen.moveTo(x, box.top);
    pen.lineTo(x, box.bottom);
    if (words) pen.fillText(text, Math.max(12, x), box.bottom + 15);
  }
  pen.stroke();
}

function drawGridUp(pen, box, values, toY, words = true) {
  pen.lineWidth = 1;
  pen.strokeStyle = getColor("--line");
  pen.fillStyle = getColor("--soft");
  pen.textAlign = words ? "right" : "center";
  pen.beginPath();
  for (const [value, text] of values) {
    const y = Math.round(toY(value)) + 0.5;
    pen.moveTo(box.left, y);
    pen.lineTo(box.right, y);
    if (words) pen.fillText(text, box.left - 5, y + 4);
  }
  pen.stroke();
}

// Draw a line through rows; NaN breaks it, a lone row is a dot. Rows outside of the box are left
// out: their dashes would take longer than the picture.
function traceLine(pen, xs, ys, from, to, toX, toY, box) {
  pen.beginPath();
  let joined = 0,
    lastX = 0,
    lastY = 0;
  for (let i = from; i <= to; i++) {
    const x = toX(xs[i]),
      y = toY(ys[i]);
    if (Number.isNaN(x) || Number.isNaN(y)) {
      if (joined === 1) pen.lineTo(lastX + 1, lastY);
      joined = 0;
      continue;
    }
    const beside =
      (x < box.left && lastX < box.left) ||
      (x > box.right && lastX > box.right) ||
      (y < box.top && lastY < box.top) ||
      (y > box.bottom && lastY > box.bottom);
    if (joined && !beside) pen.lineTo(x, y);
    else pen.moveTo(x, y);
    joined++;
    lastX = x;
    lastY = y;
  }
  if (joined === 1) pen.lineTo(lastX + 1, lastY);
  pen.stroke();
}

// Fill the area below a line, down to the foot of the box.
function fillBelow(pen, xs, ys, from, to, toX, toY, box) {
  let last = NaN;
  pen.beginPath();
  for (let i = from; i <= to; i++) {
    const x = toX(xs[i]),
      y = toY(ys[i]);
    if (!Number.isNaN(y)) {
      if (Number.isNaN(last)) pen.moveTo(x, box.bottom);
      pen.lineTo(x, y);
    } else if (!Number.isNaN(last)) pen.lineTo(last, box.bottom);
    last = !Number.isNaN(y) ? x : NaN;
  }
  if (!Number.isNaN(last)) pen.lineTo(last, box.bottom);
  pen.fill();
}

// Draw a line of more rows than pixels: from the least to the largest value in each column of
// pixels, joined to the column before; a column is `width` pixels wide. A thin line bridges columns
// without rows.
function traceEnvelope(pen, xs, ys, from, to, toX, toY, box, width) {
  const wide = Math.round((box.right - box.left) / width);
  const dashed = pen.getLineDash(),
    strong = pen.globalAlpha;
  let column = -1,
    low = 0,
    high = 0,
    before = null,
    lastX = 0,
    lastY = 0;
  pen.beginPath();
  const paint = () => {
    if (column < 0 || column > wide) return;
    const [above, below] = before
      ? [Math.min(high, before[1]), Math.max(low, before[0])]
      : [high, low];
    // a gap is faint, not empty: it may hide the largest value
    pen.globalAlpha = isInGap(dashed, column * width) ? strong / 3 : strong;
    // whole pixels are filled fastest
    const top = Math.floor(above);
    pen.fillRect(box.left + column * width, top, width, Math.ceil(below) - top + 1);
  };
  for (let i = from; i <= to; i++) {
    const x = toX(xs[i]),
      y = toY(ys[i]),
      at = Math.floor((x - box.left) / width);
    if (Number.isNaN(y)) {
      paint();
      column = -1;
      before = null;
      continue;
    }
    if (at !== column) {
      paint();
      const next = at === column + 1;
      if (column >= 0 && !next) {
        pen.moveTo(lastX, lastY);
        pen.lineTo(x, y);
      }
      before = next && column >= 0 ? [low, high] : null;
      [column, low, high] = [at, y, y];
    } else if (y > low) low = y;
    else if (y < high) high = y;
    lastX = x;
    lastY = y;
  }
  paint();
  pen.globalAlpha = strong;
  pen.stroke();
}

function isInGap(dashed, x) {
  let end = 0;
  const left = x % (dashed.reduce((a, b) => a + b, 0) || 1);
  const part = dashed.findIndex((length) => {
    end += length;
    return left < end;
  });
  return part % 2 === 1;
}

// Draw a shape with corners, or a disc.
function drawDot(pen, x, y, radius, fill, edge, shape = []) {
  if (Number.isNaN(x) || Number.isNaN(y)) return;
  pen.beginPath();
  if (shape.length) {
    for (const [across, up] of shape) pen.lineTo(x + radius * across, y - radius * up);
    pen.closePath();
  } else pen.arc(x, y, radius, 0, 7);
  if (fill) {
    pen.fillStyle = fill;
    pen.fill();
  }
  if (edge) {
    pen.strokeStyle = edge;
    pen.lineWidth = 1.5;
    pen.stroke();
  }
}

function drawCross(pen, x, y, size) {
  pen.moveTo(x - size, y - size);
  pen.lineTo(x + size, y + size);
  pen.moveTo(x - size, y + size);
  pen.lineTo(x + size, y - size);
}

// Names beside their lines, pushed apart if they overlap.
const LABEL_HEIGHT = 13;
const MOST_LABELS = 14;

// Each {x, y, name, color} is placed right of x, between top and bottom. If there is no room for all,
// names that are sure (under the pointer) come first, then the best, then those furthest from placed
// ones. Beside dots (x, y, radius), a name without room is placed left of x, and none under a dot.
function drawLabels(pen, wanted, top, bottom, right, dots = null) {
  const left = wanted.filter((one) => !Number.isNaN(one.y)),
    few = [],
    room = Math.min(MOST_LABELS, left.length, Math.floor((bottom - top) / LABEL_HEIGHT));
  const isAlone = (one) =>
    one.sure
      ? Infinity
      : Math.min(1e9, ...few.map((other) => Math.hypot(other.x - one.x, other.y - one.y)));
  while (few.length < room) {
    const next = left.reduce((best, one) => (isAlone(one) > isAlone(best) ? one : best));
    few.push(...left.splice(left.indexOf(next), 1));
  }
  few.sort((a, b) => a.y - b.y);
  let floor = top + LABEL_HEIGHT / 2;
  for (const tag of few) {
    tag.at = Math.max(floor, Math.min(bottom - LABEL_HEIGHT / 2, tag.y));
    floor = tag.at + LABEL_HEIGHT;
  }
  let ceiling = bottom - LABEL_HEIGHT / 2;
  for (const tag of [...few].reverse()) {
    tag.at = Math.min(tag.at, ceiling);
    ceiling = tag.at - LABEL_HEIGHT;
  }
  pen.textAlign = "left";
  pen.setLineDash([]);
  for (const tag of few) {
    const wide = measureText(pen, tag.name),
      turned = dots && tag.x + wide + 10 > right && tag.x > wide + 70;
    const text = turned ? tag.name : shortenText(pen, tag.name, right - tag.x - 10);
    if (turned) tag.x -= wide + 30;
    const room = { wide: measureText(pen, text) + 2, top: tag.at - 6, bottom: tag.at + 7, right };
    const x = findPlaceBeside(tag.x + 8, room, dots || []);
    if (Math.abs(tag.at - tag.y) > 5 && !turned) {
      pen.strokeStyle = tag.color;
      pen.lineWidth = 1;
      pen.beginPath();
      pen.moveTo(tag.x + 1, tag.y);
      pen.lineTo(x - 1, tag.at);
      pen.stroke();
    }
    pen.fillStyle = getColor("--card");
    pen.globalAlpha = 0.75;
    pen.fillRect(x, tag.at - 6, room.wide, LABEL_HEIGHT - 1);
    pen.globalAlpha = 1;
    pen.fillStyle = tag.color;
    pen.fillText(text, x + 1, tag.at + 4);
  }
}

// Return the place nearest to x where a name of this width covers no dot.
function findPlaceBeside(x, { wide, top, bottom, right }, dots) {
  const near = dots.filter(([, y, radius]) => y + radius > top && y - radius < bottom);
  const isFree = (left) =>
    left >= 0 &&
    left + wide <= right &&
    near.every(([at, , radius]) => at + radius <= left || at - radius >= left + wide);
  const places = near.flatMap(([at, , radius]) => [at + radius + 1, at - radius - wide - 1]);
  places.sort((a, b) => Math.abs(a - x) - Math.abs(b - x));
  return isFree(x) ? x : (places.find(isFree) ?? x);
}

const widths = new Map();
function measureText(pen, text) {
  const key = pen.font + text;
  if (widths.size > 1000) widths.clear(); // each move of a slider makes new names
  if (!widths.has(key)) widths.set(key, pen.measureText(text).width);
  return widths.get(key);
}

function shortenText(pen, text, room) {
  if (measureText(pen, text) <= room) return text;
  let end = text.length;
  while (end > 1 && measureText(pen, `${text.slice(0, end)}\u2026`) > room) end--;
  return `${text.slice(0, end)}\u2026`;
}
