// The data as typed arrays: numbers come as base64, see data.py.
const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);

function bytes(text) {
  const binary = atob(text);
  const array = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) array[i] = binary.charCodeAt(i);
  return array;
}
const u8 = bytes;
const f32 = (text) => new Float32Array(bytes(text).buffer);

for (const scene of data.scenes) {
  for (const path of [scene.truth, scene.packets, scene.lost]) for (const key of Object.keys(path)) path[key] = f32(path[key]);
  for (const one of scene.drawn) {
    one.t = one.t === undefined ? scene.truth.t : f32(one.t);
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

// The last of the sorted times that is not after this one, -1: none.
function rowAt(times, time, low = 0, high = times.length) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1; else high = middle;
  }
  return low - 1;
}
