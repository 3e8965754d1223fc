// Sliders, lists and switches, made from the engine's tables.
const STOPS = 1000; // the stops of a slider

// The range of bursts: from one packet in a thousand to all; and the first positions of sliders.
const SHARE = { low: 0.001, high: 1, log: true, whole: false },
  USUAL = [0.01, 0.3];

// Convert a slider's place to a value, and back.
function computeValue({ low, high, log, whole }, place) {
  const share = place / STOPS,
    value = log ? low * (high / low) ** share : low + share * (high - low);
  if (whole) return Math.round(value);
  const step = 10 ** Math.floor(Math.log10(log ? value : high - low)) / (log ? 100 : 1000);
  return Number((Math.round(value / step) * step).toPrecision(10));
}

function computePlace({ low, high, log }, value) {
  const share = log
    ? Math.log(Math.max(value, low) / low) / Math.log(high / low)
    : (value - low) / (high - low);
  return Math.round(STOPS * Math.min(1, Math.max(0, share)));
}

// Format a value for people: 80ms, 2.5s, 2%, 0.02.
function formatValue(control, value) {
  if (value === 0) return "0";
  if (control.unit === "%") return `${Number((100 * value).toPrecision(6))}%`;
  if (control.unit !== "s") return String(value);
  return Math.abs(value) < 1 ? `${Number((1000 * value).toPrecision(6))}ms` : `${value}s`;
}

const UNITS = { s: 1, ms: 1e-3, us: 1e-6, m: 60, "%": 0.01, hz: 1, kbit: 1e3, mbit: 1e6 };
function parseNumber(words) {
  const ratio = /^([\d.]+)\/([\d.]+)$/.exec(words);
  if (ratio) return ratio[1] / ratio[2];
  const found = /^\s*([-+.\deE]+?)\s*([a-z%]*)\s*$/i.exec(words);
  return found && Number.isFinite(Number(found[1]))
    ? Number(found[1]) * (UNITS[found[2].toLowerCase()] || 1)
    : NaN;
}

// Apply typed text when it is entered, or after a pause (ms, 0: never); mark its line until then.
function applyTyped(field, line, enter, pause = 0) {
  let waiting = 0;
  const enterText = (done) => {
    clearTimeout(waiting);
    line.classList.remove("typed");
    enter(done);
  };
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    line.classList.add("typed");
    // leaving the field enters the text, unless another experiment was opened
    const enterIfFocused = () => document.activeElement === field && enterText(false);
    if (pause) waiting = setTimeout(enterIfFocused, pause);
  });
  field.addEventListener("change", () => enterText(true));
}

// Make a control in a box; change(words, done) gets its new value, null for its default. Typed text
// is applied after a pause (ms), if given.
function addControl(about, box, owner, change, pause = 0) {
  const line = addText("div", "", box, "control"),
    id = `${owner}-${about.name}`;
  const title = addText("label", about.name.replaceAll("_", " "), line);
  title.htmlFor = id;
  title.title = about.help;
  const made = { about, line, show: () => {} };
  if (about.kind === "switch") {
    const field = addElement("input", line, { type: "checkbox", id });
    field.addEventListener("change", () => change(field.checked ? "on" : "off", true));
    made.show = (words) => {
      field.checked = words === "on";
    };
    return made;
  }
  if (about.kind === "choice") {
    const field = addElement("select", line, { id });
    for (const word of about.words) addText("option", word || "-", field).value = word;
    field.addEventListener("change", () => change(field.value || null, true));
    made.show = (words) => {
      field.value = words;
    };
    return made;
  }
  const field = addElement("input", line, {
    type: "text",
    id,
    autocomplete: "off",
    spellcheck: "false",
    title: about.range,
    placeholder: about.kind === "text" ? about.range : "",
  });
  applyTyped(field, line, (done) => change(field.value.trim() || null, done), pause);
  if (about.words.length) {
    const list = addElement("datalist", line, { id: `${id}-words` });
    for (const word of about.words) addText("option", "", list).value = word;
    field.setAttribute("list", list.id);
  }
  // Also on release: an answer to an earlier place may have changed the field since.
  const follow = (one, write) =>
    ["input", "change"].forEach((kind) =>
      one.addEventListener(kind, () => {
        write();
        change(field.value, kind === "change");
      }),
    );
  const parts = (about.shares || []).map((name, place) => {
    const share = addElement("input", line, {
      type: "range",
      min: 0,
      max: STOPS,
      step: 1,
      "aria-label": `${about.name}: ${name}`,
      title: name,
    });
    follow(share, () => {
      const rest = field.value.split(",").slice(about.shares.length);
      field.value = [
        ...parts.map(
          (one) => `${Number((100 * computeValue(SHARE, Number(one.value))).toPrecision(3))}%`,
        ),
        ...rest,
      ].join(",");
      share.setAttribute("aria-valuetext", field.value.split(",")[place]);
    });
    return share;
  });
  let slider = null;
  if (about.kind === "number") {
    slider = addElement("input", line, { type: "range", min: 0, max: STOPS, step: 1 });
    slider.setAttribute(
      "aria-label",
      `${about.name.replaceAll("_", " ")}${about.unit ? ` (${about.unit})` : ""}`,
    );
    follow(slider, () => {
      field.value = formatValue(about, computeValue(about, Number(slider.value)));
      slider.setAttribute("aria-valuetext", field.value);
    });
    slider.addEventListener("dblclick", () => change(null, true));
  }
  made.show = (words) => {
    const number = parseNumber(words),
      plain = /^[-+.\de]+$/i.test(words);
    if (document.activeElement !== field) {
      line.classList.remove("typed");
      field.value = plain && !Number.isNaN(number) ? formatValue(about, number) : words;
    }
    parts.forEach((one, place) => {
      const share = parseNumber(words.split(",")[place] || "");
      if (document.activeElement !== one)
        one.value = computePlace(SHARE, !Number.isNaN(share) ? share : USUAL[place]);
    });
    if (!slider || document.activeElement === slider) return;
    slider.value = !Number.isNaN(number) ? computePlace(about, number) : 0;
    slider.setAttribute("aria-valuetext", field.value);
  };
  return made;
}
