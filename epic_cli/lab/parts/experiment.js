// The experiment: its settings, as the query of the address, and back.
const lab = {
  ...data.lab,
  moves: "strafe",
  given: new Map(),
  at: [],
  points: "",
  team: [],
  controls: new Map(),
  number: 0,
  sent: 0,
  delays: [],
  socket: null,
  answered: 0,
  refused: -1,
  ended: false,
  networks: 1,
  taking: [],
  drawing: false,
  moving: true,
};

// Escape blanks and signs that have a meaning in a query, and leave the others readable.
const escapeWords = (words) =>
  encodeURIComponent(words).replace(/%(2B|2C|3B|2F|3A|3D|40)/g, decodeURIComponent);

// A strategy and its settings: NAME+key=value.
const writeMember = ({ name, settings }) =>
  [name, ...[...settings].map(([key, value]) => `${key}=${value}`)].join("+");

// The strategies of the query; of several with equal settings, one.
const listTeam = () => [...new Set(lab.team.map(writeMember))];

function readMember(words) {
  const [name, ...settings] = words.split(/\+(?=[A-Za-z_]\w*=)/);
  return {
    name,
    settings: new Map(
      settings.map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]),
    ),
  };
}

// Descriptions: entries key=value separated by commas; a value with a comma is in double quotes.
const quoteValue = (value) =>
  /[",]|^\s|\s$|^$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
const describe = (entries) =>
  entries
    .map(([key, value]) => (key ? `${key}=${quoteValue(value)}` : quoteValue(value)))
    .join(",");

function splitEntries(words) {
  const found = words.matchAll(/\s*(?:([^",=]+?)\s*=\s*)?("(?:[^"]|"")*"|[^",]*)\s*(?:,|$)/g);
  return [...found]
    .filter((one) => one[0])
    .map(([, key, value]) => [
      key || "",
      value.startsWith('"') ? value.slice(1, -1).replaceAll('""', '"') : value.trim(),
    ]);
}

// The key of an entry without one.
const named = { send: "send_rate", link: "preset" };

function writeQuery(networks = 1) {
  const described = { movement: [["", lab.moves]], send: [], link: [] },
    pairs = [];
  for (const [name, value] of lab.given) {
    const group = Object.keys(described).find((one) =>
      lab.groups[one].some((about) => about.name === name),
    );
    (group ? described[group] : pairs).push([name, value]);
  }
  for (const change of lab.at) described.link.push(["at", change]);
  pairs.unshift(
    ...Object.entries(described)
      .filter(([, entries]) => entries.length)
      .map(([key, entries]) => [key, describe(entries)]),
  );
  pairs.push(...listTeam().map((one) => ["s", one]));
  if (lab.points && lab.moves === "hand") pairs.push(["points", lab.points]);
  if (networks > 1) pairs.push(["networks", networks]);
  return pairs.map(([key, value]) => `${key}=${escapeWords(String(value))}`).join("&");
}

function readQuery(words) {
  const pairs = [...new URLSearchParams(words.replaceAll("+", "%2B"))];
  const listValues = (key) => pairs.filter(([one]) => one === key).map(([, value]) => value);
  const described = ["movement", "send", "link"].flatMap((group) =>
    listValues(group)
      .flatMap(splitEntries)
      .map(([key, value]) => [key || named[group] || "", value]),
  );
  lab.moves = described.filter(([key]) => !key).map(([, value]) => value)[0] || "strafe";
  lab.at = described.filter(([key]) => key === "at").map(([, value]) => value);
  lab.points = listValues("points")[0] || "";
  lab.team = (listValues("s").length ? listValues("s") : data.rows.map((one) => one.label)).map(
    readMember,
  );
  lab.given = new Map([
    ...described.filter(([key]) => key && key !== "at"),
    ...pairs.filter(
      ([key]) => !["movement", "send", "link", "points", "s", "networks"].includes(key),
    ),
  ]);
}

// Request the present experiment; the engine answers only the newest. Each state has a number, also
// while there is no engine: the page shows this state when the numbers are equal.
function askEngine() {
  lab.number++;
  if (!lab.socket || lab.socket.readyState !== WebSocket.OPEN) return markOutdated(true);
  document.body.classList.add("computing");
  state.awaits = true;
  lab.socket.send(JSON.stringify({ room: "experiment", query: writeQuery(), number: lab.number }));
}

// Handle a change of a setting; lab.sent is the time of the first change that is not shown yet.
function handleChange(done = true) {
  if (!lab.sent) lab.sent = performance.now();
  askEngine();
  clearTimeout(lab.settling);
  if (done) settleAddress();
  else lab.settling = setTimeout(settleAddress, 300, false);
}

// Update what need not follow every step of a slider: the address, and the visible controls. The
// browser's history has the settings before a drag, not each step of the slider.
function settleAddress(done = true) {
  const address = `?${writeQuery()}`;
  if (address !== location.search) {
    history[lab.moving ? "replaceState" : "pushState"](null, "", address + location.hash);
    lab.moving = true;
  }
  if (done) lab.moving = false;
  const simulated = lab.simulated.includes(lab.moves),
    computed = simulated && !["movement", "hand"].includes(lab.moves);
  for (const [name, { line }] of lab.controls) {
    const judges = name !== "seed" && lab.groups.score.some((about) => about.name === name),
      ofPath = ["speed", "size", "turning"].includes(name);
    line.hidden = !(judges || (ofPath ? computed : simulated));
    line.classList.toggle("given", lab.given.has(name));
  }
  for (const fold of $("lab-folds").children) {
    fold.hidden = !fold.querySelector(".control:not([hidden])");
    fold.classList.toggle("given", Boolean(fold.querySelector(".given")));
  }
  $("lab-lead").hidden = $("lab-changes").hidden = !simulated;
  $("lab-csv").hidden = lab.moves !== "hand";
  linkFiles();
}

// An export is of the experiment in the address, and waits until that is shown.
const isShown = () => lab.message?.number === lab.number;

function takeLink(one) {
  const typing = document.activeElement;
  if (typing.matches("input, textarea")) typing.blur(); // which sets the typed value
  settleAddress();
  lab.taking.push(one);
  takeLinks();
}

const isRefused = () => lab.refused === lab.number || lab.ended;

function takeLinks() {
  if (lab.taking.length && isRefused()) {
    lab.taking = [];
    notice(`nothing to export: ${$("lab-words").textContent}`);
  }
  // an export may set a typed value: then the others wait for that, too
  while (lab.taking.length && isShown()) lab.taking.shift()();
  if (lab.taking.length) notice("computing");
}

// The server makes files from their address on request, also for "save link as".
const FILES = {
  "lab-page": "lab.html",
  "lab-svg": "lab.svg",
  "lab-gif": "lab.gif",
  "lab-mp4": "lab.mp4",
  "lab-case": "lab-case.zip",
  "lab-csv": "by-hand.csv",
};
function linkFiles() {
  for (const [id, file] of Object.entries(FILES)) {
    const clip = /gif|mp4/.test(id) ? `&clip=${writeClipKeys()}` : "";
    if (isRefused()) $(id).removeAttribute("href");
    else $(id).href = `${file}?${writeQuery(id === "lab-page" ? lab.networks : 1)}${clip}`;
  }
}

function setValue(name, words, done) {
  if (words === null) lab.given.delete(name);
  else lab.given.set(name, words);
  handleChange(done);
}

const TYPING = 700; // milliseconds without a key before a typed value is set

function fillExperiment() {
  for (const [word, title] of Object.entries(data.lab.moves))
    addText("option", title, $("lab-moves")).value = word;
  const abouts = new Map(
    Object.values(lab.groups)
      .flat()
      .map((about) => [about.name, about]),
  );
  const add = (name, box) =>
    lab.controls.set(
      name,
      addControl(
        abouts.get(name),
        box,
        "lab",
        (words, done) => setValue(name, words, done),
        TYPING,
      ),
    );
  const moves = $("lab-front").firstElementChild;
  for (const name of lab.front) add(name, $("lab-front"));
  $("lab-front").append(moves);
  for (const [title, names] of Object.entries(lab.folds)) {
    const fold = addText("details", "", $("lab-folds"));
    addText("summary", title, fold);
    for (const name of names) add(name, fold);
  }
  for (const name of Object.keys(lab.strategies)) addText("option", name, $("lab-add"));
  for (const name of lab.languages) addText("option", name, $("lab-language"));
  $("above-box").append($("lab-refused"));
}

// Values of a setting other than its default, as text.
function listOtherValues(about) {
  const { kind, words, value } = about;
  if (kind === "switch") return [value === "on" ? "off" : "on"];
  if (kind === "choice") return words.filter((one) => one && one !== value);
  if (kind !== "number") return [];
  const places = [1, 2, 3, 4, 5, 6, 7].map((part) => (STOPS * part) / 8);
  const isNear = (place) => Math.abs(place - computePlace(about, parseNumber(value)));
  return places
    .sort((a, b) => isNear(a) - isNear(b))
    .map((place) => computeValue(about, place))
    .filter((one) => one !== parseNumber(value))
    .map((one) => formatValue(about, one));
}

// Return a strategy for the team, or a variant if it takes part already; null if there is none.
function chooseNewcomer(name) {
  const taken = new Set(listTeam());
  const settings = lab.strategies[name]?.settings || [];
  const variants = settings.flatMap((about) =>
    listOtherValues(about).map((value) => new Map([[about.name, value]])),
  );
  const free = [new Map(), ...variants].find(
    (one) => !taken.has(writeMember({ name, settings: one })),
  );
  return free ? { name, settings: free } : null;
}

// Show the strategies, each with all of its settings.
function fillTeam() {
  const open = [...document.querySelectorAll("#lab-team details")].map((one) => one.open);
  $("lab-team").replaceChildren();
  lab.team.forEach((one, place) => {
    const about = lab.strategies[one.name] || { settings: [] },
      box = addText("details", "", $("lab-team"), "member");
    box.open = open[place] || false;
    const summary = addText("summary", "", box),
      mark = addText("i", "", summary);
    mark.dataset.place = place;
    addText("span", "", summary);
    const bar = addText("div", "", box, "bar"),
      choice = addElement("select", bar, {
        "aria-label": `strategy ${place + 1}`,
        title: about.help || "",
      });
    for (const name of Object.keys(lab.strategies)) addText("option", name, choice);
    choice.value = one.name;
    choice.addEventListener("change", () => {
      lab.team[place] = chooseNewcomer(choice.value) || readMember(choice.value);
      handleTeamChange();
    });
    const remove = addText("button", "remove", bar),
      usual = addText("button", "defaults", bar);
    for (const button of [remove, usual]) button.type = "button";
    remove.setAttribute("aria-label", `remove ${one.name}`);
    remove.disabled = lab.team.length < 2;
    remove.addEventListener("click", () => {
      lab.team.splice(place, 1);
      handleTeamChange();
    });
    usual.addEventListener("click", () => {
      one.settings.clear();
      handleTeamChange();
    });
    for (const setting of about.settings) {
      const made = addControl(
        setting,
        box,
        `team${place}`,
        (words, done) => {
          if (words === null) one.settings.delete(setting.name);
          else one.settings.set(setting.name, words);
          made.line.classList.toggle("given", one.settings.has(setting.name));
          if (words === null) made.show(setting.value);
          handleChange(done);
        },
        TYPING,
      );
      made.line.classList.toggle("given", one.settings.has(setting.name));
      made.show(one.settings.get(setting.name) || setting.value);
    }
  });
  $("lab-add").hidden = lab.team.length >= lab.most;
  for (const one of $("lab-add").options) one.disabled = one.value && !chooseNewcomer(one.value);
  paintTeam();
}

function paintTeam() {
  const drawn = listTeam(),
    known = lab.team.map(writeMember);
  for (const mark of document.querySelectorAll("#lab-team i")) {
    const place = Number(mark.dataset.place),
      own = known[place],
      twin = known.indexOf(own) < place;
    mark.nextSibling.textContent = twin ? `${own} (as above)` : own;
    const row = !document.body.classList.contains("stale") && data.rows[drawn.indexOf(own)];
    mark.style.background =
      row && state.on.has(row.label) ? getLineColor(row.label) : getColor("--line");
  }
}

function handleTeamChange() {
  fillTeam();
  handleChange();
}

// Handle a frame of the engine (JSON and arrays); only those of the newest experiment count.
function receive(buffer) {
  state.awaits = false;
  const message = unpackFrame(buffer);
  if (message.number < lab.answered) return;
  lab.answered = message.number;
  if (message.kind !== "refused") return show(message);
  lab.refused = message.number;
  lab.sent = 0;
  refuse(message);
  if (message.number === lab.number && message.values) showValues(message.values, message.left_out);
  takeLinks();
}

// Gray out the drawing of another experiment, and show the error with its cure.
function refuse({ words, mended, left_out: wrong = [] }) {
  document.body.classList.remove("computing");
  markOutdated(true);
  lab.mended = mended;
  const cure = wrong.length ? `leave out ${wrong.join(", ")}` : "start again";
  $("lab-words").textContent = words;
  $("lab-mend").textContent = lab.ended ? "try again" : cure;
  $("lab-start").hidden = !lab.ended;
  $("lab-refused").hidden = false;
  $("lab-state").textContent = "the drawing is of an earlier experiment";
  linkFiles();
}

function markOutdated(on) {
  document.body.classList.toggle("stale", on);
  for (const one of document.querySelectorAll(
    ".verdict, aside, .lanes, .about, #lab-take p > code",
  ))
    one.inert = on;
  paintTeam();
}

// Show the values in force; a wrong value stays as it was typed, and is marked.
function showValues(values, wrong = []) {
  const bad = new Set(wrong.map((one) => one.slice(0, one.indexOf("="))));
  for (const [name, one] of lab.controls) {
    const given = bad.has(name) ? lab.given.get(name) : undefined;
    if ((given ?? values[name]) !== undefined) one.show(given ?? values[name]);
    one.line.querySelector("input, select").ariaInvalid = given === undefined ? null : "true";
    if (given !== undefined) one.line.closest("details")?.setAttribute("open", "");
  }
}

function show(message) {
  const before = data.scenes[state.scene],
    whole = state.window[0] === 0 && state.window[1] >= before.end - before.start - 1e-6;
  message.scenes.forEach(unpack);
  keepLags(data.scenes, message.scenes);
  data.styles = message.styles;
  rename(message.labels);
  data.scenes = message.scenes;
  fitTurns();
  if (message.kind === "figures") Object.assign(data, message, { shown: message.labels });
  else
    data.rows = message.labels.map((one, place) => ({
      ...(data.rows[place] || { cells: data.columns.map(() => ""), best: [] }),
      label: one,
    }));
  if (message.kind === "figures") overview.key = inset.key = ""; // not needed during a drag
  state.scene = Math.min(state.scene, data.scenes.length - 1);
  $("time").max = getDuration();
  fillEntities();
  const moved = lab.moves + ["speed", "size", "turning", "seed"].map((one) => lab.given.get(one));
  if (moved !== lab.moved) {
    lab.moved = moved;
    if (!lab.drawing && !$("follow").checked) showWholePath();
  }
  if (whole || state.window[1] > getDuration()) showTime(0, getDuration());
  if (lab.drawing) go(getDuration());
  else if (state.time > getDuration()) go(getDuration());
  if (message.kind === "figures") fillResult();
  if (message.kind === "figures" && message.number === lab.number)
    document.body.classList.remove("computing");
  markOutdated(false);
  $("lab-refused").hidden = true;
  if (message.number === lab.number) showValues(message.values);
  $("lab-line").textContent = message.command;
  $("lab-design").textContent = message.design;
  lab.networks = message.networks;
  if (!lab.message) setOff();
  lab.message = message;
  linkFiles();
  fillCode();
  redraw();
  takeLinks();
  const since = lab.sent;
  lab.sent = 0;
  requestAnimationFrame(() => {
    setTimeout(() => {
      // after the frame is painted
      if (since && lab.delays.push(performance.now() - since) > 2000) lab.delays.splice(0, 1000);
      const words =
        message.networks > 1
          ? `${message.networks} networks`
          : message.networks
            ? "one network"
            : "the recording";
      if ($("lab-state").textContent !== words) $("lab-state").textContent = words;
      $("lab-state").title = since ? `drawn after ${lab.delays.at(-1).toFixed(0)} ms` : "";
      document.body.dataset.lab = `${message.kind} ${message.number} ${message.networks}`;
    });
  });
}

// Start the playback, unless the address has a time, or the user prefers reduced motion.
function setOff() {
  state.loops = true;
  if (location.search.slice(1) === lab.opening) {
    const { line } = lab.controls.get("loss");
    line.classList.add("hint");
    line.addEventListener("input", () => line.classList.remove("hint"), { once: true });
  }
  if (wanted.has("t")) return;
  $("follow").checked = false;
  showWholePath();
  go(0);
  play(!matchMedia("(prefers-reduced-motion: reduce)").matches);
}

// Keep the old lag until the new one is known, which takes longest.
function keepLags(old, scenes) {
  scenes.forEach((one, i) =>
    one.drawn.forEach((drawn, place) => {
      const known = old[i]?.drawn[place];
      if (!drawn.lag.t.length && known) drawn.lag = known.lag;
      if (!drawn.recoveries.length)
        drawn.recoveries = one.interruptions.map((_, k) =>
          known ? (known.recoveries[k] ?? null) : null,
        );
      one.words ||= old[i]?.words;
    }),
  );
}

// Settings are part of a strategy's name: keep strategies switched off that were so.
function rename(labels) {
  const old = data.rows.map((one) => one.label);
  const off = new Set(
    labels.filter((_, place) => old.length === labels.length && !state.on.has(old[place])),
  );
  state.on = new Set(labels.filter((one) => !off.has(one)));
  data.shown = labels;
}

function fillResult() {
  for (const id of ["verdict", "detail-list", "notes", "facts", "meanings"])
    $(id).replaceChildren();
  fillWords();
  offerWorst();
  fillFigures();
  const score =
    2 + data.columns.filter((one) => one.brief).findIndex((one) => one.title === "score");
  [...$("figures").tBodies[0].rows].forEach((row, place) => {
    row.querySelector(".likely")?.remove();
    if (score > 1 && data.likely[place])
      addText("span", ` ${data.likely[place]}`, row.cells[score], "unit likely");
  });
  fillRecoveries();
  for (const [picture, description] of Object.entries(getScene().words || {}))
    $(`${picture}-words`).textContent = description;
}

// Make the worst network in the verdict a button that shows it.
function offerWorst() {
  for (const line of $("verdict").children) {
    const found = /Worst of \d+ networks: (seed (\d+))/.exec(line.textContent);
    if (!found) continue;
    const words = line.firstChild.splitText(line.textContent.indexOf(found[1], found.index));
    words.splitText(found[1].length);
    const button = addText("button", found[1], line, "jump");
    button.type = "button";
    button.title = "Show this network";
    words.replaceWith(button);
    button.addEventListener("click", () => {
      setValue("seed", found[2], true);
      notice(`the network of ${found[1]}`);
    });
  }
}

// A movement drawn with the mouse or a finger, computed while it is drawn; then the start of the page.
const APART = 15; // milliseconds from one point to the next

function toggleHandDrawing(on) {
  $("lab-draw").setAttribute("aria-pressed", String(on));
  document.body.classList.toggle("drawing", on);
  if (on) {
    play(false);
    $("follow").checked = false;
    Object.assign(lab, { path: [], begun: null, spot: null });
    $("above-box").focus({ preventScroll: true });
    say("drag on the map, or use the arrow keys, then Enter");
  }
}

function addPoint(event) {
  const now = performance.now();
  if (lab.path.length && now - lab.last < APART) return;
  lab.begun ??= now;
  lab.last = now;
  drawTo((now - lab.begun) / 1000, ...map.pointOn(event));
}

// Fix the origin of the path, since the view's center moves while it is drawn.
const beginPath = () =>
  Object.assign(lab, { path: [], begun: null, drawing: true, origin: [...getScene().origin] });

function endPath() {
  lab.drawing = false;
  toggleHandDrawing(false);
  handleChange();
  go(0);
  play(true);
}

// Add a point to the path: seconds, and pixels on the map.
function drawTo(seconds, left, top) {
  const [originX, originY] = lab.origin;
  const x = map.x + (left - map.frame.middleX) / map.scale,
    y = map.y - (top - map.frame.middleY) / map.scale;
  lab.path.push([seconds, x + originX, y + originY].map((one) => Number(one.toFixed(4))).join(","));
  if (lab.path.length < 3 || lab.path.length > 2000) return;
  lab.points = lab.path.join(";");
  lab.moves = $("lab-moves").value = "hand";
  handleChange(false);
}

const above = $("above-box");
function isHandDrawing(event) {
  if (!document.body.classList.contains("drawing") || event.target !== $("above")) return false;
  event.stopPropagation();
  event.preventDefault();
  return true;
}
above.addEventListener(
  "pointerdown",
  (event) => {
    if (!isHandDrawing(event)) return;
    $("above").setPointerCapture(event.pointerId);
    beginPath();
    addPoint(event);
  },
  true,
);
above.addEventListener(
  "pointermove",
  (event) => {
    if (lab.drawing && isHandDrawing(event)) addPoint(event);
  },
  true,
);
for (const kind of ["pointerup", "pointercancel"]) {
  above.addEventListener(
    kind,
    (event) => {
      if (!lab.drawing || !isHandDrawing(event)) return;
      endPath();
    },
    true,
  );
}

// With the keys: each press moves a stride in the direction of all held keys, in equal time.
const STRIDE = 12, // pixels
  STRIDES = 20; // a second
const ARROWS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
const arrowsDown = new Set();
addEventListener("keyup", ({ key }) => arrowsDown.delete(key));
addEventListener("blur", () => arrowsDown.clear());
above.addEventListener(
  "keydown",
  (event) => {
    const { key } = event,
      way = ARROWS[key];
    if (!document.body.classList.contains("drawing")) return;
    if (!way && !["Enter", "Escape"].includes(key)) return;
    event.stopPropagation();
    event.preventDefault();
    if (!way) return lab.spot ? endPath() : toggleHandDrawing(false);
    if (!lab.spot) {
      beginPath();
      lab.spot = [map.frame.middleX, map.frame.middleY];
      drawTo(0, ...lab.spot);
    }
    arrowsDown.add(key);
    for (const each of arrowsDown)
      for (const axis of [0, 1])
        lab.spot[axis] += (event.shiftKey ? 3 : 1) * STRIDE * ARROWS[each][axis];
    drawTo(lab.path.length / STRIDES, ...lab.spot);
  },
  true,
);

$("lab-draw").addEventListener("click", () =>
  toggleHandDrawing($("lab-draw").getAttribute("aria-pressed") !== "true"),
);
$("lab-moves").addEventListener("change", () => {
  const moves = $("lab-moves").value;
  if (moves === "hand" && !lab.points) {
    $("lab-moves").value = lab.moves; // until a movement is drawn
    return toggleHandDrawing(true);
  }
  lab.moves = moves;
  handleChange();
});
const setChanges = (done) => {
  lab.at = $("lab-at")
    .value.split(/[\n;]/)
    .map((one) => one.trim())
    .filter(Boolean);
  handleChange(done);
};
applyTyped($("lab-at"), $("lab-changes"), setChanges, TYPING);
$("lab-to-take").addEventListener("click", () => {
  $("lab-take").scrollIntoView();
  $("lab-take").focus({ preventScroll: true });
});
for (const [id, line] of Object.entries({
  "lab-copy": "lab-line",
  "lab-design-copy": "lab-design",
}))
  $(id).addEventListener("click", () => takeLink(() => copy($(line))));
for (const id of Object.keys(FILES)) {
  // the file is made on request; a click that has to wait is repeated
  $(id).addEventListener("click", (event) => {
    let [taken, waits] = [false, false];
    takeLink(() => {
      linkFiles();
      taken = true;
      if (waits) queueMicrotask(() => $(id).click()); // a click within a click has no effect
    });
    if (taken) return;
    waits = true;
    event.preventDefault();
  });
}

// Return the seconds that the charts show, and the speed, as keys of --video.
function writeClipKeys() {
  const [from, to] = state.window.map((one) => (getScene().start + one).toFixed(3)),
    dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const part =
    state.window[1] - state.window[0] < getDuration() - data.tick
      ? [`from=${from}`, `to=${to}`]
      : [];
  return escapeWords(
    [...part, `speed=${$("speed").value}`, `theme=${dark ? "dark" : "light"}`].join(","),
  );
}

$("lab-add").addEventListener("change", () => {
  const one = chooseNewcomer($("lab-add").value);
  $("lab-add").value = "";
  if (!one) return;
  lab.team.push(one);
  handleTeamChange();
  const [setting] = one.settings.keys(); // the setting of a variant gets the focus
  if (!setting) return;
  $("lab-team").lastChild.open = true;
  const line = $(`team${lab.team.length - 1}-${setting}`).parentElement;
  (line.querySelector("[type=range]") || line.querySelector("input, select")).focus();
});
// keys in a control are not shortcuts of the page
for (const box of [$("lab"), $("lab-take")])
  box.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select, textarea, pre")) event.stopPropagation();
  });
$("figures").addEventListener("change", () => paintTeam());

// Show the code of a participant with its settings.
async function fillCode() {
  const box = $("lab-code-of"),
    names = listTeam();
  if (names.join() !== [...box.options].map((one) => one.value).join()) {
    const place = Math.max(0, box.selectedIndex);
    box.replaceChildren();
    for (const name of names) addText("option", name, box);
    box.selectedIndex = Math.min(place, names.length - 1);
  }
  const link = `smoothing.txt?lang=${$("lab-language").value}&s=${escapeWords(box.value)}`;
  if (!$("lab-code-box").open || $("lab-code-file").getAttribute("href") === link) return;
  $("lab-code-file").href = link;
  const { name } = readMember(box.value);
  if (!lab.coded.includes(name)) {
    $("lab-code").textContent =
      `cannot write code for ${name}: choose from ${lab.coded.join(", ")}`;
    return;
  }
  const answer = await fetch(link).then(
    (one) => one.text(),
    () => "epic lab has ended: start it again",
  );
  if ($("lab-code-file").getAttribute("href") === link) $("lab-code").textContent = answer;
}
$("lab-code-box").addEventListener("toggle", fillCode);
for (const id of ["lab-code-of", "lab-language"]) $(id).addEventListener("change", fillCode);
$("lab-code-copy").addEventListener("click", () => copy($("lab-code")));

function begin() {
  // discard a value being typed, which belongs to the experiment before
  const focused = document.activeElement;
  if (focused.matches("#lab :is(input, textarea)")) {
    const swallow = (event) => event.stopPropagation();
    addEventListener("change", swallow, true);
    focused.value = "";
    focused.blur();
    removeEventListener("change", swallow, true);
    focused.closest(".typed")?.classList.remove("typed");
  }
  readQuery(location.search || lab.opening);
  $("lab-moves").value = lab.moves;
  $("lab-at").value = lab.at.join("\n");
  $("lab-changes").open = lab.at.length > 0;
  fillTeam();
  lab.moving = true; // replace the address instead of adding one
  settleAddress();
  markOutdated(location.search.slice(1) !== lab.opening);
  askEngine();
}
function beginWith(words) {
  history.pushState(null, "", `?${words}`);
  begin();
}
$("lab-again").addEventListener("click", () => beginWith(lab.opening));
$("lab-mend").addEventListener("click", () =>
  lab.ended ? reconnect() : beginWith(lab.mended || lab.opening),
);
$("lab-start").addEventListener("click", () => {
  const quote = (words) => `'${words.replaceAll("'", "'\\''")}'`,
    team = quote(lab.team.map(writeMember).join(","));
  $("lab-start-line").textContent = `${lab.start} -s ${team} --experiment ${quote(writeQuery())}`;
  copy($("lab-start-line"));
});

fillExperiment();
begin();
const reconnect = talk({
  opened: (socket) => {
    Object.assign(lab, { socket, ended: false });
    askEngine();
  },
  received: (frame) => receive(frame),
  closed: () => {
    Object.assign(lab, { socket: null, ended: true });
    state.awaits = false;
    refuse({ words: "epic lab has ended: the drawing is its last one" });
    takeLinks();
  },
});
addEventListener("popstate", begin);
