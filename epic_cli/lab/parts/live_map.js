// The map: every entity where it is drawn, with its trail; of the one that is followed also what was sent and received.
const TRAIL = 2, SEGMENTS = 16000, NAMED = 150, REACH = 16; // seconds; in one picture; pixels
const where = (place) => [place[PLANES[live.plane][0]], place[PLANES[live.plane][1]]];

// Shows all with their trails, until somebody moves the map; it stays while all is in it and takes
// much of it. Who is alone is in the middle.
function fitMap(width, height, shown) {
  const share = shown.length > 1 ? 0.8 : 0.4, places = shown.flatMap(({ at, trail }) => [at, ...[trail.length - 240, trail.length - 120].filter((i) => i >= 0).map((i) => trail.slice(i + 1, i + 4))].map(where));
  const xs = places.map(([x]) => x), ys = places.map(([, y]) => y), least = (some) => some.reduce((a, b) => Math.min(a, b)), most = (some) => some.reduce((a, b) => Math.max(a, b));
  const [left, right, bottom, top] = [least(xs), most(xs), least(ys), most(ys)], span = (low, high) => Math.min(high - low > 1e-3 ? Math.max(high - low, 1e-3 * Math.abs(low)) : Math.max(1, 1e-3 * Math.abs(low)), 1e300);
  const [x, y] = live.centre, wide = span(left, right) * live.scale / width, high = span(bottom, top) * live.scale / height, half = [width / 2 / live.scale, height / 2 / live.scale];
  if (live.fitted && left >= x - half[0] && right <= x + half[0] && bottom >= y - half[1] && top <= y + half[1] && Math.max(wide, high) > share / 2) return;
  Object.assign(live, { fitted: true, scale: share * Math.min(width / span(left, right), height / span(bottom, top)), centre: [left / 2 + right / 2, bottom / 2 + top / 2] });
}

function drawMap() {
  const { pen, width, height } = prepare($("live-map")), shown = [...live.entities.values()].filter((one) => one.status && one.at.every(Number.isFinite)), followed = shown.find((one) => one.number === live.followed);
  if (followed) live.centre = where(followed.at);
  else if (live.fits && shown.length) fitMap(width, height, shown);
  if (live.fits && shown.length === 1) live.centre = where(shown[0].at);
  const [cx, cy] = live.centre, { scale } = live, toX = (x) => width / 2 + (x - cx) * scale, toY = (y) => height / 2 - (y - cy) * scale, box = { left: 50, right: width, top: 0, bottom: height - 18 };
  const inside = (x, y) => x > -50 && y > -50 && x < width + 50 && y < height + 50, spot = (place) => { const [x, y] = where(place); return [toX(x), toY(y)]; };
  live.size = [width, height];
  gridAcross(pen, { ...box, left: 0 }, nice(cx - width / 2 / scale, cx + width / 2 / scale, 8), toX);
  gridUp(pen, box, nice(cy - height / 2 / scale, cy + height / 2 / scale, 5), toY);
  for (const one of shown) one.spot = spot(one.at);
  const seen = shown.filter((one) => inside(...one.spot)), most = Math.max(2, Math.floor(SEGMENTS / Math.max(1, seen.length)));
  for (let slot = 0; slot < COLORS; slot++) {
    const some = seen.filter((one) => one.number % COLORS === slot);
    pen.strokeStyle = pen.fillStyle = color(`--line${slot}`);
    pen.lineWidth = 1.2; pen.globalAlpha = 0.55; pen.beginPath();
    for (const one of some) drawTrail(pen, one.trail, most, toX, toY, inside);
    pen.stroke(); pen.globalAlpha = 1;
    for (const held of [true, false]) {
      pen.beginPath();
      for (const one of some) if ((one.status === 1) === held) { const [x, y] = one.spot; pen.moveTo(x + 4, y); pen.arc(x, y, 4, 0, 7); }
      if (held) pen.stroke(); else pen.fill();
    }
    pen.lineWidth = 2.5; pen.beginPath();
    for (const one of some) { const [x, y] = one.spot, [headX, headY] = where(one.heading); pen.moveTo(x, y); pen.lineTo(x + 14 * headX, y - 14 * headY); }
    pen.stroke();
  }
  if (followed) drawFollowed(pen, followed, spot, inside);
  drawNames(pen, followed ? [followed, ...seen] : seen);
  $("live-wide").textContent = `${PLANES[live.plane][2]}, ${Number((width / scale).toPrecision(3))} wide, ${shown.length} drawn`;
}

function drawTrail(pen, trail, most, toX, toY, inside) {
  const [across, up] = PLANES[live.plane];
  let from = Math.max(0, trail.length - 4 * most), before = false;
  while (from < trail.length && trail[from] < live.now - TRAIL) from += 4;
  if (from > 400) from -= trail.splice(0, from).length;
  for (let i = from; i < trail.length; i += 4) {
    const x = toX(trail[i + 1 + across]), y = toY(trail[i + 1 + up]), there = inside(x, y);
    if (there) pen[before ? "lineTo" : "moveTo"](x, y);
    before = there;
  }
}

