// The whole path in a corner of the map, where the map shows a part of it.
const INSET = 96;           // pixels, its longer side
let inset = { key: "", canvas: null };

function drawInset(pen, box, here) {
  const { truth, packets, drawn } = scene(), whole = extent([truth, packets]) || extent(drawn);
  if (!whole || !here) return;
  const wide = Math.max(whole.right - whole.left, 1e-9), high = Math.max(whole.top - whole.bottom, 1e-9);
  const scale = INSET / Math.max(wide, high), width = wide * scale + 12, height = high * scale + 12;
  if (state.view.scale < 3 * scale || width > (box.right - box.left) / 3 || height > box.bottom - box.top) return;
  const left = box.right - width - 1, top = box.top + 1;
  const toX = (x) => 6 + (x - whole.left) * scale, toY = (y) => 6 + (whole.top - y) * scale;
  const key = [state.scene, width, height, color("--card")].join(" ");
  if (inset.key !== key) {
    const canvas = document.createElement("canvas"), sharp = 2, own = canvas.getContext("2d");
    [canvas.width, canvas.height] = [sharp * width, sharp * height];
    own.scale(sharp, sharp);
    own.fillStyle = color("--card");
    own.fillRect(0, 0, width, height);
    own.strokeStyle = color("--soft");
    own.strokeRect(0.5, 0.5, width - 1, height - 1);
    own.lineWidth = 1.5;
    const room = { left: 0, top: 0, right: width, bottom: height };
    trace(own, truth.x, truth.y, 0, truth.t.length - 1, toX, toY, room);
    inset = { key, canvas };
  }
  pen.drawImage(inset.canvas, left, top, width, height);
  // the part that the map shows, or where it is
  const { inside } = frameAbove, x = left + toX(inside.left), y = top + toY(inside.top);
  pen.strokeStyle = color("--accent");
  pen.lineWidth = 1.5;
  clip(pen, { left, top, right: left + width, bottom: top + height }, () => pen.strokeRect(x, y, (inside.right - inside.left) * scale, (inside.top - inside.bottom) * scale));
  dot(pen, left + toX(here[0]), top + toY(here[1]), 3, color("--accent"), color("--card"));
}
