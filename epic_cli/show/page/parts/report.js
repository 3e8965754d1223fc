// Reports: findings, tables, settings to be copied, pictures. Moments of what is drawn are links.
function fillReport(report, drawn, box) {
  if (report.title) text("h3", report.title, box);
  for (const line of report.verdict) text("p", line, box);
  let list = null;
  for (const part of report.parts) {
    list = part.kind === "finding" ? list || text("ol", "", box) : null;
    partFillers[part.kind](part, list || box, drawn);
  }
  for (const line of report.notes) text("p", line, box);
}

const partFillers = {
  text: (part, box) => part.lines.forEach((line) => text("p", line, box)),
  report: (part, box, drawn) => fillReport(part, drawn, box),
  finding: fillFinding,
  table: fillTable,
  usage: fillUsage,
  picture: fillPicture,
};

function fillReports() {
  $("lead").hidden = !data.lead;
  if (data.lead) fillReport(data.lead, false, $("lead"));
  $("diagnosis-box").hidden = !data.diagnoses.length;
  for (const one of data.diagnoses) fillReport(one, one.drawn, $("diagnoses"));
}

function fillFinding(finding, list, drawn) {
  const entry = text("li", "", list);
  const whose = finding.entities.length ? ` (${finding.entities.join(", ")})` : "";
  text("strong", finding.title + whose, entry);
  for (const [term, words] of finding.sentences) text("p", term ? `${term}: ${words}` : words, entry);
  if (finding.moments.length) fillMoments(finding, drawn, text("p", "when: ", entry));
}

function fillMoments(finding, drawn, line) {
  // who has no name of its own is every entity
  const shown = data.scenes.find((one) => finding.entities.includes(one.entity)) || data.scenes[0];
  finding.moments.forEach(([name, time], place) => {
    if (place) line.append(", ");
    const words = `${name} at ${time.toFixed(2)} s`;
    if (!drawn || time < shown.start || time > shown.start + shown.truth.t.at(-1)) return line.append(words);
    const link = text("a", words, line);
    const query = new URLSearchParams({ t: time });
    if (data.scenes.length > 1 && finding.entities.length) query.set("entity", shown.entity);
    link.href = `#${query}`;
  });
}

function fillTable({ caption, heads, rows, words }, box) {
  const around = text("div", "", box, "scroll"), table = text("table", "", around, words ? "wordy" : "");
  around.tabIndex = 0;
  around.setAttribute("role", "region");
  around.setAttribute("aria-label", caption);
  table.createCaption().textContent = caption;
  const head = table.createTHead().insertRow(), body = table.createTBody();
  for (const title of heads) text("th", title, head).scope = "col";
  for (const cells of rows) {
    const row = body.insertRow();
    rowHead(row).textContent = cells[0];
    for (const cell of cells.slice(1)) text("td", cell, row);
  }
}

function fillUsage({ caption, forms }, box) {
  text("h3", caption, box);
  const list = text("dl", "", box);
  for (const [where, words] of forms) {
    text("dt", where, list);
    const entry = text("dd", "", list), code = text("code", words, entry), button = text("button", "copy", entry);
    button.type = "button";
    button.setAttribute("aria-label", `Copy what ${where} takes`);
    button.addEventListener("click", () => copy(code));
  }
}

// Where the browser allows it; otherwise the words are selected, to be copied by hand.
function copy(code) {
  getSelection().selectAllChildren(code);
  if (!navigator.clipboard) return say("selected");
  navigator.clipboard.writeText(code.textContent).then(() => say("copied"), () => say("selected"));
}

function fillPicture({ source, words }, box) {
  if (!source) return;
  const image = text("img", "", box);
  image.src = source;
  image.alt = words;
}
