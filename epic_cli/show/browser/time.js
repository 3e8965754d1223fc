// The page's pictures over time: error, angle, lag, status and packets; and the histogram.
const LANES = ["error", "angle", "lag", "status", "packets"];
const shownTime = () => ({ window: state.window, begin: scene().start });
const allTime = () => ({ window: wholeTime(), begin: scene().start });

// Return the time at a place of the window.
function timeAt(clientX, canvas = $("error"), span = shownTime()) {
  return timeFrame(canvas, span).toTime(clientX - canvas.getBoundingClientRect().left);
}

function drawOverTime() {
  if (timeFrame($("error"), shownTime()).box.right < 100) return; // there is no room
  drawError();
  drawAngle();
  drawLag();
  drawStatuses($("status"), shownTime(), visible().map(statusRow), shade);
  drawTraffic();
  drawOverview();
}

// Return the style of a strategy's line; the one under the pointer is sure of its name.
const lineStyle = (name) => ({
  name,
  color: lineColor(name),
  dash: dashes(name),
  sure: name === state.named,
});
const lineOf = (drawn, t, values) => ({ ...lineStyle(drawn.label), drawn, t, values });
const statusRow = (drawn) => ({
  ...lineStyle(drawn.label),
  ...drawn.runs,
  last: drawn.t.at(-1),
});

// Mark interruptions of the movement or the network.
function shade(pen, box, toX) {
  pen.fillStyle = color("--shade");
  for (const { start, end } of scene().interruptions) {
    const [left, right] = [toX(start), toX(end)];
    if (right < box.left || left > box.right) continue;
    pen.fillRect(left, box.top, Math.max(2, right - left), box.bottom - box.top);
  }
}

function nameInterruptions(pen, box, toX) {
  pen.font = "10px system-ui, sans-serif";
  pen.textAlign = "left";
  pen.fillStyle = color("--soft");
  let written = -Infinity;
  for (const { start, end, kind } of scene().interruptions) {
    const words = kind === "teleport" ? kind : `${kind} ${(end - start).toFixed(1)} s`;
    const wide = pen.measureText(words).width;
    const x = Math.max(box.left, Math.min(toX(start), box.right - wide - 4)) + 2;
    if (toX(end) < box.left || toX(start) > box.right || x < written) continue;
    written = x + wide + 6;
    pen.fillText(words, x, box.top + 9);
  }
  pen.font = "11px system-ui, sans-serif";
}

const BANDS = 3;

function drawError() {
  const shown = visible();
  const tops = shown.map(({ t, error }) => largest(t, error, state.window));
  const top = Math.max(0, ...tops) || 1;
  state.errorTop = top;
  // errors far below a line's own peak need no room
  const low = Math.min(top, ...tops.filter((own) => own > 0));
  const bottom = Math.max(low / 30, top / 1e9);
  const lines = shown.map((drawn) => lineOf(drawn, drawn.t, drawn.error));
  const { roof, beyond } = roofOf(lines, state.window);
  const [linear, log] = [(roof || 1) * 1.08, top * 1.3];
  const steps = (box) => Math.max(2, (box.bottom - box.top) / 34);
  drawLane($("error"), shownTime(), {
    foot: 18,
    words: true,
    lines,
    apart: state.apart,
    beyond: state.log ? 0 : beyond,
    share: state.log
      ? (error) => Math.log(Math.max(error, bottom) / bottom) / Math.log(log / bottom)
      : (error) => error / linear,
    ticks: (box) => (state.log ? decades(bottom, log) : nice(0, linear, steps(box))),
    behind: (pen, box, toX, toY, some) => {
      shade(pen, box, toX);
      nameInterruptions(pen, box, toX);
      // the error across the path, for a few strategies
      pen.globalAlpha = 0.25;
      for (const { color: paint, t, drawn } of some.slice(0, BANDS)) {
        pen.fillStyle = paint;
        below(pen, t, drawn.across, ...rowsWithin(t, state.window), toX, toY, box);
      }
      pen.globalAlpha = 1;
      drawRecoveries(pen, box, toX, some);
    },
  });
}

