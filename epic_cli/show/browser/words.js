// The tables and the texts.

// Write a name that can be broken before each of its settings.
function writeName(label, parent) {
  const words = document.createElement("span");
  label
    .split(/(?=\+)/)
    .forEach((part, i) => words.append(...(i ? [document.createElement("wbr"), part] : [part])));
  parent.append(words);
}

// Explain a figure: the guide's row in a tooltip, and a link to the same row on this page.
function explain(node, metric) {
  const column = data.columns.find((one) => one.name === metric);
  if (!column) return;
  node.title = `${column.title}: ${column.meaning} ("${metric}" in the guide "What the figures mean")`;
  if (node.matches("a")) node.href = `#meaning-${metric}`;
}
document.addEventListener("click", (event) => {
  const link = event.target.closest("a.why[href]");
  if (!link) return;
  event.preventDefault(); // the address holds the moment
  $("figure-box").open = true;
  const row = $(link.hash.slice(1));
  row.scrollIntoView({ block: "center" });
  row.focus({ preventScroll: true });
});

function fillHeads(table, columns, first) {
  const head = document.createElement("tr");
  for (const column of [...first, ...columns]) {
    const cell = addText("th", column.name ? "" : column.title, head);
    cell.scope = "col";
    if (column.name) explain(addText("a", column.title, cell, "why"), column.name);
    else if (column.meaning) cell.title = column.meaning;
  }
  table.tHead.replaceChildren(head);
}

function addRowHead(parent) {
  const cell = addText("th", "", parent);
  cell.scope = "row";
  return cell;
}

const SVG = document.documentElement.namespaceURI.replace("1999/xhtml", "2000/svg");

// Return a sample of a line with the color and dashes of the pictures.
function drawSwatch(label, on) {
  const [space, shape] = ["svg", "path"].map((tag) => document.createElementNS(SVG, tag));
  space.setAttribute("aria-hidden", "true");
  shape.setAttribute("d", "M1 5h24");
  shape.setAttribute("stroke", on ? getLineColor(label) : getColor("--soft"));
  shape.setAttribute("stroke-width", on ? "3.5" : "1");
  shape.setAttribute("stroke-dasharray", on ? getDashes(label).join(" ") : "");
  space.append(shape);
  return space;
}

// Fill the table of figures; rows are made again only if the participants have changed.
function fillFigures() {
  const brief = [...data.columns.keys()].filter((i) => data.columns[i].brief);
  const [few, all] = ["figures", "all"].map((id) => $(id).tBodies[0].rows);
  const same =
    few.length === data.rows.length &&
    data.rows.every(({ label: own }, place) => few[place].dataset.label === own) &&
    $("all").tHead.rows[0]?.cells.length === data.columns.length + 1;
  if (!same) fillRows(brief);
  data.rows.forEach((row, place) => {
    brief.forEach((i, k) => fillCell(few[place].cells[2 + k], row, i));
    row.cells.forEach((_, i) => fillCell(all[place].cells[1 + i], row, i));
  });
}

function fillCell(cell, { label: own, cells, best, maybe }, i) {
  const jump = cell.querySelector("button");
  (jump || cell).textContent = cells[i];
  jump?.setAttribute("aria-label", `${cells[i]}: go to the worst moment of ${own}`);
  cell.classList.toggle("best", Boolean(best[i]));
  cell.classList.toggle("maybe", Boolean(maybe) && data.columns[i].name === "score");
}

function fillRows(brief) {
  const now = { title: "now", meaning: "The error at this moment" };
  const columns = brief.map((i) => data.columns[i]);
  fillHeads($("figures"), columns, [{ title: "strategy" }, now]);
  fillHeads($("all"), data.columns, [{ title: "strategy" }]);
  const [few, all] = ["figures", "all"].map((id) => $(id).tBodies[0]);
  few.replaceChildren();
  all.replaceChildren();
  for (const { label: own, cells } of data.rows) {
    const line = addText("tr", "", few);
    line.dataset.label = own;
    const switched = addText("label", "", addRowHead(line)),
      box = addElement("input", switched, { type: "checkbox" });
    box.addEventListener("change", () => turnStrategy(own, box.checked));
    switched.append(drawSwatch(own, false));
    writeName(own, switched);
    addText("td", "", line, "now");
    for (const { title, name: metric } of columns) {
      const cell = addText("td", "", line);
      explain(cell, metric);
      if (title !== "max") continue;
      const jump = addElement("button", cell, {
        type: "button",
        class: "jump",
        title: `Go to the worst moment of ${own}`,
      });
      jump.addEventListener("click", () => goToWorst(own));
    }
    const full = addText("tr", "", all);
    writeName(own, addRowHead(full));
    cells.forEach((_, i) => explain(addText("td", "", full), data.columns[i].name));
  }
  const rest = data.rows.filter((row) => !state.on.has(row.label)).map((row) => row.label);
  const foldLegend = (open) => {
    for (const line of few.rows)
      line.classList.toggle("folded", !open && rest.includes(line.dataset.label));
    $("more").setAttribute("aria-expanded", String(open));
    $("more").textContent = open ? "only the best" : `show ${rest.length} more`;
  };
  $("more").hidden = !rest.length;
  $("more").onclick = () => foldLegend($("more").getAttribute("aria-expanded") !== "true");
  foldLegend(false);
  paintFigures();
}

