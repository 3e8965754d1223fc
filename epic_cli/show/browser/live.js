// A running game: the program's messages about it, its map and its lanes.
const KEPT = 60; // seconds
const SHOWN = 30; // seconds of a lane
const TRAIL = 2; // seconds
const SEGMENTS = 16000; // the most segments of trails in one picture
const NAMED = 150; // the most entities with names
const REACH = 16; // pixels from an entity within which a click selects it
const MOST_EVENTS = 300;
const PLANES = [
  [0, 1, "xy"],
  [0, 2, "xz"],
  [2, 1, "zy"],
]; // axes across and up

const live = {
  ...data.live,
  entities: new Map(),
  names: [],
  now: 0,
  way: null,
  followed: null,
  members: [],
  received: { t: [] },
  sent: { t: [] },
  delays: [],
  painted: 0,
  got: 0,
  paused: false,
  socket: null,
  controls: new Map(),
  plane: 0,
  fits: true,
  fitted: false,
  pointer: null, // {id, x, y} on a lane
};
// Strategies have colors, entities have none.
const getMemberColor = (place) => getLineColor(live.members[place].label);
const sendMessage = (message) => live.socket?.send(JSON.stringify({ room: "live", ...message }));
const followEntity = (number) => sendMessage({ follow: number });

const map = new PlaneMap($("live-map"), {
  redraw: () => repaint(),
  moved: (dragged) => {
    live.fits = false;
    if (dragged && live.followed !== null) followEntity(null);
  },
  tap: (event) => {
    const [x, y] = map.pointOn(event);
    let nearest = { apart: REACH };
    for (const { number, spot, status } of live.entities.values()) {
      const apart = status && spot ? Math.hypot(spot[0] - x, spot[1] - y) : Infinity;
      if (apart < nearest.apart) nearest = { apart, number };
    }
    if (nearest.apart < REACH) followEntity(nearest.number);
  },
});

let waiting = false;
let lanesToo = false;
function repaint(lanes = false) {
  lanesToo ||= lanes;
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    if (live.paused) return;
    drawMap();
    if (lanesToo) drawLanes();
    lanesToo = false;
    live.painted++;
  });
}

// ---------------------------------------------------------------- messages

function receive(buffer) {
  const message = unpackFrame(buffer);
  live.got = message.number;
  sendMessage({ got: live.got });
  live.now = message.now ?? live.now;
  if (message.begins) begin(message);
  if (message.names) takeWords(message);
  if (message.changed) takeStates(message);
  for (const news of message.members || []) {
    takeMember(
      live.members.find(({ label: name }) => name === news.label),
      news,
    );
  }
  for (const key of ["received", "sent"]) if (message[key]) takePackets(live[key], message[key]);
  repaint(Boolean(message.names));
}

// Begin with another direction, entity or team, and forget the data of the one before.
function begin({ way, followed, team, styles }) {
  if (way !== live.way) {
    Object.assign(live, { entities: new Map(), names: [], way, fits: true });
    $("live-who").length = 1;
    $("live-events").replaceChildren();
  }
  live.followed = followed;
  data.styles = styles;
  live.members = team.map((name) => ({
    label: name,
    t: [],
    places: [],
    runs: { t: [], status: [] },
    errors: { t: [], values: [] },
    lags: { t: [], values: [] },
  }));
  for (const key of ["received", "sent"]) live[key] = { t: [], delay: [], places: [] };
  $("live-one").hidden = followed === null;
  $("live-who").value = followed ?? "";
  $("live-team").value = team.join(", ");
}

// Take the place (3 doubles), heading (3 floats) and status (int32) of each changed entity.
function takeStates({ changed, states: [place, size] }) {
  const whole = new Float64Array(arrays, place, size / 8);
  const halves = new Float32Array(arrays, place, size / 4);
  const words = new Int32Array(arrays, place, size / 4);
  new Int32Array(arrays, changed[0], changed[1] / 4).forEach((number, i) => {
    if (!live.entities.has(number)) live.entities.set(number, { number, trail: [] });
    const entity = live.entities.get(number);
    entity.at = [...whole.subarray(5 * i, 5 * i + 3)];
    entity.heading = [...halves.subarray(10 * i + 6, 10 * i + 9)];
    entity.status = words[10 * i + 9];
    entity.trail.push(live.now, ...entity.at);
  });
}