function drawAngle() {
  const shown = visible().filter((drawn) => drawn.angle);
  $("angle-box").hidden = !scene().truth.heads;
  if ($("angle-box").hidden) return;
  state.angleTop = Math.max(0, ...shown.map(({ t, angle }) => largest(t, angle, state.window)));
  const top = 1.08 * (state.angleTop || 1);
  drawLane($("angle"), shownTime(), {
    foot: 7,
    lines: shown.map((drawn) => lineOf(drawn, drawn.t, drawn.angle)),
    share: (angle) => angle / top,
    ticks: () => nice(0, top, 3),
    behind: shade,
  });
}

function drawLag() {
  const shown = visible();
  const [start, end] = state.window;
  let [low, high] = [0, 0.05];
  for (const { lag } of shown) {
    lag.t.forEach((time, i) => {
      if (time < start - 1 || time > end + 1) return;
      if (lag.seconds[i] < low) low = lag.seconds[i];
      if (lag.seconds[i] > high) high = lag.seconds[i];
    });
  }
  const room = 0.08 * (high - low);
  [low, high] = [low - room, high + room];
  const share = (seconds) => (seconds - low) / (high - low);
  drawLane($("lag"), shownTime(), {
    lines: shown.map((drawn) => lineOf(drawn, drawn.lag.t, drawn.lag.seconds)),
    share,
    ticks: () => nice(1000 * low, 1000 * high, 3).map(([ms, words]) => [ms / 1000, words]),
    behind: shade,
  });
}

// Draw each strategy's recovery after an interruption as a bar, at most to the end of the watch.
function drawRecoveries(pen, box, toX, lines) {
  const most = Math.floor((box.bottom - box.top) / 2 / 4);
  scene().interruptions.forEach(({ end }, i) => {
    if (toX(end) > box.right || toX(end + 5) < box.left) return;
    lines.slice(0, most).forEach(({ color: paint, drawn }, place) => {
      const seconds = drawn.recoveries[i];
      if (!seconds) return;
      pen.fillStyle = paint;
      pen.fillRect(toX(end), box.top + 14 + 4 * place, toX(end + seconds) - toX(end), 2.5);
    });
  });
}

// Draw each packet from its sending (above) to its arrival (below), lost ones crossed out; if there
// are too many, draw their density.
function drawTraffic() {
  const { pen } = prepare($("packets"));
  const { box, toX } = timeFrame($("packets"), shownTime());
  const { packets, lost } = scene();
  const [start, end] = state.window;
  const pixels = Math.round(box.right - box.left);
  const [first, last] = [Math.max(0, rowAt(packets.t, start - 1)), rowAt(packets.t, end)];
  const [top, bottom] = [box.top + 1, box.bottom - 1];
  clip(pen, box, () => {
    shade(pen, box, toX);
    pen.strokeStyle = pen.fillStyle = color("--packet");
    pen.lineWidth = 1.2;
    if (last - first < pixels / 2.5) {
      pen.beginPath();
      for (let i = first; i <= last; i++) {
        pen.moveTo(toX(packets.t[i]), top);
        pen.lineTo(toX(arrivalOf(packets, i)), bottom);
      }
      pen.stroke();
    } else {
      const counts = new Float32Array(pixels + 1);
      for (let i = first; i <= last; i++) counts[Math.round(toX(packets.t[i]) - box.left)]++;
      const most = Math.max(1, ...counts);
      counts.forEach((count, x) => {
        const high = (count / most) * (bottom - top - 8);
        if (count) pen.fillRect(box.left + x, bottom - high, 1, high);
      });
    }
    pen.strokeStyle = color("--bad");
    pen.lineWidth = 1.6;
    pen.beginPath();
    let before = -9;
    for (let i = Math.max(0, rowAt(lost.t, start)); i < lost.t.length && lost.t[i] <= end; i++) {
      const x = toX(lost.t[i]);
      if (x - before < 2) continue;
      before = x;
      cross(pen, x, top + 3.5, 3);
    }
    pen.stroke();
  });
  if (!hasMargin(pen.canvas, box)) return;
  pen.font = "11px system-ui, sans-serif";
  pen.textAlign = "left";
  pen.fillStyle = color("--soft");
  pen.fillText("sent", box.right + 9, top + 8);
  pen.fillText("arrived", box.right + 9, bottom);
}

