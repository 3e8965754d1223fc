// The page's pictures over time: error, angle, lag, status and packets; and the histogram.
const LANES = ["error", "angle", "lag", "status", "packets"];
const getShownTime = () => ({ window: state.window, begin: getScene().start });
const getAllTime = () => ({ window: getWholeTime(), begin: getScene().start });

// Return the time at a place of the window.
function findTime(clientX, canvas = $("error"), span = getShownTime()) {
  return makeTimeFrame(canvas, span).toTime(clientX - canvas.getBoundingClientRect().left);
}

function drawOverTime() {
  if (makeTimeFrame($("error"), getShownTime()).box.right < 100) return; // there is no room
  drawError();
  drawAngle();
  drawLag();
  drawStatuses($("status"), getShownTime(), listVisible().map(makeStatusRow), shadeInterruptions);
  drawTraffic();
  drawOverview();
}

// Return the style of a strategy's line; the one under the pointer is sure of its name.
const getLineStyle = (name) => ({
  name,
  color: getLineColor(name),
  dash: getDashes(name),
  sure: name === state.named,
});
const makeLine = (drawn, t, values) => ({ ...getLineStyle(drawn.label), drawn, t, values });
const makeStatusRow = (drawn) => ({
  ...getLineStyle(drawn.label),
  ...drawn.runs,
  last: drawn.t.at(-1),
});

// Mark interruptions of the movement or the network.
function shadeInterruptions(pen, box, toX) {
  pen.fillStyle = getColor("--shade");
  for (const { start, end } of getScene().interruptions) {
    const [left, right] = [toX(start), toX(end)];
    if (right < box.left || left > box.right) continue;
    pen.fillRect(left, box.top, Math.max(2, right - left), box.bottom - box.top);
  }
}