// Drop the oldest values from arrays that belong together.
function dropOldValues(times, ...others) {
  const old = rowAt(times, live.now - KEPT) + 1;
  if (old > 500) for (const series of [times, ...others]) series.splice(0, old);
}

function splitTriples(values) {
  const count = values.length / 3;
  return Array.from({ length: count }, (_, i) => [...values.subarray(3 * i, 3 * i + 3)]);
}

function takeMember(member, news) {
  const { t, places, runs, errors, lags } = member;
  const times = f64(news.time);
  t.push(...times);
  places.push(...splitTriples(f64(news.position)));
  u8(news.status).forEach((status, i) => {
    if (status === runs.status.at(-1)) return;
    runs.t.push(times[i]);
    runs.status.push(status);
  });
  errors.t.push(...f64(news.measured));
  errors.values.push(...f64(news.error));
  for (const [second, lag] of news.lags) {
    if (lags.t.at(-1) > second) continue;
    if (lags.t.at(-1) === second) lags.values.pop();
    else lags.t.push(second);
    lags.values.push(lag);
  }
  member.figures = news.figures;
  dropOldValues(t, places);
  dropOldValues(runs.t, runs.status);
  dropOldValues(errors.t, errors.values);
}

function takePackets({ t, delay, places }, news) {
  t.push(...f64(news.time));
  delay.push(...f64(news.delay).map((seconds) => 1000 * seconds));
  places.push(...splitTriples(f64(news.position)));
  dropOldValues(t, delay, places);
}

function takeWords(message) {
  const { names, traffic, figures, worst, said, news, delays, events, team, link } = message;
  names[1].forEach((name, i) => {
    const number = names[0] + i;
    live.names[number] = name;
    if (number < 1000) addText("option", name, $("live-who")).value = number;
  });
  const heard = live.names.length ? `${live.now.toFixed(1)} s of ` : "waiting for packets at ";
  const fillList = (id, lines) => {
    $(id).replaceChildren();
    for (const line of lines) addText("li", line, $(id));
  };
  $("live-known").hidden = !live.names.length;
  fillList("live-traffic", traffic);
  $("live-first").textContent = figures.length ? `Drawn by ${team[0]}` : "";
  fillList("live-figures", figures.length && worst ? [...figures, `worst ${worst}`] : figures);
  const wrong = said.startsWith("error") ? said : "";
  $("live-news").textContent = [wrong, news].filter(Boolean).join("; ");
  $("live-state").textContent = `${heard}${message.where}`;
  live.delays = delays.map((seconds) => (seconds === null ? NaN : 1000 * seconds));
  const log = $("live-events");
  for (const [time, words] of events) {
    log.prepend(addText("li", `${time.toFixed(2)} s  ${words}`, log));
    if (log.childElementCount > MOST_EVENTS) log.lastChild.remove();
  }
  const set = link[$("live-set").value || "down"];
  for (const [name, made] of live.controls) made.show(set[name]);
  if (live.link.length) $("live-dark").setAttribute("aria-pressed", String(set.dark === "on"));
  $("live-name").textContent = live.names[live.followed] || "";
  $("live-words").replaceChildren();
  live.members.forEach((member, place) => {
    const line = addText("p", "", $("live-words"));
    addText("b", `${data.styles[member.label].mark} `, line).style.color = getMemberColor(place);
    line.append(`${member.label}: ${(member.figures || []).join(", ") || "measuring"}`);
  });
}

// ---------------------------------------------------------------- the map

const projectOnPlane = (place) => [place[PLANES[live.plane][0]], place[PLANES[live.plane][1]]];

