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
  map.x + (x - map.frame.middleX) / map.frame.scale + scene().origin[0],
  map.y - (y - map.frame.middleY) / map.frame.scale + scene().origin[1],
];
$("follow").checked = false;
wholePath();
go(5);
drawNow();
seen.scale = map.frame.scale;
const pen = $("above").getContext("2d");
for (const path of [scene().truth, ...visible()]) {
  const rows = dartRows(path, 0, path.t.length - 1, map.frame.toX, map.frame.toY);
  const tips = recorded(["moveTo"], () =>
    drawDarts({ pen, ...map.frame }, path, 0, path.t.length - 1, 8),
  );
  seen.darts[path.label || "truth"] = rows.map((row, k) => [
    path.t[row] + scene().start,
    ...place(tips[k]),
    path.x[row] + scene().origin[0],
    path.y[row] + scene().origin[1],
  ]);
}
const arrows = recorded(["lineTo", "arc"], () =>
  drawArrows({ pen, ...map.frame }, visible(), [], settled(state.time)),
);
seen.cone = [scene().truth.t[rowAt(scene().truth.t, 5)] + scene().start, ...arrows[0].slice(3)];
[...visible()].reverse().forEach((one, k) => {
  seen.arrows[one.label] = [one.t[rowAt(one.t, 5)] + scene().start, ...place(arrows[1 + 6 * k])];
});
seen.hover = [
  visible()[0].t[rowAt(visible()[0].t, 5)] + scene().start,
  ...wordsAt("angle", 5).slice(1),
];
showTime(0, duration());
drawNow();
seen.top = state.angleTop;
const blank = $("angle").toDataURL();
showTime(2, 3);
drawNow();
seen.zooms = $("angle").toDataURL() !== blank;
seen.others = [1, 2].map((k) => {
  choose(k);
  drawNow();
  return [$("angle-box").hidden, visible().map((one) => Boolean(one.angle))];
});
document.body.dataset.seen = JSON.stringify(seen);
