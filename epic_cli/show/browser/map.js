// A map of the plane: its visible part, its grid, and the gestures that move it.
class PlaneMap {
  // redraw() requests a new picture. moved(dragged) is called after the user zooms or drags. While
  // anchored(), it zooms around its center. tap(event) is called for a click.
  constructor(canvas, { redraw, moved = () => {}, anchored = () => false, tap }) {
    Object.assign(this, { canvas, redraw, moved, anchored, x: 0, y: 0, scale: 1, frame: null });
    handleGestures(canvas, {
      tap,
      drag: (_, x, y) => this.move(x, y),
      pinch: (factor, at, x, y) => {
        this.move(x, y);
        this.zoom(factor, at.x, at.y);
      },
      box: (...edges) => this.zoomInto(...edges),
    });
    handleWheel(canvas, (event) =>
      this.zoom(1 / computeWheelFactor(event), event.clientX, event.clientY),
    );
  }

  // Return the pixels of an event, from the canvas's corner.
  pointOn({ clientX, clientY }) {
    const { left, top } = this.canvas.getBoundingClientRect();
    return [clientX - left, clientY - top];
  }

  // Show a box of the plane in a share of the canvas.
  look({ left, right, bottom, top }, share) {
    const { width, height } = measureCanvas(this.canvas);
    const least = 1e-6 * Math.max(1e-3, Math.abs(left), Math.abs(top));
    const across = (width - 60) / Math.max(right - left, least);
    this.x = left / 2 + right / 2;
    this.y = bottom / 2 + top / 2;
    this.scale = share * Math.min(across, (height - 34) / Math.max(top - bottom, least));
  }

  zoom(factor, clientX, clientY) {
    const wanted = this.scale * factor;
    if (!(wanted > 1e-30 && wanted < 1e30)) return;
    if (clientX !== undefined && !this.anchored()) {
      // the place under the pointer stays there
      const [x, y] = this.pointOn({ clientX, clientY });
      this.x += (x - this.frame.middleX) * (1 / this.scale - 1 / wanted);
      this.y -= (y - this.frame.middleY) * (1 / this.scale - 1 / wanted);
    }
    this.scale = wanted;
    this.moved(false);
    this.redraw();
  }

  move(x, y) {
    this.x -= x / this.scale;
    this.y += y / this.scale;
    this.moved(true);
    this.redraw();
  }

  // Zoom into a box of the window.
  zoomInto(left, right, top, bottom) {
    const { box, middleX, middleY } = this.frame;
    const wide = (box.right - box.left) / (right - left);
    const high = (box.bottom - box.top) / Math.max(1, bottom - top);
    const [x, y] = this.pointOn({ clientX: (left + right) / 2, clientY: (top + bottom) / 2 });
    this.move(middleX - x, middleY - y);
    this.scale *= Math.min(wide, high);
  }

  // Begin a picture with the grid, whose values are relative to the origin. They stand in the map,
  // none in the corner of both axes.
  begin([originX, originY] = [0, 0]) {
    const { pen, width, height } = prepare(this.canvas);
    const box = { left: 0, right: width, top: 0, bottom: height };
    const middleX = (box.left + box.right) / 2;
    const middleY = (box.top + box.bottom) / 2;
    const { x: viewX, y: viewY, scale } = this;
    const convertToX = (x) => middleX + (x - viewX) * scale;
    const convertToY = (y) => middleY - (y - viewY) * scale;
    const inside = {
      left: viewX + (box.left - middleX) / scale,
      right: viewX + (box.right - middleX) / scale,
      bottom: viewY - (box.bottom - middleY) / scale,
      top: viewY + (middleY - box.top) / scale,
    };
    this.frame = { box, toX: convertToX, toY: convertToY, scale, middleX, middleY, inside };
    const across = chooseNiceTicks(
      inside.left + originX,
      inside.right + originX,
      Math.max(2, width / 110),
    );
    const up = chooseNiceTicks(
      inside.bottom + originY,
      inside.top + originY,
      Math.max(2, height / 70),
    );
    drawGridAcross(pen, box, across, (value) => convertToX(value - originX), false);
    drawGridUp(pen, box, up, (value) => convertToY(value - originY), false);
    for (const [value, words] of across) {
      const x = convertToX(value - originX);
      if (x > 40 && x < width - 20) pen.fillText(words, x, height - 6);
    }
    pen.textAlign = "left";
    for (const [value, words] of up) {
      const y = convertToY(value - originY);
      if (y > 16 && y < height - 24) pen.fillText(words, 6, y - 4);
    }
    return { pen, ...this.frame };
  }
}

function handleWheel(canvas, act) {
  const handleTurn = (event) => {
    event.preventDefault();
    act(event);
  };
  canvas.addEventListener("wheel", handleTurn, { passive: false });
}
const computeWheelFactor = (event) => Math.exp(Math.max(-200, Math.min(200, event.deltaY)) * 0.002);

// Track the pointers on an element: one drags, two pinch and drag; with shift, one draws a box. A
// finger that moves up or down scrolls the page. A movement of less than STILL pixels is a tap.
const STILL = 4;
function handleGestures(canvas, { drag, pinch, begin, box, tap }) {
  const down = new Map();
  let from = null; // the first corner of a box
  let moved = 0;
  const listEdges = ({ clientX: x, clientY: y }) => [
    Math.min(from.x, x),
    Math.max(from.x, x),
    Math.min(from.y, y),
    Math.max(from.y, y),
  ];
  const findMiddle = () => {
    const [first, second = first] = down.values();
    const apart = Math.hypot(first.x - second.x, first.y - second.y);
    return { x: (first.x + second.x) / 2, y: (first.y + second.y) / 2, apart };
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    const place = { x: event.clientX, y: event.clientY };
    down.set(event.pointerId, place);
    from = event.shiftKey && box ? place : null;
    moved = down.size > 1 ? Infinity : 0;
    if (down.size === 1 && begin && !from) begin(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!down.has(event.pointerId)) return;
    if (from) {
      const [left, right, top, bottom] = listEdges(event).map((edge) => `${edge}px`);
      const size = { width: `calc(${right} - ${left})`, height: `calc(${bottom} - ${top})` };
      Object.assign($("frame").style, { left, top, ...size });
      $("frame").hidden = false;
      return;
    }
    const before = findMiddle();
    down.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const now = findMiddle();
    const [x, y] = [now.x - before.x, now.y - before.y];
    moved += Math.hypot(x, y);
    if (down.size > 1) pinch(before.apart && now.apart ? now.apart / before.apart : 1, now, x, y);
    else if (!tap || moved > STILL) drag(event, x, y);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(end, (event) => {
      const known = down.delete(event.pointerId);
      $("frame").hidden = true;
      if (end === "pointerup") {
        if (from && Math.abs(event.clientX - from.x) > STILL) box(...listEdges(event));
        else if (known && tap && moved <= STILL) tap(event);
      }
      from = null;
    });
  }
  const handlePinch = (event) => {
    if (event.touches.length > 1) event.preventDefault();
  };
  canvas.addEventListener("touchmove", handlePinch, { passive: false });
}
