// What is shown: which entity, strategies, moment and part of the time; and when to draw it again.
const state = {
  scene: 0, time: 0, playing: false, exact: false, named: "", printing: false, then: 0,
  on: new Set(data.shown), slots: new Map(), log: false,
  view: { x: 0, y: 0, scale: 1 }, window: [0, 1], hover: null,
};
const scene = () => data.scenes[state.scene];
const duration = () => scene().end - scene().start;
const visible = () => scene().drawn.filter((one) => state.on.has(one.label));
const clockWords = (time) => `${(scene().start + time).toFixed(data.tick < 0.01 ? 3 : 2)} s`;

// Colours go by rank to what is shown; who is switched on later takes the first that is free.
function slot(label) {
  if (!state.slots.has(label)) {
    const taken = new Set([...state.slots].filter(([one]) => state.on.has(one)).map(([, number]) => number));
    let free = 0;
    while (taken.has(free)) free++;
    for (const [one, number] of state.slots) if (number === free) state.slots.delete(one);
    state.slots.set(label, free);
  }
  return state.slots.get(label);
}

const colors = new Map();
function color(name) {
  if (!colors.has(name)) colors.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return colors.get(name);
}
const COLORS = 6;
const lineColor = (label) => color(`--line${slot(label) % COLORS}`);
const dashes = (label) => data.dashes[Math.floor(slot(label) / COLORS) % data.dashes.length];

// Drawing is put off to the next frame, however often it is asked for.
const stale = { above: true, time: true, histogram: true, now: true };
let asked = false;
function redraw(...parts) {
  for (const part of parts.length ? parts : Object.keys(stale)) stale[part] = true;
  if (!asked) { asked = true; requestAnimationFrame(drawNow); }
}
function drawNow() {
  asked = false;
  if (state.printing) return;
  if (stale.above) drawAbove();
  if (stale.time) drawOverTime();
  if (stale.histogram) drawHistogram();
  if (stale.now) updateNow();
  placeCursor();
  for (const part of Object.keys(stale)) stale[part] = false;
}