// Fit all entities with their trails into the map until the user moves it. The map stays while they
// are in it and fill much of it. A single entity is centered.
function fitMap(shown) {
  const places = shown.flatMap(({ at, trail }) => {
    const begins = [trail.length - 240, trail.length - 120].filter((i) => i >= 0);
    return [at, ...begins.map((i) => trail.slice(i + 1, i + 4))].map(projectOnPlane);
  });
  const findRange = (values) => {
    const [low, high] = [
      values.reduce((a, b) => Math.min(a, b)),
      values.reduce((a, b) => Math.max(a, b)),
    ];
    const least = 1e-3 * Math.abs(low);
    const span = high - low > 1e-3 ? Math.max(high - low, least) : Math.max(1, least);
    return [low / 2 + high / 2, Math.min(span, 1e300) / 2];
  };
  const [x, wide] = findRange(places.map((place) => place[0]));
  const [y, high] = findRange(places.map((place) => place[1]));
  const box = { left: x - wide, right: x + wide, bottom: y - high, top: y + high };
  const share = shown.length > 1 ? 0.8 : 0.4;
  if (live.fitted && map.frame) {
    const { inside } = map.frame;
    const whole = [inside.right - inside.left, inside.top - inside.bottom];
    const all =
      box.left >= inside.left &&
      box.right <= inside.right &&
      box.bottom >= inside.bottom &&
      box.top <= inside.top;
    if (all && Math.max((2 * wide) / whole[0], (2 * high) / whole[1]) > share / 2) return;
  }
  live.fitted = true;
  map.look(box, share);
}

function drawMap() {
  const isDrawn = ({ status, at }) => status && at.every(Number.isFinite);
  const shown = [...live.entities.values()].filter(isDrawn);
  const followed = shown.find(({ number }) => number === live.followed);
  if (!followed && live.fits && shown.length) fitMap(shown);
  const middle = followed || (live.fits && shown.length === 1 && shown[0]);
  if (middle) [map.x, map.y] = projectOnPlane(middle.at);
  const frame = map.begin();
  const { pen, box, toX, toY, inside } = frame;
  if (!shown.length) {
    pen.textAlign = "center";
    pen.font = "14px system-ui, sans-serif";
    pen.fillText($("live-state").textContent, frame.middleX, frame.middleY);
    pen.font = "11px system-ui, sans-serif";
  }
  const reach = 50 / frame.scale;
  const isNear = ([x, y]) =>
    x > inside.left - reach &&
    x < inside.right + reach &&
    y > inside.bottom - reach &&
    y < inside.top + reach;
  for (const entity of shown) {
    const [x, y] = projectOnPlane(entity.at);
    entity.spot = [toX(x), toY(y)];
  }
  const seen = shown.filter(({ at }) => isNear(projectOnPlane(at)));
  drawTrails(frame, seen);
  drawNames(pen, followed ? [followed, ...seen] : seen);
  drawEntities(frame, seen);
  if (followed) drawFollowed(frame, followed);
  const wide = Number((inside.right - inside.left).toPrecision(3));
  $("live-wide").textContent = `${PLANES[live.plane][2]}, ${wide} wide, ${shown.length} drawn`;
}

function drawTrails({ pen, box, toX, toY }, some) {
  const most = Math.max(2, Math.floor(SEGMENTS / Math.max(1, some.length)));
  const [across, up] = PLANES[live.plane];
  pen.strokeStyle = getColor("--soft");
  pen.lineWidth = 1.2;
  pen.globalAlpha = 0.55;
  for (const { trail } of some) {
    let from = Math.max(0, trail.length - 4 * most);
    while (from < trail.length && trail[from] < live.now - TRAIL) from += 4;
    if (from > 400) from -= trail.splice(0, from).length;
    const [xs, ys] = [[], []];
    for (let i = from + 1; i < trail.length; i += 4) {
      xs.push(trail[i + across]);
      ys.push(trail[i + up]);
    }
    traceLine(pen, xs, ys, 0, xs.length - 1, toX, toY, box);
  }
  pen.globalAlpha = 1;
}

// Draw a dot for each entity (a ring if it is silent) and its heading.
function drawEntities({ pen }, some) {
  pen.strokeStyle = pen.fillStyle = getColor("--packet");
  for (const held of [true, false]) {
    pen.beginPath();
    for (const {
      status,
      spot: [x, y],
    } of some) {
      if ((status === 1) !== held) continue;
      pen.moveTo(x + 4, y);
      pen.arc(x, y, 4, 0, 7);
    }
    if (held) pen.stroke();
    else pen.fill();
  }
  pen.lineWidth = 2.5;
  pen.beginPath();
  for (const {
    heading,
    spot: [x, y],
  } of some) {
    const [headX, headY] = projectOnPlane(heading);
    pen.moveTo(x, y);
    pen.lineTo(x + 14 * headX, y - 14 * headY);
  }
  pen.stroke();
}

