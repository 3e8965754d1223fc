// Where the markers are at random times, at three zooms: [time shown, scale, [label, x, y] ...].
let seed = 7;
function random() {
  seed = (seed * 48271) % 2147483647;
  return seed / 2147483647;
}
const seen = [];
for (let i = 0; i < 200; i++) {
  const [scale, asked] = [[20, 200, 4000][i % 3], random() * getDuration()];
  map.scale = scale;
  go(asked);
  drawNow();
  const time = settleTime(state.time),
    origin = getScene().origin;
  const places = [getScene().truth, ...listVisible()].map((one) => [
    one.label || "truth",
    findPlace(one, time),
  ]);
  seen.push([
    getScene().start + time,
    Math.abs(time - asked),
    scale,
    places.map(([label, at]) => [label, at && at[0] + origin[0], at && at[1] + origin[1]]),
  ]);
}
// and at the worst moment of each, whose marker is there
for (const strategy of listVisible()) {
  map.scale = 4000;
  goToWorst(strategy.label);
  map.scale = 4000;
  drawNow();
  const time = settleTime(state.time),
    origin = getScene().origin;
  const places = [getScene().truth, ...listVisible()].map((strategy) => [
    strategy.label || "truth",
    findPlace(strategy, time),
  ]);
  seen.push([
    getScene().start + time,
    Math.abs(time - strategy.t[strategy.worst]),
    4000,
    places.map(([label, at]) => [label, at && at[0] + origin[0], at && at[1] + origin[1]]),
  ]);
}
document.body.dataset.seen = JSON.stringify(seen);
