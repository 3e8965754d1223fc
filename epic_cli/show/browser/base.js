// Parts of every page: its data, numbers as typed arrays, elements, colors.
const $ = (id) => document.getElementById(id);

function addElement(tag, parent, attributes = {}) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  parent.append(made);
  return made;
}

function addText(tag, words, parent, kind) {
  const made = addElement(tag, parent);
  made.textContent = words;
  if (kind) made.className = kind;
  return made;
}

// Numbers are a place and a length in the arrays beside the data, or within it: there, the first
// bytes of all numbers of an array come first, then the second ones.
let arrays = data.numbers;
function sliceBytes([place, length, size = 1]) {
  const found = new Uint8Array(arrays, place, length);
  if (size === 1) return found;
  const [sorted, count] = [new Uint8Array(length), length / size];
  for (let k = 0, from = 0; k < size; k++)
    for (let i = k; i < length; i += size) sorted[i] = found[from++];
  return sorted;
}
const makeReader = (Kind) => (packed) => {
  const { buffer, byteOffset, byteLength } = sliceBytes(packed);
  return new Kind(buffer, byteOffset, byteLength / Kind.BYTES_PER_ELEMENT);
};
const [u8, u16, i16] = [sliceBytes, makeReader(Uint16Array), makeReader(Int16Array)];
const [f32, f64] = [makeReader(Float32Array), makeReader(Float64Array)];

// Return the JSON of a frame: its length, the JSON, and the arrays with numbers.
function unpackFrame(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  arrays = buffer.slice(4 + length); // a copy, which is aligned
  return JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
}

// Return the index of the last sorted time that is not after this one; -1 if there is none.
function rowAt(times, time) {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

const colors = new Map();
function getColor(name) {
  if (!colors.has(name)) {
    const style = getComputedStyle(document.documentElement);
    colors.set(name, style.getPropertyValue(name).trim());
  }
  return colors.get(name);
}

// The style of a participant's lines in all pictures: color, dashes and marker.
const getLineColor = (label) => getColor(`--line${data.styles[label].color}`);
const getDashes = (label) => data.styles[label].dashes;

// Announce a text to screen readers: after a key, not during playback.
function say(words) {
  $("said").textContent = words;
}

// Announce a click's result, and show it for a while.
let seeing = 0;
function notice(words) {
  say(words);
  $("said").classList.remove("unseen");
  clearTimeout(seeing);
  seeing = setTimeout(() => $("said").classList.add("unseen"), 2500);
}
