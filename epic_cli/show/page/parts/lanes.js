// Lag, status and packets over time.
function drawLag() {
  const { pen } = prepare($("lag"));
  const { box, toX } = timeFrame($("lag")), shown = visible();
  let [low, high] = [0, 0.05];
  for (const one of shown) {
    for (let i = 0; i < one.lag.t.length; i++) {
      if (one.lag.t[i] < state.window[0] - 1 || one.lag.t[i] > state.window[1] + 1) continue;
      if (one.lag.seconds[i] < low) low = one.lag.seconds[i];
      if (one.lag.seconds[i] > high) high = one.lag.seconds[i];
    }
  }
  const room = 0.08 * (high - low);
  [low, high] = [low - room, high + room];
  const toY = (s) => box.bottom - (s - low) / (high - low) * (box.bottom - box.top);
  heights.lag = (one, time) => toY(between(one.lag, one.lag.seconds, time));
  timeGrid(pen, box, toX, false);
  gridUp(pen, box, nice(1000 * low, 1000 * high, 3), (ms) => toY(ms / 1000));
  const lines = shown.map(({ label, lag }) => ({ label, t: lag.t, values: lag.seconds }));
  drawLines(pen, box, toX, toY, lines, () => shade(pen, box, toX, false));
}

// By numbers of statuses: how high each is drawn, and which goes before others in one pixel.
const BAND = [0, 1, 0.22, 0.55], RARE = [3, 2, 0, 1];

function drawStatus() {
  const canvas = $("status"), shown = visible();
  const row = shown.length > 8 ? 9 : 12;
  canvas.style.height = `${Math.max(1, shown.length) * row + 6}px`;
  const { pen } = prepare(canvas);
  const { box, toX } = timeFrame(canvas);
  const wide = shown.length > 8 ? 2 : 1, pixels = Math.max(1, Math.round((box.right - box.left) / wide));
  const [start, end] = state.window;
  shade(pen, box, toX, false);
  pen.font = `${row > 10 ? 11 : 9}px system-ui, sans-serif`;
  shown.forEach((one, place) => {
    const middle = box.top + row * (place + 0.5), paint = lineColor(one.label);
    const { t, status } = one.runs, last = one.t[one.t.length - 1];
    pen.fillStyle = paint;
    let run = Math.max(0, rowAt(t, start)), from = 0, before = -1;
    for (let pixel = 0; pixel <= pixels; pixel++) {
      const until = start + (end - start) * (pixel + 1) / pixels;
      let now = -1;
      if (pixel < pixels && until > t[0] && until - (end - start) / pixels <= last) {
        now = status[run];
        while (run + 1 < t.length && t[run + 1] < until) {
          run++;
          if (RARE[status[run]] > RARE[now]) now = status[run];
        }
      }
      if (now === before) continue;
      if (before >= 0) band(box.left + from * wide, (pixel - from) * wide, before);
      [from, before] = [pixel, now];
    }
    if (canvas.clientWidth > box.right + 50) {
      pen.textAlign = "left";
      pen.fillText(shortened(pen, one.label, canvas.clientWidth - box.right - 10), box.right + 9, middle + 4);
    } else {
      pen.textAlign = "right";
      pen.fillText(shortened(pen, one.label, box.left - 6), box.left - 4, middle + 4);
    }

    function band(x, width, kind) {
      const high = BAND[kind] * (row - 3);
      if (high) pen.fillRect(x, middle - high / 2, width, high);
      else pen.fillRect(x, middle - 0.25, width, 0.5);
    }
  });
}

// Each packet from when it was sent (above) to when it arrived (below), lost ones crossed out; where
// they are too many, how many there are.
function drawTraffic() {
  const { pen } = prepare($("packets"));
  const { box, toX } = timeFrame($("packets"));
  const { packets, lost } = scene(), [start, end] = state.window;
  const pixels = Math.round(box.right - box.left);
  const first = Math.max(0, rowAt(packets.t, start - 1)), last = rowAt(packets.t, end);
  const top = box.top + 1, bottom = box.bottom - 1;
  clip(pen, box, () => {
    shade(pen, box, toX, false);
    if (last - first < pixels / 2.5) {
      pen.strokeStyle = color("--packet");
      pen.lineWidth = 1.2;
      pen.beginPath();
      for (let i = first; i <= last; i++) {
        const arrived = packets.arrival[i] === packets.arrival[i] ? packets.arrival[i] : packets.t[i];
        pen.moveTo(toX(packets.t[i]), top);
        pen.lineTo(toX(arrived), bottom);
      }
      pen.stroke();
    } else {
      const counts = new Float32Array(pixels + 1);
      for (let i = first; i <= last; i++) counts[Math.round(toX(packets.t[i]) - box.left)]++;
      const most = Math.max(1, ...counts);
      pen.fillStyle = color("--packet");
      counts.forEach((count, x) => { if (count) pen.fillRect(box.left + x, bottom - count / most * (bottom - top - 8), 1, count / most * (bottom - top - 8)); });
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
  if (canvasHasMargin(pen.canvas, box)) {
    pen.font = "11px system-ui, sans-serif";
    pen.textAlign = "left";
    pen.fillStyle = color("--soft");
    pen.fillText("sent", box.right + 9, top + 8);
    pen.fillText("arrived", box.right + 9, bottom);
  }
}
const canvasHasMargin = (canvas, box) => canvas.clientWidth > box.right + 50;
