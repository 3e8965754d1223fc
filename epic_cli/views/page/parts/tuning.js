// Good numbers: before and after, the settings to be copied, what smoothness costs.
function fillTuning() {
  const found = data.tuning, box = $("tuning");
  $("tuning-box").hidden = !found;
  if (!found) return;
  if (found.usage.length) {
    text("h3", `${found.strategy}'s settings, to be copied`, box);
    const list = text("dl", "", box);
    for (const [where, words] of found.usage) {
      text("dt", where, list);
      const entry = text("dd", "", list), code = text("code", words, entry), button = text("button", "copy", entry);
      button.type = "button";
      button.setAttribute("aria-label", `Copy what ${where} takes`);
      button.addEventListener("click", () => copy(code));
    }
  }
  for (const { caption, heads, rows, wordy } of found.tables) {
    const around = text("div", "", box, "scroll"), table = text("table", "", around, wordy ? "wordy" : "");
    around.tabIndex = 0;
    around.setAttribute("role", "region");
    around.setAttribute("aria-label", caption);
    table.createCaption().textContent = caption;
    const head = table.createTHead().insertRow(), body = table.createTBody();
    for (const title of heads) text("th", title, head).scope = "col";
    for (const cells of rows) {
      const row = body.insertRow();
      rowHead(row).textContent = cells[0];
      for (const words of cells.slice(1)) text("td", words, row);
    }
  }
  if (!found.picture) return;
  const image = text("img", "", box);
  image.src = found.picture;
  image.alt = "The table above as a picture: roughness over latency, a line for each strategy";
}

// Where the browser allows it; otherwise the words are chosen, to be copied by hand.
function copy(code) {
  getSelection().selectAllChildren(code);
  if (!navigator.clipboard) return say("chosen");
  navigator.clipboard.writeText(code.textContent).then(() => say("copied"), () => say("chosen"));
}
