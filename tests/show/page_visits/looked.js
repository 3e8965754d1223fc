// Boxes, names, the inset, ticks and the saved picture.
const seen = {};
{
  const pointer = (on, kind, x, y, shiftKey = true) =>
    on.dispatchEvent(
      new PointerEvent(kind, { pointerId: 1, clientX: x, clientY: y, shiftKey, bubbles: true }),
    );
  const dragBox = (on, [x, y], [u, v]) => {
    on.setPointerCapture = () => {};
    pointer(on, "pointerdown", x, y);
    pointer(on, "pointermove", u, v);
    seen.shown = !$("frame").hidden;
    pointer(on, "pointerup", u, v);
  };
  const recorded = (name, act) => {
    const calls = [],
      own = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (...args) {
      calls.push(args);
      return own.apply(this, args);
    };
    act();
    CanvasRenderingContext2D.prototype[name] = own;
    return calls;
  };
  $("follow").checked = false;
  showWholePath();
  drawNow();
  seen.insetOfAll = recorded("drawImage", drawAbove).length;
  const area = $("above").getBoundingClientRect(),
    { toX, toY, box } = map.frame;
  const [cornerX, cornerY] = [area.left + toX(1), area.top + toY(4)];
  dragBox(
    $("above"),
    [cornerX, cornerY],
    [cornerX + (box.right - box.left) / 5, cornerY + (box.bottom - box.top) / 5],
  );
  drawNow();
  // what was in the corner of the box is in the corner of the map
  seen.corner = [
    Math.abs(map.frame.toX(1) - box.left) < 2,
    Math.abs(map.frame.toY(4) - box.top) < 2,
  ];
  seen.inset = recorded("drawImage", drawAbove).length;
  showTime(0, getDuration());
  const lane = $("error").getBoundingClientRect(),
    frame = makeTimeFrame($("error"), getShownTime());
  dragBox(
    $("error"),
    [lane.left + frame.toX(2), lane.top + 5],
    [lane.left + frame.toX(4), lane.top + 30],
  );
  seen.span = state.window.map((one) => Math.round(100 * one) / 100);
  // a name for what stands alone, whatever its rank, and for what the pointer is on
  const names = (wanted) =>
    recorded("fillText", () => drawLabels($("error").getContext("2d"), wanted, 0, 40, 500))
      .map(([words]) => words)
      .sort();
  const crowd = [10, 10.5, 11, 11.5, 39].map((y, i) => ({
    x: 100,
    y,
    name: `n${i}`,
    color: "#000",
  }));
  seen.alone = names(crowd).join();
  crowd[3].sure = true;
  seen.named = names(crowd).includes("n3");
  // no name under a dot, wherever the dots are
  let least = Infinity;
  for (let k = 0; k < 300; k++) {
    const place = (n, most) => (most * ((k * 37 + n * 61 + k * k * n) % 101)) / 101;
    const dots = [1, 2, 3, 4].map((n) => [60 + place(n, 180), 20 + place(n + 5, 60), 8]);
    const wanted = dots.map(([x, y], n) => ({ x: x + 4, y, name: `name ${n}`, color: "#000" }));
    for (const [words, x, y] of recorded("fillText", () =>
      drawLabels($("error").getContext("2d"), wanted, 0, 100, 500, dots),
    )) {
      const wide = measureText($("error").getContext("2d"), words);
      for (const [dotX, dotY] of dots) {
        const across = Math.max(x - dotX, 0, dotX - x - wide);
        const up = Math.max(y - 8 - dotY, 0, dotY - y);
        least = Math.min(least, Math.hypot(across, up));
      }
    }
  }
  seen.free = least > 7;
  showTime(0, getDuration());
  drawNow();
  const row = Math.round(5 / data.tick),
    jumping = getScene().drawn.find((one) => one.label === "Jumping");
  const { toY: height } = drawnLines.get($("error")).find(({ name }) => name === "Jumping"),
    x = makeTimeFrame($("error"), getShownTime()).toX(jumping.t[row]);
  nameLine(findLineAt($("error"), getShownTime(), x, height(jumping.error[row]) + 2));
  seen.pointed = state.named;
  // an axis has ticks, however short it is
  least = Infinity;
  for (let k = 0; k < 200; k++) {
    const low = 10 ** (6 * Math.sin(k)),
      ticks = chooseDecadeTicks(low, low * (1.5 + k));
    least = Math.min(least, ticks.length);
    if (ticks.some(([value]) => value < low * 0.99 || value > low * (1.5 + k) * 1.01)) least = -1;
  }
  seen.ticks = least > 1;
  HTMLAnchorElement.prototype.click = function () {
    seen.saved = [this.download.endsWith(".png"), this.href.length > 10000];
  };
  $("save").click();
  seen.dots = document.querySelectorAll("#scores circle").length;
  seen.score = document.querySelector("#scores text:last-of-type").textContent;
}
document.body.dataset.seen = JSON.stringify(seen);
