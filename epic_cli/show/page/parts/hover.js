// What is under the pointer, in words.
function tip(lines, event) {
  const box = $("tip");
  box.hidden = !lines.length;
  if (!lines.length) return;
  box.textContent = lines.join("\n");
  const { offsetWidth: width, offsetHeight: height } = box;
  box.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 4))}px`;
  box.style.top = `${event.clientY + 18 + height > innerHeight ? Math.max(4, event.clientY - height - 10) : event.clientY + 18}px`;
}

const MOST_LINES = 12;

function wordsAt(lane, time) {
  const lines = [clockWords(time)];
  if (lane === "packets") return lines.concat(packetWords(time));
  const values = visible().map((one) => {
    const row = rowAt(one.t, time), lag = one.lag.seconds[nearest(one.lag.t, time)];
    if (lane === "lag") return [lag === lag ? -lag : Infinity, `${one.label}  ${lag === lag ? `${(1000 * lag).toFixed(0)} ms` : "not clear"}`];
    /*turns if (lane === "angle") return angleWords(one, time); */
    const error = errorAt(one, time);
    const words = lane === "status" ? statusAt(one, time) : error === error ? short(error) : "-";
    return [error === error ? -error : Infinity, `${one.label}  ${words}${lane === "error" && error === error && one.error[row] !== one.error[row] ? " (does not count)" : ""}`];
  });
  if (lane !== "status") values.sort(([a], [b]) => a - b);
  lines.push(...values.slice(0, MOST_LINES).map(([, words]) => words));
  if (values.length > MOST_LINES) lines.push(`and ${values.length - MOST_LINES} more`);
  return lines;
}

function nearest(times, time) {
  const row = Math.max(0, rowAt(times, time));
  return row + 1 < times.length && times[row + 1] - time < time - times[row] ? row + 1 : row;
}

function packetWords(time) {
  const { packets, lost } = scene(), lines = [];
  const near = nearest(packets.t, time), missing = nearest(lost.t, time);
  if (lost.t.length && Math.abs(lost.t[missing] - time) < Math.abs(packets.t[near] - time)) return [`lost: sent about ${clockWords(lost.t[missing])}`];
  if (packets.t.length) lines.push(onePacket(near));
  return lines;
}

function onePacket(i) {
  const { packets } = scene(), arrived = packets.arrival[i];
  const sent = `packet sent ${clockWords(packets.t[i])}`;
  return arrived === arrived ? `${sent}\narrived ${clockWords(arrived)}, took ${(1000 * (arrived - packets.t[i])).toFixed(0)} ms` : sent;
}

// The nearest strategy's line or packet on the path.
function wordsAbove(x, y) {
  if (!frameAbove) return [];
  const { toX, toY } = frameAbove, found = { apart: 14, words: [] };
  const look = (px, py, words) => {
    const apart = Math.hypot(px - x, py - y);
    if (apart < found.apart) Object.assign(found, { apart, words: words() });
  };
  const { packets, lost } = scene(), trail = Number($("trail").value);
  for (let i = 0; i < lost.t.length; i++) look(toX(lost.x[i]), toY(lost.y[i]), () => [`lost: sent about ${clockWords(lost.t[i])}`]);
  for (let i = 0; i < packets.t.length; i++) look(toX(packets.x[i]), toY(packets.y[i]), () => [onePacket(i)]);
  for (const one of visible()) {
    const last = rowAt(one.t, state.time);
    for (let i = Math.max(0, rowAt(one.t, state.time - trail)); i <= last; i++) {
      look(toX(one.x[i]), toY(one.y[i]), () => [one.label, `${clockWords(one.t[i])}, ${statusAt(one, one.t[i])}`, `${short(one.distance[i])} from the ${data.truth}`]);
    }
  }
  nameLine(found.words.length > 1 ? found.words[0] : "");
  return found.words;
}

// The line under the pointer has its name, whatever else has none.
function nameLine(label) {
  if (label !== state.named) { state.named = label; redraw("above", "time"); }
}

// The strategy whose line is nearest, of those that a picture over time has drawn.
function nearestLine(lane, time, y) {
  const height = heights[lane];
  if (!height) return "";
  const far = (one) => { const off = Math.abs(height(one, time) - y); return off === off ? off : Infinity; };
  const [best] = visible().map((one) => [far(one), one.label]).sort(([a], [b]) => a - b);
  return best && best[0] < 12 ? best[1] : "";
}
