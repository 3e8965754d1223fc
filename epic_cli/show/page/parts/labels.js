// Names beside their lines, pushed apart where they would lie on each other.
const LABEL_HEIGHT = 13;

// Each {x, y, name, color}; they are put right of x, between top and bottom, in as much room. Where
// there is not enough for all, the one under the pointer and the best are sure of a name, then what
// stands furthest from all that have one. Where it turns, a name without room stands left of x.
function label(pen, wanted, top, bottom, right, most = 14, turns = false) {
  const left = wanted.filter((one) => one.y === one.y), few = [], room = Math.min(most, left.length, Math.floor((bottom - top) / LABEL_HEIGHT));
  const alone = (one) => (one.name === state.named ? Infinity : Math.min(1e9, ...few.map((other) => Math.hypot(other.x - one.x, other.y - one.y))));
  while (few.length < room) {
    const next = left.reduce((best, one) => (alone(one) > alone(best) ? one : best));
    few.push(...left.splice(left.indexOf(next), 1));
  }
  few.sort((a, b) => a.y - b.y);
  let floor = top + LABEL_HEIGHT / 2;
  for (const one of few) {
    one.at = Math.max(floor, Math.min(bottom - LABEL_HEIGHT / 2, one.y));
    floor = one.at + LABEL_HEIGHT;
  }
  let ceiling = bottom - LABEL_HEIGHT / 2;
  for (const one of [...few].reverse()) {
    one.at = Math.min(one.at, ceiling);
    ceiling = one.at - LABEL_HEIGHT;
  }
  pen.textAlign = "left";
  pen.setLineDash([]);
  for (const one of few) {
    const wide = widthOf(pen, one.name), turned = turns && one.x + wide + 10 > right && one.x > wide + 70;
    const text = turned ? one.name : shortened(pen, one.name, right - one.x - 10);
    if (turned) one.x -= wide + 20;
    if (Math.abs(one.at - one.y) > 5 && !turned) {
      pen.strokeStyle = one.color;
      pen.lineWidth = 1;
      pen.beginPath();
      pen.moveTo(one.x + 1, one.y);
      pen.lineTo(one.x + 7, one.at);
      pen.stroke();
    }
    pen.fillStyle = color("--card");
    pen.globalAlpha = 0.75;
    pen.fillRect(one.x + 8, one.at - 6, widthOf(pen, text) + 2, LABEL_HEIGHT - 1);
    pen.globalAlpha = 1;
    pen.fillStyle = one.color;
    pen.fillText(text, one.x + 9, one.at + 4);
  }
}

const widths = new Map();
function widthOf(pen, text) {
  const key = pen.font + text;
  if (widths.size > 1000) widths.clear(); // names with settings are new at each move of a slider
  if (!widths.has(key)) widths.set(key, pen.measureText(text).width);
  return widths.get(key);
}

function shortened(pen, text, room) {
  if (widthOf(pen, text) <= room) return text;
  let end = text.length;
  while (end > 1 && widthOf(pen, `${text.slice(0, end)}\u2026`) > room) end--;
  return `${text.slice(0, end)}\u2026`;
}
