// What if: words of the source hidden from attention, words of the output replaced.

const HIDDEN = "Hidden: the attention mask leaves these positions out (leave-one-out in the memory). " +
  "The encoder has still read the whole source, so their neighbours may know of them; it is not " +
  "as if they had never been there.";
const REMOVED = " For that, edit the text.";

function whatIf(panel, told) {
  const box = panel.parts.whatIf;
  const rows = [];
  if (told.answer.attention.length) rows.push(hidingRow(panel, told));
  rows.push(outputRow(panel, told));
  if (isChanged(panel)) {
    rows.push(build("p", "", pressable("undo", "Undo all of this", () => {
      forget(panel);
      ask(panel);
    })));
  }
  box.replaceChildren(...rows);
}

function isChanged(panel) {
  return panel.hidden.size > 0 || panel.tokens.length > 0 || panel.write !== "";
}

function forget(panel) {
  panel.hidden = new Set();
  panel.tokens = [];
  panel.write = "";
}

// Positions that are hidden together: those of a word; tokens where there is no more than one word.

function sourceUnits(told) {
  const words = told.sourceWords;
  const several = new Set(words.filter((word) => word >= 0)).size > 1;
  const found = new Map();
  told.sourceLabels.forEach((label, position) => {
    const key = several && words[position] >= 0 ? `word ${words[position]}` : `at ${position}`;
    if (!found.has(key)) found.set(key, { label: "", positions: [] });
    found.get(key).label += label;
    found.get(key).positions.push(position);
  });
  return [...found.values()];
}

function hidingRow(panel, told) {
  const chips = panel.model.photos ? hidingGrid(panel) : build("div", "chips hide",
    ...sourceUnits(told).map(({ label, positions }) => hidingChip(panel, label, positions)));
  const note = build("p", "note", HIDDEN + (panel.model.photos ? "" : REMOVED));
  note.hidden = panel.hidden.size === 0;
  const named = panel.model.photos ? "Hide a place from attention" : "Hide a word from attention";
  return build("div", "row", build("h4", "", named), chips, note);
}

function hidingChip(panel, label, positions) {
  const chip = pressable("chip", isolated(label.replace(/^\u2581(?=.)/, "")), () => {
    const hide = !panel.hidden.has(positions[0]);
    for (const position of positions) panel.hidden[hide ? "add" : "delete"](position);
    chip.setAttribute("aria-pressed", String(hide));
    ask(panel);
  });
  chip.setAttribute("aria-pressed", String(panel.hidden.has(positions[0])));
  return chip;
}

function outputRow(panel, told) {
  const place = build("div", "instead");
  place.setAttribute("role", "status");
  const chips = told.labels.map((label, index) => {
    const chip = pressable("chip", isolated(label), () => {
      for (const each of chips) each.classList.toggle("chosen", each === chip);
      place.replaceChildren(...alternatives(panel, told, index));
    });
    if (index < told.begun) {
      chip.classList.add("begun");
      chip.title = "It had to begin with this";
    }
    return chip;
  });
  const row = build("div", "chips output", ...chips);
  row.dir = "auto";
  return build("div", "row", build("h4", "", "Replace a part of the output"), row, place);
}

function alternatives(panel, told, index) {
  const others = told.nextBest[index].map(([token, label, share]) => {
    const other = pressable("chip other", isolated(label), () =>
      goOn(panel, told.answer.tokens.slice(0, index).concat(token), ""));
    other.append(` ${shareText(share)}`);
    if (token === "</s>") {
      other.disabled = true;
      other.title = "The output would end here";
    }
    return other;
  });
  const own = build("form", "own");
  const input = build("input", "");
  input.setAttribute("aria-label", "Another text for this place");
  input.placeholder = "another text";
  input.dir = "auto";
  own.append(input, build("button", "", "Write"));
  own.addEventListener("submit", (event) => {
    event.preventDefault();
    if (input.value.trim()) goOn(panel, before(panel, told, index), input.value);
  });
  return [build("span", "", "Instead of ", strong(told.labels[index]), ": "), ...others, own];
}

function goOn(panel, tokens, write) {
  panel.tokens = tokens;
  panel.write = write;
  ask(panel);
}

// A text in place of a subword takes the place of the whole word.

function before(panel, told, index) {
  let from = index;
  const word = told.words[index];
  if (panel.model.subwords && word >= 0) from = told.words.indexOf(word);
  return told.answer.tokens.slice(0, from);
}
