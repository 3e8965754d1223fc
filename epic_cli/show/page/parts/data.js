// The data as typed arrays: numbers come as base64, see data.py.
const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);

function text(tag, words, parent, kind) {
  const element = document.createElement(tag);
  element.textContent = words;
  if (kind) element.className = kind;
  parent.append(element);
  return element;
}

let arrays = null; // what numbers that came beside the data are in: each is a place and a length
function bytes(text) {
  if (Array.isArray(text)) return new Uint8Array(arrays, ...text);
  const binary = atob(text);
  const array = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) array[i] = binary.charCodeAt(i);
  return array;
}
const u8 = bytes;
const typed = (Kind) => (text) => {
  const { buffer, byteOffset, byteLength } = bytes(text);
  return new Kind(buffer, byteOffset, byteLength / Kind.BYTES_PER_ELEMENT);
};
const u16 = typed(Uint16Array), f32 = typed(Float32Array), f64 = typed(Float64Array);

function unpack(scene) {
  const times = scene.truth.t = f64(scene.truth.t);
  if (scene.shared) scene.shared = { t: f64(scene.shared.t), blur: f32(scene.shared.blur) };
  for (const path of [scene.truth, scene.packets, scene.lost]) for (const key of Object.keys(path)) if (path[key] !== times) path[key] = f32(path[key]);
  for (const one of scene.drawn) {
    let row = 0;
    one.t = one.at ? Float64Array.from(u16(one.at), (step) => times[row += step]) : one.t ? f64(one.t) : times;
    for (const key of ["x", "y", "distance"]) one[key] = f32(one[key]);
    const counted = u8(one.counted);
    // only rows that count are part of the figures, and of the picture of errors
    one.error = one.distance.map((value, i) => (counted[i] ? value : NaN));
    const shares = u8(one.across);
    one.across = one.error.map((value, i) => value * shares[i] / 255);
    one.worst = -1;
    one.error.forEach((value, i) => { if (!Number.isNaN(value) && !(value <= one.error[one.worst])) one.worst = i; });
    one.runs = { t: f32(one.runs.t), status: u8(one.runs.status) };
    one.lag = { t: f32(one.lag.t), seconds: f32(one.lag.seconds) };
  }
}
data.scenes.forEach(unpack);

// A value of a path at a time: of unbroken movement between two rows on the straight line, else that
// of the row before; NaN: not known.
function between(path, values, time) {
  const { t } = path;
  let row = rowAt(t, time);
  // what breaks a line stands at the time of the row before it; times are rounded
  if (values[row] !== values[row]) row += t[row + 1] - time < data.tick / 100 ? 1 : t[row] === t[row - 1] ? -1 : 0;
  const step = (time - t[row]) / (t[row + 1] - t[row]) * (values[row + 1] - values[row]);
  return row < 0 ? NaN : step === step && time > t[row] ? values[row] + step : values[row];
}

// The last of the sorted times that is not after this one, -1: none.
function rowAt(times, time, low = 0, high = times.length) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1; else high = middle;
  }
  return low - 1;
}
