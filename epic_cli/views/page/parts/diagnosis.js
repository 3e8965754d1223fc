// What is wrong with the recordings; moments of the one that is drawn are links to them.
function fillDiagnoses() {
  $("diagnosis-box").hidden = !data.diagnoses.length;
  for (const one of data.diagnoses) {
    text("h3", one.headline, $("diagnoses"));
    const list = one.findings.length ? text("ol", "", $("diagnoses")) : null;
    for (const finding of one.findings) {
      const entry = text("li", "", list);
      const whose = finding.entities.length ? ` (${finding.entities.join(", ")})` : "";
      text("strong", finding.title + whose, entry);
      for (const [term, words] of finding.sentences) text("p", term ? `${term}: ${words}` : words, entry);
      if (finding.moments.length) fillMoments(finding, one.drawn, text("p", "when: ", entry));
    }
    for (const line of one.lines) text("p", line, $("diagnoses"));
  }
}

function fillMoments(finding, drawn, line) {
  // who has no name of its own is every entity
  const shown = data.scenes.find((one) => finding.entities.includes(one.entity)) || data.scenes[0];
  finding.moments.forEach(([name, time], place) => {
    if (place) line.append(", ");
    const words = `${name} at ${time.toFixed(2)} s`;
    if (!drawn || time < shown.start || time > shown.start + shown.truth.t.at(-1)) return line.append(words);
    const link = text("a", words, line);
    const asked = new URLSearchParams({ t: time });
    if (data.scenes.length > 1 && finding.entities.length) asked.set("entity", shown.entity);
    link.href = `#${asked}`;
  });
}