function nameInterruptions(pen, box, toX) {
  pen.font = "10px system-ui, sans-serif";
  pen.textAlign = "left";
  pen.fillStyle = getColor("--soft");
  let written = -Infinity;
  for (const { start, end, kind } of getScene().interruptions) {
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
  const shown = listVisible();
  const tops = shown.map(({ t, error }) => findLargest(t, error, state.window));
  const top = Math.max(0, ...tops) || 1;
  state.errorTop = top;
  // errors far below a line's own peak need no room
  const low = Math.min(top, ...tops.filter((own) => own > 0));
  const bottom = Math.max(low / 30, top / 1e9);
  const lines = shown.map((drawn) => makeLine(drawn, drawn.t, drawn.error));
  const { roof, beyond } = chooseRoof(lines, state.window);
  const [linear, log] = [(roof || 1) * 1.08, top * 1.3];
  const countSteps = (box) => Math.max(2, (box.bottom - box.top) / 34);
  drawLane($("error"), getShownTime(), {
    foot: 18,
    words: true,
    lines,
    apart: state.apart,
    beyond: state.log ? 0 : beyond,
    share: state.log
      ? (error) => Math.log(Math.max(error, bottom) / bottom) / Math.log(log / bottom)
      : (error) => error / linear,
    ticks: (box) =>
      state.log ? chooseDecadeTicks(bottom, log) : chooseNiceTicks(0, linear, countSteps(box)),
    behind: (pen, box, toX, toY, some) => {
      shadeInterruptions(pen, box, toX);
      nameInterruptions(pen, box, toX);
      // the error across the path, for a few strategies
      pen.globalAlpha = 0.25;
      for (const { color: paint, t, drawn } of some.slice(0, BANDS)) {
        pen.fillStyle = paint;
        fillBelow(pen, t, drawn.across, ...findRows(t, state.window), toX, toY, box);
      }
      pen.globalAlpha = 1;
      drawRecoveries(pen, box, toX, some);
    },
  });
}

function drawAngle() {
  const shown = listVisible().filter((drawn) => drawn.angle);
  $("angle-box").hidden = !getScene().truth.heads;
  if ($("angle-box").hidden) return;
  state.angleTop = Math.max(0, ...shown.map(({ t, angle }) => findLargest(t, angle, state.window)));
  const top = 1.08 * (state.angleTop || 1);
  drawLane($("angle"), getShownTime(), {
    foot: 7,
    lines: shown.map((drawn) => makeLine(drawn, drawn.t, drawn.angle)),
    share: (angle) => angle / top,
    ticks: () => chooseNiceTicks(0, top, 3),
    behind: shadeInterruptions,
  });
}

function drawLag() {
  const shown = listVisible();
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
  const computeShare = (seconds) => (seconds - low) / (high - low);
  drawLane($("lag"), getShownTime(), {
    lines: shown.map((drawn) => makeLine(drawn, drawn.lag.t, drawn.lag.seconds)),
    share: computeShare,
    ticks: () =>
      chooseNiceTicks(1000 * low, 1000 * high, 3).map(([ms, words]) => [ms / 1000, words]),
    behind: shadeInterruptions,
  });
}

// Draw each strategy's recovery after an interruption as a bar, at most to the end of the watch.
function drawRecoveries(pen, box, toX, lines) {
  const most = Math.floor((box.bottom - box.top) / 2 / 4);
  getScene().interruptions.forEach(({ end }, i) => {
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
  const { box, toX } = makeTimeFrame($("packets"), getShownTime());
  const { packets, lost } = getScene();
  const [start, end] = state.window;
  const pixels = Math.round(box.right - box.left);
  const [first, last] = [Math.max(0, rowAt(packets.t, start - 1)), rowAt(packets.t, end)];
  const [top, bottom] = [box.top + 1, box.bottom - 1];
  clip(pen, box, () => {
    shadeInterruptions(pen, box, toX);
    pen.strokeStyle = pen.fillStyle = getColor("--packet");
    pen.lineWidth = 1.2;
    if (last - first < pixels / 2.5) {
      pen.beginPath();
      for (let i = first; i <= last; i++) {
        pen.moveTo(toX(packets.t[i]), top);
        pen.lineTo(toX(getArrival(packets, i)), bottom);
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
    pen.strokeStyle = getColor("--bad");
    pen.lineWidth = 1.6;
    pen.beginPath();
    let before = -9;
    for (let i = Math.max(0, rowAt(lost.t, start)); i < lost.t.length && lost.t[i] <= end; i++) {
      const x = toX(lost.t[i]);
      if (x - before < 2) continue;
      before = x;
      drawCross(pen, x, top + 3.5, 3);
    }
    pen.stroke();
  });
  if (!hasMargin(pen.canvas, box)) return;
  pen.font = "11px system-ui, sans-serif";
  pen.textAlign = "left";
  pen.fillStyle = getColor("--soft");
  pen.fillText("sent", box.right + 9, top + 8);
  pen.fillText("arrived", box.right + 9, bottom);
}

function drawOverview() {
  const { pen, width, height } = prepare($("overview"));
  if (!width || !height) return; // paper has no size
  const { box, toX } = makeTimeFrame($("overview"), getAllTime(), 2);
  pen.drawImage(drawWholeErrors(pen.canvas, box, toX), 0, 0, width, height);
  pen.strokeStyle = getColor("--soft");
  pen.lineWidth = 1;
  const [wide, high] = [box.right - box.left, box.bottom - box.top];
  pen.strokeRect(box.left + 0.5, box.top - 2.5, wide - 1, high + 3);
  const [left, right] = state.window.map(toX);
  const part = [left, box.top - 2, Math.max(3, right - left), high + 2];
  pen.fillStyle = getColor("--band");
  pen.fillRect(...part);
  pen.strokeStyle = getColor("--accent");
  pen.lineWidth = 1.5;
  pen.strokeRect(...part);
}

// Draw the errors of the whole recording, again only if they have changed.
let overview = { key: "", canvas: null };
function drawWholeErrors(over, box, toX) {
  const shown = listVisible();
  const how = [state.scene, state.log, over.width, over.height, getColor("--line0")];
  const key = [...how, ...shown.map((drawn) => drawn.label)].join("\n");
  if (overview.key === key) return overview.canvas;
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d");
  [canvas.width, canvas.height] = [over.width, over.height];
  const { width, height } = measureCanvas(over);
  pen.scale(over.width / width, over.height / height);
  let top = 0;
  for (const { error, worst } of shown) if (worst >= 0) top = Math.max(top, error[worst]);
  const { roof } = chooseRoof(
    shown.map(({ t, error }) => ({ t, values: error })),
    getWholeTime(),
  );
  const computeShare = (error) =>
    state.log ? Math.log(1 + (99 * error) / top) / Math.log(100) : Math.min(1, error / roof);
  const convertToY = (error) => box.bottom - computeShare(error) * 0.92 * (box.bottom - box.top);
  shadeInterruptions(pen, box, toX);
  pen.globalAlpha = 0.85;
  for (const { label: name, t, error } of [...shown].reverse()) {
    pen.fillStyle = getLineColor(name);
    pen.setLineDash(getDashes(name));
    traceEnvelope(pen, t, error, 0, t.length - 1, toX, convertToY, box, 1);
  }
  overview = { key, canvas };
  return canvas;
}

// Draw the histogram of errors: the share of all rows by size, on a log axis.
function drawHistogram() {
  const { pen, width, height } = prepare($("histogram"));
  const { bins } = getScene();
  const box = { left: 40, right: width - 8, top: 4, bottom: height - 18 };
  let [first, last, top] = [Infinity, -Infinity, 0.01];
  const curves = listVisible().map(({ label: name, histogram: { first: low, counts } }) => {
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
  const convertToX = (k) => box.left + ((k - first) / (last - first)) * (box.right - box.left);
  const convertToY = (share) => box.bottom - (share / (1.05 * top)) * (box.bottom - box.top);
  const errors = chooseDecadeTicks(10 ** (first / bins), 10 ** (last / bins));
  drawGridAcross(pen, box, errors, (error) => convertToX(bins * Math.log10(error)));
  const percents = chooseNiceTicks(0, 100 * top, 3).map(([value, words]) => [value, `${words} %`]);
  drawGridUp(pen, box, percents, (percent) => convertToY(percent / 100));
  clip(pen, box, () => {
    for (const { name, low, shares } of curves) {
      pen.strokeStyle = getLineColor(name);
      pen.setLineDash(getDashes(name));
      pen.lineWidth = 1.6;
      pen.beginPath();
      pen.moveTo(convertToX(low), convertToY(0));
      shares.forEach((share, k) => {
        pen.lineTo(convertToX(low + k), convertToY(share));
        pen.lineTo(convertToX(low + k + 1), convertToY(share));
      });
      pen.lineTo(convertToX(low + shares.length), convertToY(0));
      pen.stroke();
    }
  });
  pen.setLineDash([]);
}
