// The moment that is shown, and its going on.
function go(time, exact = false) {
  state.exact = exact;
  state.time = Math.min(Math.max(0, time), duration());
  $("time").value = state.time;
  $("clock").textContent = clockWords(state.time);
  $("time").setAttribute("aria-valuetext", clockWords(state.time));
  const [start, end] = state.window;
  if (state.time < start || state.time > end) showTime(state.time - (end - start) * 0.1, state.time + (end - start) * 0.9);
  redraw("above", "now");
  rememberPlace();
}

function placeCursor() {
  const { toX } = timeFrame($("error"));
  $("cursor").style.transform = `translateX(${toX(state.time)}px)`;
  $("hairline").hidden = state.hover === null;
  if (state.hover !== null) $("hairline").style.transform = `translateX(${toX(state.hover)}px)`;
}

// One row on or back: rows are a tick apart.
const step = (rows) => go(Math.round(state.time / data.tick + rows) * data.tick);

function play(on) {
  if (on && state.time >= duration()) go(0);
  state.playing = on;
  state.then = performance.now();
  $("play").textContent = on ? "\u275a\u275a" : "\u25b6";
  $("play").setAttribute("aria-label", on ? "Pause" : "Play");
  if (on) requestAnimationFrame(frame);
}

function frame(now) {
  if (!state.playing) return;
  const time = state.time + Math.max(0, now - state.then) / 1000 * Number($("speed").value);
  state.then = now;
  go(time);
  if (time >= duration()) play(false); else requestAnimationFrame(frame);
}

// The best of the strategies shown whose error can be seen beside that of the others.
function leader() {
  const judged = visible().filter((one) => one.worst >= 0), worst = (one) => one.error[one.worst];
  const usual = judged.map(worst).sort((a, b) => a - b)[judged.length >> 1];
  return judged.find((one) => worst(one) >= usual / 50);
}

function goToWorst(label) {
  const one = label ? scene().drawn.find((drawn) => drawn.label === label) : leader();
  if (!one || one.worst < 0) return;
  if (!state.on.has(one.label)) turn(one.label, true);
  const time = one.t[one.worst];
  const [start, end] = state.window;
  if (time < start || time > end) showTime(time - (end - start) / 2, time + (end - start) / 2);
  $("follow").checked = true;
  near(time, one);
  go(time, true);
  say(`${clockWords(time)}: ${one.label} is ${short(one.error[one.worst])} from the ${data.truth}, its worst`);
}

// For those who hear the page: after a key, not while it plays.
function say(words) {
  $("said").textContent = words;
}

function sayNow() {
  const few = visible().slice(0, 6).map((one) => `${one.label} ${short(errorAt(one, state.time) || 0)}`);
  say(`${clockWords(state.time)}; errors: ${few.join(", ")}`);
}

function choose(index) {
  state.scene = index;
  const { entity, axes, words } = scene();
  $("view-title").textContent = `${entity ? `${entity} from` : "From"} above, ${axes[1]} over ${axes[0]} (lengths)`;
  for (const [picture, description] of Object.entries(words)) $(`${picture}-words`).textContent = description;
  $("time").max = duration();
  $("lost-key").hidden = !scene().lost.t.length;
  fillRecoveries();
  state.time = 0;
  state.window = [0, Math.max(duration(), data.tick)];
  wholePath();
  const best = leader();
  if (best) {
    const time = best.t[best.worst];
    if (duration() > 60) showTime(time - 10, time + 10);
    near(time, best);
    go(time, true);
  } else go(0);
  redraw();
}

// The address says what is shown, so that it can be sent on; not while it plays.
let remembering = 0;
function rememberPlace() {
  clearTimeout(remembering);
  if (!document.body.dataset.ready) return;
  remembering = setTimeout(() => {
    if (state.playing) return;
    const parts = new URLSearchParams({ t: (scene().start + state.time).toFixed(3) });
    for (const { label } of data.rows) {
      const first = data.shown.includes(label);
      if (state.on.has(label) !== first) parts.append(first ? "off" : "on", label);
    }
    if (data.scenes.length > 1) parts.set("entity", scene().entity);
    if (state.log) parts.set("log", "1");
    history.replaceState(null, "", `#${parts}`);
  }, 400);
}
