// At random times, zoomed in: [scale, how many of the trail's steps on screen there are, how many of them are painted half way].
let seed = 5;
function random() {
  seed = (seed * 48271) % 2147483647;
  return seed / 2147483647;
}
const seen = [],
  canvas = $("above");
const copied = (width, height) =>
  Object.assign(document.createElement("canvas"), { width, height }).getContext("2d", {
    willReadFrequently: true,
  });
const rgb = (words) => {
  const pen = copied(1, 1);
  pen.fillStyle = words;
  pen.fillRect(0, 0, 1, 1);
  return [...pen.getImageData(0, 0, 1, 1).data];
};
const apart = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
const back = rgb(getColor("--card"));
drawLabels = drawInset = () => {}; // nothing covers a trail
for (let k = 0; k < 60; k++) {
  const one = getScene().drawn[k % getScene().drawn.length],
    own = rgb(getLineColor(one.label));
  state.on = new Set([one.label]);
  $("follow").checked = true;
  $("trail").value = "10";
  map.scale = [60, 120, 300][k % 3];
  go(k === 0 ? 697 : random() * getDuration());
  drawNow();
  const time = settleTime(state.time),
    trail = Number($("trail").value),
    { box, toX, toY } = map.frame;
  const share = canvas.width / canvas.clientWidth,
    pen = copied(canvas.width, canvas.height);
  pen.drawImage(canvas, 0, 0);
  let steps = 0,
    painted = 0;
  for (let i = Math.max(0, rowAt(one.t, time - trail) + 1); i < rowAt(one.t, time); i++) {
    const x = (toX(one.x[i]) + toX(one.x[i + 1])) / 2,
      y = (toY(one.y[i]) + toY(one.y[i + 1])) / 2;
    if (!(x > box.left + 3 && x < box.right - 3 && y > box.top + 3 && y < box.bottom - 3)) continue;
    steps++;
    const { data: around } = pen.getImageData(
      Math.round(x * share) - 1,
      Math.round(y * share) - 1,
      3,
      3,
    );
    for (let n = 0; n < 9; n++) {
      const [red, green, blue, alpha] = around.slice(4 * n, 4 * n + 4),
        over = [red, green, blue].map((v, c) => (v * alpha) / 255 + back[c] * (1 - alpha / 255));
      if (apart(over, own) < 0.75 * apart(back, own)) {
        painted++;
        break;
      }
    }
  }
  seen.push([map.scale, steps, painted]);
}
document.body.dataset.seen = JSON.stringify(seen);