function turnStrategy(label, on) {
  if (on) state.on.add(label);
  else state.on.delete(label);
  paintFigures();
  fillRecoveries();
  rememberPlace();
  redraw();
}

// Update the lines' colors and the switches.
function paintFigures() {
  for (const line of $("figures").tBodies[0].rows) {
    const { label } = line.dataset,
      on = state.on.has(label);
    line.classList.toggle("off", !on);
    line.querySelector("input").checked = on;
    line.querySelector("svg").replaceWith(drawSwatch(label, on));
  }
}

let updated = 0;
function updateNow() {
  // figures that change sixty times a second are unreadable
  if (state.playing && performance.now() - updated < 150) return;
  updated = performance.now();
  const byLabel = new Map(getScene().drawn.map((one) => [one.label, one]));
  for (const line of $("figures").tBodies[0].rows) {
    const one = byLabel.get(line.dataset.label);
    const error = one ? findError(one, settleTime(state.time)) : NaN;
    line.cells[1].textContent = !Number.isNaN(error) ? formatShort(error) : "-";
  }
}

const findStatus = (one, time) =>
  time > one.t[one.t.length - 1] + data.tick
    ? ""
    : { 0: "none", 1: "held", 2: "interp.", 3: "extrap." }[
        one.runs.status[rowAt(one.runs.t, time)]
      ] || "none";

// Format three digits, as in the table.
function formatShort(value) {
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  if (size >= 3 && size < 7) return Number(value.toPrecision(3)).toLocaleString("en");
  return size > -4 && size < 7 ? value.toFixed(2 - size) : value.toExponential(2);
}

// Fill the table of recoveries: a row for each strategy, for as many interruptions as fit.
function fillRecoveries() {
  const { interruptions, start } = getScene(),
    shown = listVisible();
  $("recovery").hidden = !interruptions.length || !shown.length;
  if ($("recovery").hidden) return;
  const most = Math.max(1, Math.min(6, Math.floor(($("recovery").clientWidth - 120) / 66)));
  // the longest, in order of time
  const measureLength = (i) => interruptions[i].end - interruptions[i].start;
  const longest = [...interruptions.keys()]
    .sort((a, b) => measureLength(b) - measureLength(a))
    .slice(0, most)
    .sort((a, b) => a - b);
  fillHeads($("recoveries"), [], [{ title: "after" }]);
  for (const i of longest) {
    const one = interruptions[i];
    const words =
      one.kind === "teleport" ? "teleport" : `${one.kind} of ${(one.end - one.start).toFixed(2)} s`;
    const cell = addText("th", "", $("recoveries").tHead.rows[0]);
    cell.scope = "col";
    const jump = addText("button", `${words} at ${(start + one.start).toFixed(2)} s`, cell, "jump");
    jump.type = "button";
    jump.addEventListener("click", () => {
      showTime(one.start - 2, one.end + 6);
      go(one.end);
    });
  }
  $("recoveries").tBodies[0].replaceChildren();
  for (const drawn of shown) {
    const line = addText("tr", "", $("recoveries").tBodies[0]);
    writeName(drawn.label, addRowHead(line));
    for (const i of longest)
      addText("td", drawn.recoveries[i] === null ? "-" : drawn.recoveries[i].toFixed(2), line);
  }
  const rest = interruptions.length - longest.length;
  $("recovery-rest").textContent = rest
    ? `the longest ${longest.length}; there are ${rest} more`
    : "";
}

function fillWords() {
  $("title").textContent = data.title;
  // safe: the program made this markup, with names escaped
  $("scores").hidden = !data.scores;
  $("scores").firstElementChild.innerHTML = data.scores;
  $("truth-name").textContent = data.truth;
  $("pictured").textContent = data.of && `The pictures are of ${data.of}; the figures of all.`;
  data.verdict.slice(0, 1).forEach((line) => addText("p", line, $("verdict")));
  if (data.verdict.length > 1) addText("p", data.verdict.slice(1).join(" "), $("verdict"));
  for (const line of data.details) addText("li", line, $("detail-list"));
  $("details").hidden = !data.details.length;
  for (const line of data.notes) addText("li", line, $("notes"));
  $("note-box").hidden = !data.notes.length;
  for (const [term, words] of data.facts) {
    addText("dt", term, $("facts"));
    addText("dd", words, $("facts"));
  }
  $("facts-brief").textContent = data.facts
    .filter(([term]) => /^(Packets|Network)/.test(term))
    .slice(0, 2)
    .map(([, words]) => words)
    .join("; ");
  $("figure-box").hidden = !data.columns.length;
  for (const column of data.columns) {
    const row = addText("dt", column.title, $("meanings"));
    row.id = `meaning-${column.name}`;
    row.tabIndex = -1;
    addText("dd", `${column.meaning} ("${column.name}" in the guide)`, $("meanings"));
  }
  for (const link of document.querySelectorAll("[data-metric]")) explain(link, link.dataset.metric);
}

