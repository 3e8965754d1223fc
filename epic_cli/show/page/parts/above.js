// The path from above: the truth, the packets, and what each strategy draws, around one moment.
const MAP_ROWS = 9000;      // in one frame, of all lines together: those nearest to the moment
let frameAbove = null;      // how the last frame was laid out, for pointers

function extent(paths, first = 0, last = Infinity) {
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const path of paths) {
    for (let i = Math.max(0, first === 0 ? 0 : rowAt(path.t, first)); i < path.x.length && path.t[i] <= last; i++) {
      const x = path.x[i], y = path.y[i];
      if (x !== x || y !== y) continue;
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < bottom) bottom = y;
      if (y > top) top = y;
    }
  }
  return left <= right ? { left, right, bottom, top } : null;
}

function look(box, share) {
  const { clientWidth: width, clientHeight: height } = $("above");
  const wide = box.right - box.left, high = box.top - box.bottom;
  const least = 1e-6 * Math.max(1e-3, Math.abs(box.left), Math.abs(box.top));
  state.view.x = (box.left + box.right) / 2;
  state.view.y = (box.bottom + box.top) / 2;
  state.view.scale = share * Math.min((width - 60) / Math.max(wide, least), (height - 34) / Math.max(high, least));
}

function wholePath() {
  const { truth, packets, drawn } = scene();
  look(extent([truth, packets]) || extent(drawn) || { left: -1, right: 1, bottom: -1, top: 1 }, 0.92);
}

// So near that the error of the best strategy shown can be seen.
function near(time, leader) {
  const around = [leader, scene().truth, ...visible().filter((one) => !(errorAt(one, time) > 3 * errorAt(leader, time)))];
  const box = extent(around, time - 0.5, time + 0.5);
  if (!box) { wholePath(); return; }
  look(box, 0.7);
  const { clientWidth: width, clientHeight: height } = $("above");
  const error = errorAt(leader, time), most = 0.45 * Math.min(width, height);
  // the error is long enough to be seen, where that leaves some of the rest on the picture
  const least = 0.35 * height;
  if (error > 0 && error * state.view.scale < least) state.view.scale = Math.min(least / error, 4 * state.view.scale);
  if (error * state.view.scale > most) state.view.scale = most / error;
}

const errorAt = (one, time) => between(one, one.distance, time);

