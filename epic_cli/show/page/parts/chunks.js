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
