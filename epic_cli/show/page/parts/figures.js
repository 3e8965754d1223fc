// The tables and the words.
// A long name may be broken before each of its settings.
function name(label, parent) {
  const words = document.createElement("span");
  label.split(/(?=\+)/).forEach((part, i) => words.append(...(i ? [document.createElement("wbr"), part] : [part])));
  parent.append(words);
}

function heads(table, columns, first) {
  const head = document.createElement("tr");
  for (const column of [...first, ...columns]) {
    const cell = text("th", column.title, head);
    cell.scope = "col";
    if (column.meaning) cell.title = column.meaning;
  }
  table.tHead.replaceChildren(head);
}

function rowHead(parent) {
  const cell = text("th", "", parent);
  cell.scope = "row";
  return cell;
}

// A line as long as the key's, in the colour and with the dashes that it has in the pictures.
function swatch(label, on) {
  const [space, shape] = [["svg", {}], ["path", { d: "M1 5h24" }]].map(([tag, attributes]) => {
    const element = document.createElementNS(document.documentElement.namespaceURI.replace("1999/xhtml", "2000/svg"), tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  });
  space.setAttribute("aria-hidden", "true");
  shape.setAttribute("stroke", on ? lineColor(label) : color("--soft"));
  shape.setAttribute("stroke-width", on ? "3.5" : "1");
  shape.setAttribute("stroke-dasharray", on ? dashes(label).join(" ") : "");
  space.append(shape);
  return space;
}

function fillFigures() {
  const brief = data.columns.map((column, i) => [column, i]).filter(([column]) => column.brief);
  heads($("figures"), brief.map(([column]) => column), [{ title: "strategy" }, { title: "now", meaning: "The error at this moment" }]);
  heads($("all"), data.columns, [{ title: "strategy" }]);
  for (const row of data.rows) {
    const line = document.createElement("tr");
    line.dataset.label = row.label;
    const switched = text("label", "", rowHead(line)), box = document.createElement("input");
    box.type = "checkbox";
    box.addEventListener("change", () => turn(row.label, box.checked));
    switched.append(box, swatch(row.label, false));
    name(row.label, switched);
    text("td", "", line, "now");
    for (const [column, i] of brief) {
      const cell = text("td", "", line, row.best[i] ? "best" : "");
      if (column.title === "max") text("button", row.cells[i], cell, "jump").addEventListener("click", () => goToWorst(row.label));
      else cell.textContent = row.cells[i];
    }
    for (const jump of line.querySelectorAll(".jump")) {
      jump.type = "button";
      jump.title = `Go to the worst moment of ${row.label}`;
      jump.setAttribute("aria-label", `${jump.textContent}: go to the worst moment of ${row.label}`);
    }
    $("figures").tBodies[0].append(line);
    const full = document.createElement("tr");
    name(row.label, rowHead(full));
    row.cells.forEach((words, i) => text("td", words, full, row.best[i] ? "best" : ""));
    $("all").tBodies[0].append(full);
  }
  const rest = data.rows.filter((row) => !state.on.has(row.label)).map((row) => row.label);
  const fold = (open) => {
    for (const line of $("figures").tBodies[0].rows) line.classList.toggle("folded", !open && rest.includes(line.dataset.label));
    $("more").setAttribute("aria-expanded", String(open));
    $("more").textContent = open ? "only the best" : `show ${rest.length} more`;
  };
  $("more").hidden = !rest.length;
  $("more").onclick = () => fold($("more").getAttribute("aria-expanded") !== "true");
  fold(false);
  paintFigures();
}

function turn(label, on) {
  if (on) state.on.add(label); else state.on.delete(label);
  paintFigures();
  fillRecoveries();
  rememberPlace();
  redraw();
}

// The lines' colours, and who is switched on.
function paintFigures() {
  for (const line of $("figures").tBodies[0].rows) {
    const { label } = line.dataset, on = state.on.has(label);
    line.classList.toggle("off", !on);
    line.querySelector("input").checked = on;
    line.querySelector("svg").replaceWith(swatch(label, on));
  }
}

let updated = 0;
function updateNow() {
  // figures that change sixty times a second cannot be read
  if (state.playing && performance.now() - updated < 150) return;
  updated = performance.now();
  const byLabel = new Map(scene().drawn.map((one) => [one.label, one]));
  for (const line of $("figures").tBodies[0].rows) {
    const one = byLabel.get(line.dataset.label);
    const error = one ? errorAt(one, settled(state.time)) : NaN;
    line.cells[1].textContent = error === error ? short(error) : "-";
  }
}

const statusAt = (one, time) => (time > one.t[one.t.length - 1] + data.tick ? "" : { 0: "none", 1: "held", 2: "interp.", 3: "extrap." }[one.runs.status[rowAt(one.runs.t, time)]] || "none");

// Three digits, as the table has them.
function short(value) {
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  if (size >= 3 && size < 7) return Number(value.toPrecision(3)).toLocaleString("en");
  return size > -4 && size < 7 ? value.toFixed(2 - size) : value.toExponential(2);
}

function fillRecoveries() {
  const { interruptions, start } = scene(), shown = visible(), most = 6;
  $("recovery").hidden = !interruptions.length || !shown.length;
  if ($("recovery").hidden) return;
  heads($("recoveries"), shown.map((one) => ({ title: one.label })), [{ title: "after" }]);
  $("recoveries").tBodies[0].replaceChildren();
  // the longest, in their order
  const length = (i) => interruptions[i].end - interruptions[i].start;
  const longest = [...interruptions.keys()].sort((a, b) => length(b) - length(a)).slice(0, most).sort((a, b) => a - b);
  for (const i of longest) {
    const one = interruptions[i];
    const line = document.createElement("tr");
    const words = one.kind === "teleport" ? "teleport" : `${one.kind} of ${(one.end - one.start).toFixed(2)} s`;
    const jump = text("button", `${words} at ${(start + one.start).toFixed(2)} s`, rowHead(line));
    jump.type = "button";
    jump.addEventListener("click", () => { showTime(one.start - 2, one.end + 6); go(one.end); });
    for (const drawn of shown) text("td", drawn.recoveries[i] === null ? "-" : drawn.recoveries[i].toFixed(2), line);
    $("recoveries").tBodies[0].append(line);
  }
  if (interruptions.length > most) text("td", `and ${interruptions.length - most} more`, text("tr", "", $("recoveries").tBodies[0])).colSpan = shown.length + 1;
}

function fillWords() {
  $("title").textContent = data.title;
  // no markup of others: the program made it, with names escaped
  $("scores").hidden = !data.scores;
  $("scores").firstElementChild.innerHTML = data.scores;
  $("truth-name").textContent = data.truth;
  data.verdict.slice(0, 1).forEach((line) => text("p", line, $("verdict")));
  if (data.verdict.length > 1) text("p", data.verdict.slice(1).join(" "), $("verdict"));
  for (const line of data.details) text("li", line, $("detail-list"));
  $("details").hidden = !data.details.length;
  for (const line of data.notes) text("li", line, $("notes"));
  $("note-box").hidden = !data.notes.length;
  for (const [term, words] of data.facts) { text("dt", term, $("facts")); text("dd", words, $("facts")); }
  $("facts-brief").textContent = data.facts.filter(([term]) => /^(Packets|Network)/.test(term)).slice(0, 2).map(([, words]) => words).join("; ");
  $("figure-box").hidden = !data.columns.length;
  for (const column of data.columns) { text("dt", column.title, $("meanings")); text("dd", column.meaning, $("meanings")); }
}