function drawAbove() {
  const { pen, width, height } = prepare($("above"));
  const now = scene(), view = state.view;
  const box = { left: 50, right: width - 6, top: 4, bottom: height - 20 };
  const middleX = (box.left + box.right) / 2, middleY = (box.top + box.bottom) / 2;
  const time = settled(state.time), here = placeAt(now.truth, time) || placeAt(visible()[0], time);
  $("clock").textContent = clockWords(time);
  if ($("follow").checked && here) [view.x, view.y] = here;
  const { x: viewX, y: viewY, scale } = view;
  const toX = (x) => middleX + (x - viewX) * scale, toY = (y) => middleY - (y - viewY) * scale;
  const inside = {
    left: viewX + (box.left - middleX) / scale, right: viewX + (box.right - middleX) / scale,
    bottom: viewY - (box.bottom - middleY) / scale, top: viewY + (middleY - box.top) / scale,
  };
  frameAbove = { box, toX, toY, scale, middleX, middleY, inside };
  const [originX, originY] = now.origin;
  gridAcross(pen, box, nice(inside.left + originX, inside.right + originX, Math.max(2, width / 110)), (v) => toX(v - originX));
  gridUp(pen, box, nice(inside.bottom + originY, inside.top + originY, Math.max(2, height / 70)), (v) => toY(v - originY));
  clip(pen, box, () => {
    const shown = visible();
    const most = Math.round(MAP_ROWS / (shown.length + 4));
    pen.strokeStyle = color("--truth");
    pen.lineWidth = 7;
    paintPath(now.truth, ...around(now.truth, 2 * most));
    drawPackets(pen, inside, toX, toY);
    const trail = Number($("trail").value);
    for (const one of shown) {
      // thin and without dashes: thousands of rows at once
      pen.strokeStyle = lineColor(one.label);
      pen.globalAlpha = 0.35;
      pen.lineWidth = 1;
      paintPath(one, ...around(one, most));
    }
    pen.globalAlpha = 1;
    for (const one of [...shown].reverse()) {
      const last = rowAt(one.t, time), first = Math.max(0, last - most, rowAt(one.t, time - trail));
      if (last < 0) continue;
      pen.strokeStyle = lineColor(one.label);
      pen.setLineDash(dashes(one.label));
      pen.lineWidth = 2.4;
      paintPath(one, first, last);
      const place = placeAt(one, time);
      if (place) trace(pen, [one.x[last], place[0]], [one.y[last], place[1]], 0, 1, toX, toY, box);
    }
    pen.setLineDash([]);
    /*turns drawHeadings(pen, shown, trail, most); */
    if (here) dot(pen, toX(here[0]), toY(here[1]), 8, null, color("--text"));
    const names = [];
    for (const one of [...shown].reverse()) {
      const place = placeAt(one, time);
      if (!place) continue;
      const x = toX(place[0]), y = toY(place[1]);
      if (here) {
        pen.strokeStyle = lineColor(one.label);
        pen.lineWidth = 1;
        pen.beginPath();
        pen.moveTo(toX(here[0]), toY(here[1]));
        pen.lineTo(x, y);
        pen.stroke();
      }
      dot(pen, x, y, 5, lineColor(one.label), color("--card"));
      if (x > box.left && x < box.right && y > box.top && y < box.bottom) names.unshift({ x: x + 2, y, name: one.label, color: lineColor(one.label) });
    }
    if (here) names.push({ x: toX(here[0]) + 2, y: toY(here[1]), name: data.truth, color: color("--soft") });
    /*turns drawArrows(pen, shown, names); */
    label(pen, names, box.top, box.bottom, box.right, 14, true);
    drawInset(pen, box, here);
  });

  function paintPath(path, first, last) {
    const { lineWidth } = pen;
    for (const [from, to] of runsInside(path, inside, first, last)) {
      let begin = from, cut = false;
      for (let i = from; i <= to; i++) {
        if (i < to && !(now.shared && leftOut(path, i) && blurred(path.t[i]))) continue;
        trace(pen, path.x, path.y, begin, i, toX, toY, box);
        begin = i + 1;
        cut ||= i < to;
      }
      if (!cut) continue;
      pen.lineWidth = 1; // a thin line goes on where left out rows could be beside it
      trace(pen, path.x, path.y, from, to, toX, toY, box);
      pen.lineWidth = lineWidth;
    }
  }
}

// The first and the last of so many rows around the moment.
function around({ t }, most) {
  const first = Math.max(0, Math.min(rowAt(t, state.time) - (most >> 1), t.length - 1 - most));
  return [first, Math.min(t.length - 1, first + most)];
}

// Whether rows are left out after a row of a path.
const leftOut = ({ t }, row) => t[row + 1] - t[row] > 1.5 * data.tick;

// Whether it can be seen at this zoom that rows around a time are left out.
function blurred(time) {
  const { shared } = scene();
  return shared && shared.blur[rowAt(shared.t, time)] * state.view.scale > 0.5;
}

// The moment that is shown on the map: where left out rows could be seen, the nearest that all have.
const settled = (time) => (blurred(time) && !state.exact ? scene().shared.t[nearest(scene().shared.t, time)] : time);

// Where a path is at a time; null: nowhere, or it is not known where.
function placeAt(path, time) {
  const row = path ? rowAt(path.t, time) : -1, x = path ? between(path, path.x, time) : NaN;
  const known = row >= 0 && (path.t[row] === time || !leftOut(path, row) || !blurred(time));
  return x === x && known ? [x, between(path, path.y, time)] : null;
}