// Draw the followed entity's sent and received packets, and each strategy's drawing.
function drawFollowed({ pen, box, toX, toY }, followed) {
  const since = live.now - 3 * TRAIL;
  const paint = getColor("--packet");
  for (const [{ t, places }, fill, edge] of [
    [live.sent, null, paint],
    [live.received, paint],
  ]) {
    for (let i = rowAt(t, since) + 1; i < t.length; i++) {
      const [x, y] = projectOnPlane(places[i]);
      drawDot(pen, toX(x), toY(y), 2.4, fill, edge);
    }
  }
  live.members.forEach(({ t, places }, slot) => {
    const shown = places.slice(rowAt(t, since) + 1).map(projectOnPlane);
    if (!shown.length) return;
    const [xs, ys] = [0, 1].map((axis) => shown.map((place) => place[axis]));
    const last = shown.length - 1;
    const { dashes: dash, shape } = data.styles[live.members[slot].label];
    pen.strokeStyle = getMemberColor(slot);
    pen.lineWidth = 2;
    pen.setLineDash(dash);
    traceLine(pen, xs, ys, 0, last, toX, toY, box);
    pen.setLineDash([]);
    drawDot(
      pen,
      toX(xs[last]),
      toY(ys[last]),
      5.5,
      getMemberColor(slot),
      getColor("--card"),
      shape,
    );
  });
  drawDot(pen, ...followed.spot, 10, null, getColor("--text"));
}

// Draw names beside entities, in their order, where there is no other name.
function drawNames(pen, some) {
  const taken = new Set();
  pen.textAlign = "left";
  pen.fillStyle = getColor("--text");
  for (const {
    number,
    spot: [x, y],
  } of some) {
    const cell = `${Math.round(x / 60)},${Math.round(y / 13)}`;
    if (!taken.has(cell) && taken.size < NAMED) {
      // beside the ring of the followed entity
      const [right, higher] = number === live.followed ? [14, 12] : [8, 6];
      pen.fillText((live.names[number] || "").slice(0, 24), x + right, y - higher);
    }
    taken.add(cell);
  }
}

// ---------------------------------------------------------------- the lanes

// Draw lines from the least to the largest value of the last seconds, without extreme ones;
// ``lines`` as of drawLane, in rows of their own if they are apart.
function drawLines(id, lines, apart = false) {
  const span = getLastSeconds();
  const { roof, beyond } = chooseRoof(lines, span.window);
  let low = 0;
  for (const { t, values } of lines) {
    for (let i = rowAt(t, span.window[0]) + 1; i < t.length; i++)
      if (values[i] < low && values[i] > -Infinity) low = values[i];
  }
  low = Math.max(low, -3 * roof);
  const high = roof > low ? 1.06 * roof : low + 1;
  const { pointer } = live;
  const named = pointer?.id === id ? findLineAt($(id), span, pointer.x, pointer.y) : "";
  drawLane($(id), span, {
    foot: 16,
    words: true,
    lines: lines.map((line) => ({ ...line, sure: line.name && line.name === named })),
    apart,
    beyond,
    share: (value) => (value - low) / (high - low),
    ticks: (box) => chooseNiceTicks(low, high, box.bottom - box.top > 70 ? 4 : 2),
  });
}
for (const id of ["live-error", "live-lag"]) {
  $(id).addEventListener("pointermove", ({ offsetX: x, offsetY: y }) => {
    live.pointer = { id, x, y };
    repaint(true);
  });
  $(id).addEventListener("pointerleave", () => {
    live.pointer = null;
    repaint(true);
  });
}
$("live-apart").addEventListener("change", () => repaint(true));
const getLastSeconds = () => ({ window: [live.now - SHOWN, live.now], begin: -live.now });

function drawLanes() {
  const { delays, members, received } = live;
  const first = Math.floor(live.now) - delays.length + 1;
  const seconds = delays.map((_, i) => first + i);
  const accent = { name: "", color: getColor("--accent") };
  drawLines("live-delays", [{ ...accent, t: seconds, values: delays }]);
  if (live.followed === null) return;
  const readOwned = (key) =>
    members.map((member, place) => ({
      name: member.label,
      color: getMemberColor(place),
      dash: getDashes(member.label),
      ...member[key],
    }));
  drawLines("live-error", readOwned("errors"), $("live-apart").checked);
  drawLines("live-lag", readOwned("lags"));
  // the sender's clock has an unknown offset, unless a proxy stamps both
  const least = received.delay.reduce((a, b) => Math.min(a, b), Infinity);
  const shortest = live.link.length ? 0 : least;
  const values = received.delay.map((delay) => delay - shortest);
  const packets = { name: "", color: getColor("--packet"), dots: true };
  drawLines("live-delay", [{ ...packets, t: received.t, values }]);
  const rows = readOwned("runs").map((row, place) => ({ ...row, last: members[place].t.at(-1) }));
  drawStatuses($("live-status"), getLastSeconds(), rows);
}

