// Curves of the last seconds, and the beginning of it all.
const SHOWN = 30; // seconds

function chart(id, lines) {
  const { pen, width, height } = prepare($(id)), box = { left: 46, right: width - 8, top: 4, bottom: height - 16 }, begin = live.now - SHOWN;
  let low = 0;
  const tops = lines.map(({ t, v }) => {
    let top = 0;
    for (let i = rowAt(t, begin) + 1; i < t.length; i++) if (Number.isFinite(v[i])) { top = Math.max(top, v[i]); low = Math.min(low, v[i]); }
    return top;
  }).sort((a, b) => a - b);
  // a strategy that has gone out of all bounds would leave nothing of the others
  let high = Math.min(tops.at(-1) || 0, 20 * tops[(tops.length - 1) >> 1] || Infinity);
  if (high <= low) high = low + 1;
  const toX = (time) => box.right - (live.now - time) / SHOWN * (box.right - box.left), toY = (value) => box.bottom - (value - low) / (high - low) * (box.bottom - box.top);
  gridAcross(pen, box, nice(-SHOWN, 0, 6), (time) => toX(live.now + time));
  gridUp(pen, box, nice(low, high, height > 90 ? 4 : 2), toY);
  clip(pen, box, () => {
    for (const { t, v, paint, dots } of lines) {
      const from = Math.max(0, rowAt(t, begin));
      pen.strokeStyle = pen.fillStyle = paint; pen.lineWidth = 1.5;
      if (dots) for (let i = from; i < t.length; i++) pen.fillRect(toX(t[i]) - 1, toY(v[i]) - 1, 2.5, 2.5);
      else trace(pen, t, v, from, t.length - 1, toX, toY, box);
    }
  });
}

// A lane for each strategy; how thick it is says how it draws.
function drawStatus() {
  $("live-status").style.height = `${14 * live.members.length + 2}px`;
  const { pen, width } = prepare($("live-status")), toX = (time) => width - 8 - (live.now - time) / SHOWN * (width - 54);
  live.members.forEach(({ t, status }, lane) => {
    pen.fillStyle = color(`--line${lane}`);
    for (let i = rowAt(t, live.now - SHOWN) + 1, from = i; i < t.length; i++) {
      if (status[i + 1] === status[i]) continue;
      const thick = [0, 10, 2, 5][status[from]];
      pen.fillRect(toX(t[from]), 14 * lane + 7 - thick / 2, Math.max(1, toX(t[i]) - toX(t[from]) + 1), thick);
      from = i + 1;
    }
  });
}

function drawCurves() {
  const { delays, members, received } = live, paint = (place) => color(`--line${place}`);
  chart("live-delays", [{ t: delays.map((_, i) => Math.floor(live.now) - delays.length + 1 + i), v: delays, paint: color("--accent") }]);
  if (live.followed === null) return;
  chart("live-error", members.map(({ errors }, place) => ({ ...errors, paint: paint(place) })));
  chart("live-lag", members.map(({ lags }, place) => ({ ...lags, paint: paint(place) })));
  // the sender's clock has an offset of its own, unless a proxy stamps both
  const shortest = live.link.length ? 0 : received.delay.reduce((least, one) => Math.min(least, one), Infinity);
  chart("live-delay", [{ t: received.t, v: received.delay.map((one) => one - shortest), paint: color("--packet"), dots: true }]);
  drawStatus();
}

if (live.link.length) {
  $("live-link").hidden = false;
  $("live-truth").textContent = "what was sent";
  const way = () => $("live-set").value;
  for (const about of live.link) {
    live.controls.set(about.name, control(about, $("live-link"), "link", (words) => {
      if (words || about.usual) tell({ link: `set ${way() && about.name !== "preset" ? `${way()}.` : ""}${about.name}=${words ?? about.usual}` });
    }));
  }
  $("live-dark").addEventListener("click", () => tell({ link: `${$("live-dark").getAttribute("aria-pressed") === "true" ? "restore" : "blackout"} ${way()}` }));
  $("live-reset").addEventListener("click", () => tell({ link: "reset" }));
}
for (const way of live.ways) text("option", way, $("live-way"));
$("live-ways").hidden = live.ways.length < 2;
$("live-way").addEventListener("change", () => tell({ way: $("live-way").value }));
$("live-who").addEventListener("change", () => follow($("live-who").value === "" ? null : Number($("live-who").value)));
$("live-team").addEventListener("change", () => tell({ strategies: $("live-team").value.split(",").map((one) => one.trim()).filter(Boolean) }));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { colors.clear(); repaint(true); });
addEventListener("resize", () => repaint(true));
connect();
