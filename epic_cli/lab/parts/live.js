// A running game: what frames say, and what is said to the room.
const KEPT = 60, PLANES = [[0, 1, "xy"], [0, 2, "xz"], [2, 1, "zy"]]; // seconds; axes across and up
const live = {
  ...data.live, entities: new Map(), names: [], now: 0, way: null, followed: null, members: [], received: { t: [] }, sent: { t: [] }, delays: [],
  painted: 0, got: 0, paused: false, socket: null, controls: new Map(), plane: 0, fits: true, fitted: false, centre: [0, 0], scale: 1,
};
const tell = (message) => { if (live.socket) live.socket.send(JSON.stringify({ room: "live", ...message })); };

let waiting = false, curvesToo = false;
function repaint(curves = false) {
  curvesToo ||= curves;
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    if (live.paused) return;
    drawMap();
    if (curvesToo) drawCurves();
    curvesToo = false;
    live.painted++;
  });
}

function receive(buffer) {
  const length = new DataView(buffer).getUint32(0, true), message = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  tell({ got: live.got = message.number });
  arrays = buffer.slice(4 + length); // where they are aligned
  live.now = message.now ?? live.now;
  if (message.begins) begin(message);
  if (message.names) takeWords(message);
  if (message.changed) takeStates(new Int32Array(arrays, message.changed[0], message.changed[1] / 4), ...message.states);
  for (const news of message.members || []) takeMember(live.members.find((one) => one.label === news.label), news);
  for (const key of ["received", "sent"]) if (message[key]) takePackets(live[key], message[key]);
  repaint(Boolean(message.names));
}

// What was known is of another direction, entity or team.
function begin({ way, followed, team }) {
  if (way !== live.way) { Object.assign(live, { entities: new Map(), names: [], way, fits: true }); $("live-who").length = 1; $("live-events").replaceChildren(); }
  live.followed = followed;
  live.members = team.map((label) => ({ label, t: [], places: [], status: [], errors: { t: [], v: [] }, lags: { t: [], v: [] } }));
  for (const key of ["received", "sent"]) live[key] = { t: [], delay: [], places: [] };
  $("live-one").hidden = followed === null;
  $("live-who").value = followed ?? "";
  $("live-team").value = team.join(", ");
}

function takeStates(numbers, place, size) {
  const whole = new Float64Array(arrays, place, size / 8), halves = new Float32Array(arrays, place, size / 4), words = new Int32Array(arrays, place, size / 4);
  numbers.forEach((number, i) => {
    if (!live.entities.has(number)) live.entities.set(number, { number, trail: [] });
    const at = [...whole.subarray(5 * i, 5 * i + 3)], one = Object.assign(live.entities.get(number), { at, heading: [...halves.subarray(10 * i + 6, 10 * i + 9)], status: words[10 * i + 9] });
    one.trail.push(live.now, ...at);
  });
}

// The oldest go, from arrays that belong together.
function keep(times, ...others) {
  const old = rowAt(times, live.now - KEPT) + 1;
  if (old > 500) for (const one of [times, ...others]) one.splice(0, old);
}
const triples = (values) => Array.from({ length: values.length / 3 }, (_, i) => [...values.subarray(3 * i, 3 * i + 3)]);

function takeMember(one, news) {
  one.t.push(...f64(news.time)); one.places.push(...triples(f64(news.position))); one.status.push(...u8(news.status));
  one.errors.t.push(...f64(news.measured)); one.errors.v.push(...f64(news.error));
  for (const [second, lag] of news.lags) {
    const { t, v } = one.lags;
    if (t.at(-1) > second) continue;
    if (t.at(-1) === second) v[v.length - 1] = lag; else { t.push(second); v.push(lag); }
  }
  one.figures = news.figures;
  keep(one.t, one.places, one.status); keep(one.errors.t, one.errors.v);
}

function takePackets(into, news) {
  into.t.push(...f64(news.time)); into.delay.push(...Array.from(f64(news.delay), (one) => 1000 * one));
  into.places.push(...triples(f64(news.position)));
  keep(into.t, into.delay, into.places);
}

function takeWords({ names: [first, names], traffic, figures, worst, said, news, delays, events, team, link, where: place }) {
  names.forEach((name, i) => {
    live.names[first + i] = name;
    if (first + i < 1000) text("option", name, $("live-who")).value = first + i;
  });
  $("live-traffic").textContent = traffic.join(", ");
  $("live-figures").textContent = figures.length ? `${team[0]}: ${figures.join(", ")}${worst && `, worst ${worst}`}` : "";
  $("live-news").textContent = [said.startsWith("error") ? said : "", news].filter(Boolean).join("; ");
  $("live-state").textContent = `${live.names.length ? `${live.now.toFixed(1)} s of ` : "waiting for packets at "}${place}`;
  live.delays = delays.map((one) => (one === null ? NaN : 1000 * one));
  for (const [time, words] of events) {
    $("live-events").prepend(text("li", `${time.toFixed(2)} s  ${words}`, $("live-events")));
    if ($("live-events").childElementCount > 300) $("live-events").lastChild.remove();
  }
  for (const [name, one] of live.controls) one.show(link[$("live-set").value || "down"][name]);
  if (live.link.length) $("live-dark").setAttribute("aria-pressed", String(link[$("live-set").value || "down"].dark === "on"));
  $("live-name").textContent = live.names[live.followed] || "";
  $("live-words").replaceChildren();
  live.members.forEach((one, place) => {
    text("b", "\u25cf ", $("live-words")).style.color = color(`--line${place}`);
    $("live-words").append(`${one.label}: ${(one.figures || []).join(", ") || "measuring"}\n`);
  });
}

const follow = (number) => tell({ follow: number });
function connect() {
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${location.pathname}talk`);
  socket.binaryType = "arraybuffer";
  socket.addEventListener("open", () => { Object.assign(live, { socket, way: null }); tell({}); });
  socket.addEventListener("message", (event) => receive(event.data));
  socket.addEventListener("close", () => { live.socket = null; $("live-state").textContent = "epic has ended; start it again to go on"; setTimeout(connect, 2000); });
}
