// Between the last two arrivals, a fixed time ago: a port for
// epic check --builtin -s gambetta+update_rate=10 --feed jsonl --atol 1e-9 \
//     --against 'node node_port.js'
const settings = Object.fromEntries(process.env.EPIC_SETTINGS.split(" ").map((one) => one.split("=")));
const delay = 1 / Number(settings.update_rate); // seconds behind
const [num, den] = process.env.EPIC_TICK.split("/").map(Number);

const lerp = (a, b, u) => a.map((one, k) => one + (b[k] - one) * u);

function slerp(a, b, u) {
  let cosine = a.reduce((sum, one, k) => sum + one * b[k], 0);
  if (cosine < 0) { // the same rotation, the shorter way
    b = b.map((one) => -one);
    cosine = -cosine;
  }
  const angle = Math.acos(Math.min(cosine, 1));
  if (angle < 1e-6) return b;
  const p = Math.sin((1 - u) * angle) / Math.sin(angle);
  const q = Math.sin(u * angle) / Math.sin(angle);
  return a.map((one, k) => p * one + q * b[k]);
}

const lines = require("node:fs").readFileSync(0, "utf8").split("\n").filter(Boolean);
const packets = lines.map((line) => JSON.parse(line)).sort((a, b) => a.arrival - b.arrival);
const end = packets.length ? packets.at(-1).arrival + 0.15 : -1;
let states = [], newest = -Infinity, shown = null, taken = 0;
for (let k = 0, now = 0; now <= end; now = (++k * num) / den) {
  for (; taken < packets.length && packets[taken].arrival <= now; ++taken) {
    const { time, arrival, x, y, z, qx, qy, qz, qw, teleport } = packets[taken];
    const state = { arrival, place: [x, y, z], turn: qw === undefined ? null : [qx, qy, qz, qw] };
    if (teleport) [states, newest, shown] = [[], -Infinity, state];
    if (time <= newest) continue;
    newest = time;
    states.push(state);
  }
  const at = now - delay;
  while (states.length > 1 && states[1].arrival <= at) states.shift();
  const [a, b] = states;
  if (b && a.arrival <= at) {
    const u = (at - a.arrival) / (b.arrival - a.arrival);
    shown = { place: lerp(a.place, b.place, u), turn: a.turn && slerp(a.turn, b.turn, u) };
  }
  if (!shown) continue;
  const [x, y, z] = shown.place;
  const [qx, qy, qz, qw] = shown.turn ?? [];
  console.log(JSON.stringify({ time: now, x, y, z, qx, qy, qz, qw }));
}
