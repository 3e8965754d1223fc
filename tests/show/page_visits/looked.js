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
  wholePath();
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
  showTime(0, duration());
  const lane = $("error").getBoundingClientRect(),
    frame = timeFrame($("error"), shownTime());
  dragBox(
    $("error"),
    [lane.left + frame.toX(2), lane.top + 5],
    [lane.left + frame.toX(4), lane.top + 30],
  );
  seen.span = state.window.map((one) => Math.round(100 * one) / 100);
  // a name for what stands alone, whatever its rank, and for what the pointer is on
  const names = (wanted) =>
    recorded("fillText", () => label($("error").getContext("2d"), wanted, 0, 40, 500))
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
  showTime(0, duration());
  drawNow();
  const row = Math.round(5 / data.tick),
    jumping = scene().drawn.find((one) => one.label === "Jumping");
  const { toY: height } = drawnLines.get($("error")).find(({ name }) => name === "Jumping"),
    x = timeFrame($("error"), shownTime()).toX(jumping.t[row]);
  nameLine(lineAt($("error"), shownTime(), x, height(jumping.error[row]) + 2));
  seen.pointed = state.named;
  // an axis has ticks, however short it is
  let least = Infinity;
  for (let k = 0; k < 200; k++) {
    const low = 10 ** (6 * Math.sin(k)),
      ticks = decades(low, low * (1.5 + k));
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
