// What a page draws of rotations: tips of darts and arrows, in units of the recording.
const seen = {
  darts: {},
  arrows: {},
  hidden: $("angle-box").hidden,
  lanes: LANES,
  words: $("angle-words").textContent,
};
const recorded = (names, act) => {
  const calls = [],
    kept = names.map((name) => [name, CanvasRenderingContext2D.prototype[name]]);
  for (const [name, call] of kept)
    CanvasRenderingContext2D.prototype[name] = function (...args) {
      calls.push([name, ...args]);
      return call.apply(this, args);
    };
  act();
  for (const [name, call] of kept) CanvasRenderingContext2D.prototype[name] = call;
  return calls;
};
const place = ([, x, y]) => [
  map.x + (x - map.frame.middleX) / map.frame.scale + getScene().origin[0],
  map.y - (y - map.frame.middleY) / map.frame.scale + getScene().origin[1],
];
$("follow").checked = false;
showWholePath();
go(5);
drawNow();
seen.scale = map.frame.scale;
const pen = $("above").getContext("2d");
for (const path of [getScene().truth, ...listVisible()]) {
  const rows = selectDartRows(path, 0, path.t.length - 1, map.frame.toX, map.frame.toY);
  const tips = recorded(["moveTo"], () =>
    drawDarts({ pen, ...map.frame }, path, 0, path.t.length - 1, 8),
  );
  seen.darts[path.label || "truth"] = rows.map((row, k) => [
    path.t[row] + getScene().start,
    ...place(tips[k]),
    path.x[row] + getScene().origin[0],
    path.y[row] + getScene().origin[1],
  ]);
}
const arrows = recorded(["lineTo", "arc"], () =>
  drawArrows({ pen, ...map.frame }, listVisible(), [], settleTime(state.time)),
);
seen.cone = [
  getScene().truth.t[rowAt(getScene().truth.t, 5)] + getScene().start,
  ...arrows[0].slice(3),
];
[...listVisible()].reverse().forEach((one, k) => {
  seen.arrows[one.label] = [one.t[rowAt(one.t, 5)] + getScene().start, ...place(arrows[1 + 6 * k])];
});
seen.hover = [
  listVisible()[0].t[rowAt(listVisible()[0].t, 5)] + getScene().start,
  ...describeLane("angle", 5).slice(1),
];
showTime(0, getDuration());
drawNow();
seen.top = state.angleTop;
const blank = $("angle").toDataURL();
showTime(2, 3);
drawNow();
seen.zooms = $("angle").toDataURL() !== blank;
seen.others = [1, 2].map((k) => {
  choose(k);
  drawNow();
  return [$("angle-box").hidden, listVisible().map((one) => Boolean(one.angle))];
});
document.body.dataset.seen = JSON.stringify(seen);