// ---------------------------------------------------------------- the user's actions

function showEverything() {
  Object.assign(live, { fits: true, fitted: false });
  followEntity(null);
  repaint();
}

function showNextPlane() {
  live.plane = (live.plane + 1) % PLANES.length;
  $("live-plane").textContent = PLANES[live.plane][2];
  Object.assign(live, { fits: true, fitted: false });
  repaint();
}

function pause() {
  live.paused = !live.paused;
  $("live-pause").setAttribute("aria-pressed", String(live.paused));
  repaint(true);
}

function followNextEntity(step) {
  const known = [...live.entities.keys()].sort((a, b) => a - b);
  const place = known.indexOf(live.followed);
  const next = (place < 0 && step < 0 ? 0 : place) + step;
  if (known.length) followEntity(known[next] ?? known.at(step > 0 ? 0 : -1));
}

const BUTTONS = {
  "live-in": () => map.zoom(1.25),
  "live-out": () => map.zoom(0.8),
  "live-fit": showEverything,
  "live-plane": showNextPlane,
  "live-pause": pause,
};
const KEYS = {
  f: () => followNextEntity(1),
  F: () => followNextEntity(-1),
  Escape: () => followEntity(null),
  0: showEverything,
  v: showNextPlane,
  " ": pause,
  "+": BUTTONS["live-in"],
  "=": BUTTONS["live-in"],
  "-": BUTTONS["live-out"],
  ArrowLeft: () => map.move(60, 0),
  ArrowRight: () => map.move(-60, 0),
  ArrowUp: () => map.move(0, 60),
  ArrowDown: () => map.move(0, -60),
};
for (const [id, act] of Object.entries(BUTTONS)) $(id).addEventListener("click", act);
addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[key]) return;
  if (target.closest("input, select, button, ol")) return;
  event.preventDefault();
  KEYS[key]();
});

if (live.link.length) {
  const getWay = () => $("live-set").value;
  $("live-link").hidden = false;
  $("live-truth").textContent = "the sent packets";
  for (const about of live.link) {
    const sendWords = (words) => {
      const where = getWay() && about.name !== "preset" ? `${getWay()}.` : "";
      const value = words ?? about.usual;
      if (value) sendMessage({ link: `set ${where}${about.name}=${value}` });
    };
    live.controls.set(about.name, addControl(about, $("live-link"), "link", sendWords));
  }
  $("live-dark").addEventListener("click", () => {
    const dark = $("live-dark").getAttribute("aria-pressed") === "true";
    sendMessage({ link: `${dark ? "restore" : "blackout"} ${getWay()}` });
  });
  $("live-reset").addEventListener("click", () => sendMessage({ link: "reset" }));
}
for (const way of live.ways) addText("option", way, $("live-way"));
$("live-ways").hidden = live.ways.length < 2;
$("live-way").addEventListener("change", () => sendMessage({ way: $("live-way").value }));
$("live-who").addEventListener("change", () => {
  const { value } = $("live-who");
  followEntity(value === "" ? null : Number(value));
});
applyTyped($("live-team"), $("live-team").previousElementSibling, () => {
  const names = $("live-team")
    .value.split(",")
    .map((name) => name.trim());
  sendMessage({ strategies: names.filter(Boolean) });
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  colors.clear();
  repaint(true);
});
addEventListener("resize", () => repaint(true));
// Gray the page out while the program has ended.
function markEnded(ended) {
  document.body.classList.toggle("stale", ended);
  $("live-again").hidden = !ended;
  $("live-one").inert = ended;
  if (ended) $("live-state").textContent = "epic has ended: the drawing is its last one";
}
const reconnect = talk({
  opened: (socket) => {
    Object.assign(live, { socket, way: null });
    markEnded(false);
    sendMessage({});
  },
  received: receive,
  closed: () => {
    live.socket = null;
    markEnded(true);
  },
});
$("live-again").addEventListener("click", reconnect);