function fillEntities() {
  const names = data.scenes.map((one) => one.entity || "(no name)"),
    box = $("entity");
  $("entity-choice").hidden = names.length < 2;
  if (names.join("\n") === [...box.options].map((one) => one.textContent).join("\n")) return;
  box.replaceChildren();
  names.forEach((one, index) => {
    addText("option", one, box).value = index;
  });
  box.value = state.scene;
}

// Show reports (HTML made by the program, with names escaped) with buttons that copy commands.
function fillReports() {
  $("lead").hidden = !data.lead;
  $("lead").innerHTML = data.lead;
  $("diagnosis-box").hidden = !data.diagnoses.length;
  $("diagnoses").innerHTML = data.diagnoses.join("");
  for (const code of document.querySelectorAll("#lead code")) {
    const button = addText("button", "copy", code.parentElement);
    const where = code.parentElement.previousElementSibling.textContent;
    button.type = "button";
    button.setAttribute("aria-label", `Copy the command of ${where}`);
    button.addEventListener("click", () => copy(code));
  }
}

// Copy a text if the browser allows it; otherwise select it for copying by hand.
function copy(code) {
  getSelection().selectAllChildren(code);
  const announceSelected = () => notice("selected: copy it with your keys");
  if (!navigator.clipboard) return announceSelected();
  navigator.clipboard.writeText(code.textContent).then(() => notice("copied"), announceSelected);
}

const MOST_LINES = 12;

function describeLane(lane, time) {
  const lines = [formatClock(time)];
  if (lane === "packets") return lines.concat(describePackets(time));
  const values = listVisible().map((one) => {
    const row = rowAt(one.t, time),
      lag = one.lag.seconds[findNearestRow(one.lag.t, time)];
    if (lane === "lag")
      return [
        !Number.isNaN(lag) ? -lag : Infinity,
        `${one.label}  ${!Number.isNaN(lag) ? `${(1000 * lag).toFixed(0)} ms` : "not clear"}`,
      ];
    if (lane === "angle") {
      const angle = one.angle ? one.angle[row] : NaN;
      return !Number.isNaN(angle)
        ? [-angle, `${one.label}  ${formatShort(angle)}\u00b0`]
        : [Infinity, `${one.label}  -`];
    }
    const error = findError(one, time);
    const words =
      lane === "status" ? findStatus(one, time) : !Number.isNaN(error) ? formatShort(error) : "-";
    return [
      !Number.isNaN(error) ? -error : Infinity,
      `${one.label}  ${words}${lane === "error" && !Number.isNaN(error) && Number.isNaN(one.error[row]) ? " (does not count)" : ""}`,
    ];
  });
  if (lane !== "status") values.sort(([a], [b]) => a - b);
  lines.push(...values.slice(0, MOST_LINES).map(([, words]) => words));
  if (values.length > MOST_LINES) lines.push(`and ${values.length - MOST_LINES} more`);
  return lines;
}

function describePackets(time) {
  const { packets, lost } = getScene(),
    lines = [];
  const near = findNearestRow(packets.t, time),
    missing = findNearestRow(lost.t, time);
  if (lost.t.length && Math.abs(lost.t[missing] - time) < Math.abs(packets.t[near] - time))
    return [`lost: sent about ${formatClock(lost.t[missing])}`];
  if (packets.t.length) lines.push(describePacket(near));
  return lines;
}

function describePacket(i) {
  const { packets } = getScene(),
    arrived = packets.arrival[i];
  const sent = `packet sent ${formatClock(packets.t[i])}`;
  return !Number.isNaN(arrived)
    ? `${sent}\narrived ${formatClock(arrived)}, took ${(1000 * (arrived - packets.t[i])).toFixed(0)} ms`
    : sent;
}

// Return the text about the nearest line or packet on the path.
function describePath(x, y) {
  if (!map.frame) return [];
  const { toX, toY } = map.frame,
    found = { apart: 14, words: [] };
  const look = (px, py, words) => {
    const apart = Math.hypot(px - x, py - y);
    if (apart < found.apart) Object.assign(found, { apart, words: words() });
  };
  const { packets, lost } = getScene(),
    trail = Number($("trail").value);
  for (let i = 0; i < lost.t.length; i++)
    look(toX(lost.x[i]), toY(lost.y[i]), () => [`lost: sent about ${formatClock(lost.t[i])}`]);
  for (let i = 0; i < packets.t.length; i++)
    look(toX(packets.x[i]), toY(packets.y[i]), () => [describePacket(i)]);
  for (const strategy of listVisible()) {
    const [first, last] = selectTrailRows(strategy, state.time, trail);
    for (let i = first; i <= last; i++) {
      look(toX(strategy.x[i]), toY(strategy.y[i]), () => [
        strategy.label,
        `${formatClock(strategy.t[i])}, ${findStatus(strategy, strategy.t[i])}`,
        `${formatShort(strategy.distance[i])} from the ${data.truth}`,
      ]);
    }
  }
  nameLine(found.words.length > 1 ? found.words[0] : "");
  return found.words;
}