function drawFollowed(pen, followed, spot, inside) {
  for (const [{ t, places }, fill, edge] of [[live.sent, null, color("--packet")], [live.received, color("--packet"), null]]) {
    for (let i = rowAt(t, live.now - 3 * TRAIL) + 1; i < t.length; i++) if (inside(...spot(places[i]))) dot(pen, ...spot(places[i]), 2.4, fill, edge);
  }
  live.members.forEach(({ t, places }, slot) => {
    const from = rowAt(t, live.now - 3 * TRAIL) + 1, spots = places.slice(from).map(spot);
    pen.strokeStyle = color(`--line${slot}`);
    pen.lineWidth = 2; pen.beginPath();
    spots.forEach(([x, y], i) => { if (inside(x, y)) pen[i && inside(...spots[i - 1]) ? "lineTo" : "moveTo"](x, y); });
    pen.stroke();
    if (spots.length) dot(pen, ...spots.at(-1), 4.5, color(`--line${slot}`), color("--card"));
  });
  dot(pen, ...followed.spot, 10, null, color("--text"));
}

function drawNames(pen, some) {
  const taken = new Set();
  pen.textAlign = "left"; pen.fillStyle = color("--text");
  for (const { number, spot: [x, y] } of some) {
    const cell = `${Math.round(x / 60)},${Math.round(y / 13)}`;
    if (!taken.has(cell) && taken.size < NAMED) pen.fillText((live.names[number] || "").slice(0, 24), x + 8, y - 6);
    taken.add(cell);
  }
}

// Zoom, pan and follow: by mouse, fingers and keys.
function zoomMap(factor, x = live.size[0] / 2, y = live.size[1] / 2) {
  const before = live.scale;
  live.fits = false;
  live.scale = Math.min(1e12, Math.max(1e-300, before * factor));
  live.centre = [live.centre[0] + (x - live.size[0] / 2) * (1 / before - 1 / live.scale), live.centre[1] - (y - live.size[1] / 2) * (1 / before - 1 / live.scale)];
  repaint();
}
function panMap(x, y) {
  if (live.followed !== null) follow(null);
  Object.assign(live, { fits: false, centre: [live.centre[0] - x / live.scale, live.centre[1] + y / live.scale] });
  repaint();
}
const everything = () => { Object.assign(live, { fits: true, fitted: false }); follow(null); repaint(); };
const nextPlane = () => { live.plane = (live.plane + 1) % PLANES.length; $("live-plane").textContent = PLANES[live.plane][2]; Object.assign(live, { fits: true, fitted: false }); repaint(); };
const pause = () => { live.paused = !live.paused; $("live-pause").setAttribute("aria-pressed", String(live.paused)); repaint(true); };
function nextEntity(step) {
  const known = [...live.entities.keys()].sort((a, b) => a - b), place = known.indexOf(live.followed);
  if (known.length) follow(known[(place < 0 && step < 0 ? 0 : place) + step] ?? known.at(step > 0 ? 0 : -1));
}

const map = $("live-map"), fingers = new Map(), pointOn = (event) => { const { left, top } = map.getBoundingClientRect(); return [event.clientX - left, event.clientY - top]; };
map.addEventListener("wheel", (event) => { event.preventDefault(); zoomMap(Math.exp(-event.deltaY / 400), ...pointOn(event)); }, { passive: false });
map.addEventListener("pointerdown", (event) => { map.setPointerCapture(event.pointerId); fingers.set(event.pointerId, { at: pointOn(event), moved: 0 }); });
map.addEventListener("pointermove", (event) => {
  const finger = fingers.get(event.pointerId), other = [...fingers.values()].find((one) => one !== finger), [x, y] = pointOn(event);
  if (!finger) return;
  const [oldX, oldY] = finger.at;
  Object.assign(finger, { at: [x, y], moved: finger.moved + Math.hypot(x - oldX, y - oldY) });
  if (other) zoomMap(Math.hypot(x - other.at[0], y - other.at[1]) / Math.max(1, Math.hypot(oldX - other.at[0], oldY - other.at[1])), ...other.at);
  else if (finger.moved > 4) panMap(x - oldX, y - oldY);
});
for (const kind of ["pointerup", "pointercancel"]) {
  map.addEventListener(kind, (event) => {
    const finger = fingers.get(event.pointerId), [x, y] = pointOn(event), apart = (one) => (one.status && one.spot ? Math.hypot(one.spot[0] - x, one.spot[1] - y) : Infinity);
    fingers.delete(event.pointerId);
    const nearest = [...live.entities.values()].reduce((best, one) => (apart(one) < apart(best) ? one : best), {});
    if (kind === "pointerup" && finger && finger.moved <= 4 && apart(nearest) < REACH) follow(nearest.number);
  });
}
const BUTTONS = { "live-in": () => zoomMap(1.25), "live-out": () => zoomMap(0.8), "live-fit": everything, "live-plane": nextPlane, "live-pause": pause };
const ACTS = {
  f: () => nextEntity(1), F: () => nextEntity(-1), Escape: () => follow(null), "0": everything, v: nextPlane, " ": pause, "+": BUTTONS["live-in"], "=": BUTTONS["live-in"], "-": BUTTONS["live-out"],
  ArrowLeft: () => panMap(60, 0), ArrowRight: () => panMap(-60, 0), ArrowUp: () => panMap(0, 60), ArrowDown: () => panMap(0, -60),
};
for (const [id, act] of Object.entries(BUTTONS)) $(id).addEventListener("click", act);
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !ACTS[event.key] || event.target.closest("input, select, button, ol")) return;
  event.preventDefault();
  ACTS[event.key]();
});