function drawOverview() {
  const { pen, width, height } = prepare($("overview"));
  if (!width || !height) return; // paper has no size
  const { box, toX } = timeFrame($("overview"), allTime(), 2);
  pen.drawImage(wholeErrors(pen.canvas, box, toX), 0, 0, width, height);
  pen.strokeStyle = color("--soft");
  pen.lineWidth = 1;
  const [wide, high] = [box.right - box.left, box.bottom - box.top];
  pen.strokeRect(box.left + 0.5, box.top - 2.5, wide - 1, high + 3);
  const [left, right] = state.window.map(toX);
  const part = [left, box.top - 2, Math.max(3, right - left), high + 2];
  pen.fillStyle = color("--band");
  pen.fillRect(...part);
  pen.strokeStyle = color("--accent");
  pen.lineWidth = 1.5;
  pen.strokeRect(...part);
}

// Draw the errors of the whole recording, again only if they have changed.
let overview = { key: "", canvas: null };
function wholeErrors(over, box, toX) {
  const shown = visible();
  const how = [state.scene, state.log, over.width, over.height, color("--line0")];
  const key = [...how, ...shown.map((drawn) => drawn.label)].join("\n");
  if (overview.key === key) return overview.canvas;
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d");
  [canvas.width, canvas.height] = [over.width, over.height];
  const { width, height } = sizeOf(over);
  pen.scale(over.width / width, over.height / height);
  let top = 0;
  for (const { error, worst } of shown) if (worst >= 0) top = Math.max(top, error[worst]);
  const { roof } = roofOf(
    shown.map(({ t, error }) => ({ t, values: error })),
    wholeTime(),
  );
  const share = (error) =>
    state.log ? Math.log(1 + (99 * error) / top) / Math.log(100) : Math.min(1, error / roof);
  const toY = (error) => box.bottom - share(error) * 0.92 * (box.bottom - box.top);
  shade(pen, box, toX);
  pen.globalAlpha = 0.85;
  for (const { label: name, t, error } of [...shown].reverse()) {
    pen.fillStyle = lineColor(name);
    pen.setLineDash(dashes(name));
    envelope(pen, t, error, 0, t.length - 1, toX, toY, box, 1);
  }
  overview = { key, canvas };
  return canvas;
}

// Draw the histogram of errors: the share of all rows by size, on a log axis.
function drawHistogram() {
  const { pen, width, height } = prepare($("histogram"));
  const { bins } = scene();
  const box = { left: 40, right: width - 8, top: 4, bottom: height - 18 };
  let [first, last, top] = [Infinity, -Infinity, 0.01];
  const curves = visible().map(({ label: name, histogram: { first: low, counts } }) => {
    const total = counts.reduce((a, b) => a + b, 0) || 1;
    const shares = counts.map((count) => count / total);
    shares.forEach((share, k) => {
      if (share < 0.0005) return;
      first = Math.min(first, low + k);
      last = Math.max(last, low + k + 1);
      top = Math.max(top, share);
    });
    return { name, low, shares };
  });
  if (!(first < last)) return;
  first = Math.max(first, last - 4 * bins);
  const toX = (k) => box.left + ((k - first) / (last - first)) * (box.right - box.left);
  const toY = (share) => box.bottom - (share / (1.05 * top)) * (box.bottom - box.top);
  const errors = decades(10 ** (first / bins), 10 ** (last / bins));
  gridAcross(pen, box, errors, (error) => toX(bins * Math.log10(error)));
  const percents = nice(0, 100 * top, 3).map(([value, words]) => [value, `${words} %`]);
  gridUp(pen, box, percents, (percent) => toY(percent / 100));
  clip(pen, box, () => {
    for (const { name, low, shares } of curves) {
      pen.strokeStyle = lineColor(name);
      pen.setLineDash(dashes(name));
      pen.lineWidth = 1.6;
      pen.beginPath();
      pen.moveTo(toX(low), toY(0));
      shares.forEach((share, k) => {
        pen.lineTo(toX(low + k), toY(share));
        pen.lineTo(toX(low + k + 1), toY(share));
      });
      pen.lineTo(toX(low + shares.length), toY(0));
      pen.stroke();
    }
  });
  pen.setLineDash([]);
}
