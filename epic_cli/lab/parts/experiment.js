// The experiment: what has been set, as the query of the address, and back.
const lab = {
  ...data.lab, moves: "strafe", given: new Map(), at: [], points: "", team: [], controls: new Map(),
  number: 0, sent: 0, delays: [], socket: null, answered: 0, networks: 1,
};

// Blanks and signs that mean something in a query are escaped, the others can be read.
const escaped = (words) => encodeURIComponent(words).replace(/%(2B|2C|3B|2F|3A|3D|40)/g, decodeURIComponent);

// A strategy and its settings: NAME+key=value.
const member = ({ name, settings }) => [name, ...[...settings].map(([key, value]) => `${key}=${value}`)].join("+");

function readMember(words) {
  const [name, ...settings] = words.split(/\+(?=[A-Za-z_]\w*=)/);
  return { name, settings: new Map(settings.map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)])) };
}

function query(networks = 1) {
  const pairs = [["path", lab.moves], ...lab.given, ...lab.at.map((one) => ["at", one]), ...lab.team.map((one) => ["s", member(one)])];
  if (lab.points && lab.moves === "hand") pairs.push(["points", lab.points]);
  if (networks > 1) pairs.push(["networks", networks]);
  return pairs.map(([key, value]) => `${key}=${escaped(String(value))}`).join("&");
}

function readQuery(words) {
  const pairs = [...new URLSearchParams(words.replaceAll("+", "%2B"))];
  const all = (key) => pairs.filter(([one]) => one === key).map(([, value]) => value);
  lab.moves = all("path")[0] || "strafe";
  lab.at = all("at");
  lab.points = all("points")[0] || "";
  lab.team = (all("s").length ? all("s") : data.rows.map((one) => one.label)).map(readMember);
  lab.given = new Map(pairs.filter(([key]) => !["path", "at", "points", "s", "networks"].includes(key)));
}

// Asks for the experiment as it is now; the engine answers the newest alone.
function ask() {
  if (!lab.socket || lab.socket.readyState !== WebSocket.OPEN) return;
  lab.number++;
  document.body.classList.add("computing");
  lab.socket.send(JSON.stringify({ room: "experiment", query: query(), number: lab.number }));
}

// Something has been set: lab.sent is when the first change that has not been shown yet was made.
function changed(done = true) {
  if (!lab.sent) lab.sent = performance.now();
  ask();
  clearTimeout(lab.settling);
  if (done) settle(); else lab.settling = setTimeout(settle, 300);
}

// What need not follow every step of a slider: the address, and who depends on what.
function settle() {
  history.replaceState(null, "", `?${query()}${location.hash}`);
  const simulated = lab.simulated.includes(lab.moves), computed = simulated && !["movement", "hand"].includes(lab.moves);
  for (const [name, box] of lab.boxes) box.hidden = !simulated && name !== "score";
  for (const name of ["speed", "size", "turning"]) lab.controls.get(name).line.hidden = !computed;
  $("lab-at").disabled = !simulated;
  $("lab-csv").hidden = lab.moves !== "hand";
  for (const [name, one] of lab.controls) one.line.classList.toggle("given", lab.given.has(name));
}

function set(name, words, done) {
  if (words === null) lab.given.delete(name); else lab.given.set(name, words);
  changed(done);
}

function fillExperiment() {
  for (const [word, title] of Object.entries(lab.moveNames)) text("option", title, $("lab-moves")).value = word;
  lab.boxes = new Map();
  for (const [group, abouts] of Object.entries(lab.groups)) {
    const box = text("details", "", $("lab-groups"));
    box.open = group !== "sender";
    text("summary", group, box);
    lab.boxes.set(group, box);
    for (const about of abouts) lab.controls.set(about.name, control(about, box, "lab", (words, done) => set(about.name, words, done)));
  }
}

// The strategies: each with all of its settings.
function fillTeam() {
  const open = [...document.querySelectorAll("#lab-team details")].map((one) => one.open);
  $("lab-team").replaceChildren();
  lab.team.forEach((one, place) => {
    const about = lab.strategies[one.name], box = text("details", "", $("lab-team"), "member");
    if (!about) return;
    box.open = open[place] || false;
    const summary = text("summary", "", box), mark = text("i", "", summary);
    mark.dataset.place = place;
    summary.append(one.name);
    const bar = text("div", "", box, "bar"), choice = element("select", bar, { "aria-label": `strategy ${place + 1}`, title: about.help });
    for (const name of Object.keys(lab.strategies)) text("option", name, choice);
    choice.value = one.name;
    choice.addEventListener("change", () => { lab.team[place] = { name: choice.value, settings: new Map() }; teamChanged(); });
    const remove = text("button", "remove", bar), usual = text("button", "defaults", bar);
    for (const button of [remove, usual]) button.type = "button";
    remove.setAttribute("aria-label", `remove ${one.name}`);
    remove.disabled = lab.team.length < 2;
    remove.addEventListener("click", () => { lab.team.splice(place, 1); teamChanged(); });
    usual.addEventListener("click", () => { one.settings.clear(); teamChanged(); });
    for (const setting of about.settings) {
      const made = control(setting, box, `team${place}`, (words, done) => {
        if (words === null) one.settings.delete(setting.name); else one.settings.set(setting.name, words);
        made.line.classList.toggle("given", one.settings.has(setting.name));
        if (words === null) made.show(setting.value);
        changed(done);
      });
      made.line.classList.toggle("given", one.settings.has(setting.name));
      made.show(one.settings.get(setting.name) || setting.value);
    }
  });
  $("lab-add").hidden = lab.team.length >= lab.most;
  paintTeam();
}

function paintTeam() {
  for (const mark of document.querySelectorAll("#lab-team i")) {
    const row = data.rows[Number(mark.dataset.place)];
    mark.style.background = row && state.on.has(row.label) ? lineColor(row.label) : color("--line");
  }
}

function teamChanged() {
  fillTeam();
  changed();
}
