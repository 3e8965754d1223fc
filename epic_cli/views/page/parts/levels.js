// Levels of detail. A level is a list of rows: of each stretch of so many rows it keeps the ones
// with the least and the largest error, and a row of every hole, so that a coarse picture has the
// same extremes as a fine one, and joins nothing that is not joined.
const STRETCHES = [8, 32, 128, 512, 2048];

function level(values, stretch) {
  const count = values.length, rows = [];
  for (let from = 0; from < count; from += stretch) {
    const to = Math.min(count, from + stretch);
    const found = new Set();
    if (from === 0) found.add(0);
    if (to === count) found.add(count - 1);
    let least = -1, largest = -1, hole = -1;
    for (let i = from; i < to; i++) {
      const value = values[i];
      if (value !== value) {
        // one row for every hole; its neighbours keep their ends
        if (hole < 0) { found.add(i); if (i > from) found.add(i - 1); }
        hole = i;
      } else {
        if (hole >= 0) { found.add(i); hole = -1; }
        if (least < 0 || value < values[least]) least = i;
        if (largest < 0 || value > values[largest]) largest = i;
      }
    }
    if (least >= 0) found.add(least).add(largest);
    rows.push(...[...found].sort((a, b) => a - b));
  }
  return Int32Array.from(rows);
}

// The levels of what one strategy drew: from all rows (null) to a few; made when they are first asked for.
function levels(path) {
  if (!path.levels) {
    path.levels = [null, ...STRETCHES.filter((one) => one < path.error.length / 4).map((one) => level(path.error, one))];
  }
  return path.levels;
}

// The finest level that has at most so many of the rows from first to last, and which part of it.
function detail(path, first, last, most) {
  let part = null;
  for (const rows of levels(path)) {
    const from = rows ? Math.max(0, rowAt(rows, first)) : first;
    const to = rows ? Math.min(rows.length - 1, rowAt(rows, last) + 1) : last;
    part = { rows, from, to };
    if (to - from < most) break;
  }
  return part;
}

// Which rows of a path may be inside a box: runs of chunks whose own boxes touch it.
const CHUNK = 128;
function chunks(path) {
  if (!path.boxes) {
    const count = Math.ceil(path.x.length / CHUNK);
    const boxes = new Float32Array(4 * count);
    for (let c = 0; c < count; c++) {
      let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
      // with the next chunk's first row: lines go there
      for (let i = c * CHUNK; i <= Math.min((c + 1) * CHUNK, path.x.length - 1); i++) {
        const x = path.x[i], y = path.y[i];
        if (x < left) left = x;
        if (x > right) right = x;
        if (y < bottom) bottom = y;
        if (y > top) top = y;
      }
      boxes.set([left, right, bottom, top], 4 * c);
    }
    path.boxes = boxes;
  }
  return path.boxes;
}

function runsInside(path, box, first, last) {
  const boxes = chunks(path), runs = [];
  for (let c = Math.floor(first / CHUNK); c * CHUNK <= last; c++) {
    const at = 4 * c;
    if (boxes[at] > box.right || boxes[at + 1] < box.left || boxes[at + 2] > box.top || boxes[at + 3] < box.bottom) continue;
    const from = Math.max(first, c * CHUNK), to = Math.min(last, (c + 1) * CHUNK);
    const before = runs[runs.length - 1];
    if (before && before[1] >= from) before[1] = to; else runs.push([from, to]);
  }
  return runs;
}
