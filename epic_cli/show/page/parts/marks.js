// Packets on the path: hollow on their way, bright when they arrive, lost ones crossed out.
const FLASH = 0.2;          // seconds
const MAP_PACKETS = 2500;   // in one frame, of those that are not of this moment

function drawPackets(pen, inside, toX, toY) {
  const { packets, lost } = scene(), now = state.time;
  const isInside = (path, i) => path.x[i] >= inside.left && path.x[i] <= inside.right && path.y[i] >= inside.bottom && path.y[i] <= inside.top;
  const arrival = (i) => (packets.arrival[i] === packets.arrival[i] ? packets.arrival[i] : packets.t[i]);
  const sent = rowAt(packets.t, now);
  // those of long ago, and those of the future, faintly
  let count = 0;
  const places = [];
  for (let i = 0; i < packets.t.length; i++) if (isInside(packets, i)) places.push(i);
  const every = Math.max(1, Math.ceil(places.length / MAP_PACKETS));
  for (const i of places) {
    const recent = packets.t[i] <= now && now - packets.t[i] < 3;
    if (!recent && count++ % every) continue;
    const x = toX(packets.x[i]), y = toY(packets.y[i]);
    if (i > sent) {
      pen.globalAlpha = 0.28;
      pen.fillStyle = color("--packet");
      pen.fillRect(x - 1.5, y - 1.5, 3, 3);
    } else if (arrival(i) > now) {
      pen.globalAlpha = 1;
      dot(pen, x, y, 3.5, color("--card"), color("--packet"));
    } else if (now - arrival(i) < FLASH) {
      pen.globalAlpha = 1;
      dot(pen, x, y, 6.5, color("--flash"), color("--packet"));
    } else if (recent) {
      pen.globalAlpha = 1;
      dot(pen, x, y, 2.6, color("--packet"));
    } else {
      pen.globalAlpha = 0.75;
      pen.fillStyle = color("--packet");
      pen.fillRect(x - 1.5, y - 1.5, 3, 3);
    }
  }
  pen.globalAlpha = 1;
  pen.strokeStyle = color("--bad");
  pen.lineWidth = 2;
  pen.beginPath();
  let crosses = 0;
  for (let i = 0; i < lost.t.length && crosses < MAP_PACKETS; i++) {
    if (lost.t[i] > now || lost.t[i] < state.window[0] || !isInside(lost, i)) continue;
    cross(pen, toX(lost.x[i]), toY(lost.y[i]), 4);
    crosses++;
  }
  pen.stroke();
}

function cross(pen, x, y, size) {
  pen.moveTo(x - size, y - size);
  pen.lineTo(x + size, y + size);
  pen.moveTo(x - size, y + size);
  pen.lineTo(x + size, y - size);
}
