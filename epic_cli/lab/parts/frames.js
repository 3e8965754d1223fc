// What the engine answers: frames of JSON and arrays, of which only the newest experiment's count.
function receive(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const message = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  if (message.number < lab.answered) return;
  lab.answered = message.number;
  $("lab-refused").hidden = message.kind !== "refused";
  if (message.kind === "refused") {
    $("lab-refused").textContent = message.words;
    lab.sent = 0;
    return;
  }
  arrays = buffer.slice(4 + length); // where arrays are aligned
  show(message);
}

function show(message) {
  const before = data.scenes[state.scene], whole = state.window[0] === 0 && state.window[1] >= before.end - before.start - 1e-6;
  for (const one of message.scenes) { unpack(one); unpackTurns(one); }
  keepLags(data.scenes, message.scenes);
  rename(message.labels);
  data.scenes = message.scenes;
  if (message.kind === "figures") Object.assign(data, message, { shown: message.labels });
  else data.rows = message.labels.map((one, place) => ({ ...(data.rows[place] || { cells: data.columns.map(() => ""), best: [] }), label: one }));
  if (message.kind === "figures") overview.key = inset.key = ""; // who drags does not look at these
  state.scene = Math.min(state.scene, data.scenes.length - 1);
  $("time").max = duration();
  fillEntities();
  const moved = lab.moves + ["speed", "size", "turning", "seed"].map((one) => lab.given.get(one));
  if (moved !== lab.moved) { lab.moved = moved; if (!lab.drawing) wholePath(); }
  if (whole || state.window[1] > duration()) showTime(0, duration());
  if (lab.drawing) go(duration()); else if (state.time > duration()) go(duration());
  if (message.kind === "figures") fillResult();
  if (message.kind === "figures" && message.number === lab.number) document.body.classList.remove("computing");
  if (message.number === lab.number) for (const [name, one] of lab.controls) if (name in message.values) one.show(message.values[name]);
  $("lab-line").textContent = message.command;
  lab.networks = message.networks;
  lab.message = message;
  redraw();
  paintTeam();
  const since = lab.sent;
  lab.sent = 0;
  requestAnimationFrame(() => {
    setTimeout(() => { // after the frame is painted
      if (since && lab.delays.push(performance.now() - since) > 2000) lab.delays.splice(0, 1000);
      const words = message.networks > 1 ? `figures of ${message.networks} networks` : message.networks ? "one network" : "the recording";
      if ($("lab-state").textContent !== words) $("lab-state").textContent = words;
      $("lab-state").title = since ? `drawn after ${lab.delays.at(-1).toFixed(0)} ms` : "";
      document.body.dataset.lab = `${message.kind} ${message.number} ${message.networks}`;
    });
  });
}

function fillEntities() {
  const names = data.scenes.map((one) => one.entity || "(no name)"), box = $("entity");
  $("entity-choice").hidden = names.length < 2;
  if (names.join("\n") === [...box.options].map((one) => one.textContent).join("\n")) return;
  box.replaceChildren();
  names.forEach((one, index) => { text("option", one, box).value = index; });
  box.value = state.scene;
}

// The lag takes longest: until it is known again, the old one stays.
function keepLags(old, scenes) {
  scenes.forEach((one, i) => one.drawn.forEach((drawn, place) => {
    const known = old[i] && old[i].drawn[place];
    if (!drawn.lag.t.length && known) drawn.lag = known.lag;
    if (!drawn.recoveries.length) drawn.recoveries = one.interruptions.map((_, k) => (known ? known.recoveries[k] ?? null : null));
    one.words ||= old[i] && old[i].words;
  }));
}

// A strategy keeps its colour whatever its settings, which are part of its name.
function rename(labels) {
  const old = data.rows.map((one) => one.label);
  const off = new Set(labels.filter((one, place) => old.length === labels.length && !state.on.has(old[place])));
  state.on = new Set(labels.filter((one) => !off.has(one)));
  state.slots = new Map(labels.map((one, place) => [one, place]));
  data.shown = labels;
}

function fillResult() {
  for (const id of ["verdict", "detail-list", "notes", "facts", "meanings"]) $(id).replaceChildren();
  fillWords();
  const rows = $("figures").tBodies[0].rows;
  const same = rows.length === data.rows.length && data.rows.every((row, i) => rows[i].dataset.label === row.label) && $("all").tHead.rows[0].cells.length === data.columns.length + 1;
  if (!same) {
    for (const id of ["figures", "all"]) $(id).tBodies[0].replaceChildren();
    fillFigures();
  } else {
    const brief = data.columns.map((column, i) => [column, i]).filter(([column]) => column.brief);
    data.rows.forEach((row, place) => {
      brief.forEach(([, i], k) => fillCell(rows[place].cells[2 + k], row, i));
      row.cells.forEach((words, i) => fillCell($("all").tBodies[0].rows[place].cells[1 + i], row, i));
    });
  }
  const score = 2 + data.columns.filter((one) => one.brief).findIndex((one) => one.title === "score");
  [...$("figures").tBodies[0].rows].forEach((row, place) => {
    row.querySelector(".likely")?.remove();
    if (score > 1 && data.likely[place]) text("span", ` ${data.likely[place]}`, row.cells[score], "unit likely");
  });
  fillRecoveries();
  for (const [picture, description] of Object.entries(scene().words || {})) $(`${picture}-words`).textContent = description;
}

function fillCell(cell, row, i) {
  const jump = cell.querySelector("button");
  (jump || cell).textContent = row.cells[i];
  if (jump) jump.setAttribute("aria-label", `${row.cells[i]}: go to the worst moment of ${row.label}`);
  cell.classList.toggle("best", Boolean(row.best[i]));
}

function connect() {
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${location.pathname}talk`);
  socket.binaryType = "arraybuffer";
  socket.addEventListener("open", () => { lab.socket = socket; ask(); });
  socket.addEventListener("message", (event) => receive(event.data));
  socket.addEventListener("close", () => {
    lab.socket = null;
    $("lab-state").textContent = "epic lab has ended; start it again to go on";
    setTimeout(connect, 2000);
  });
}
