// A panel: one model, what it was asked, and what it made of it.

function makePanel(model, number) {
  const parts = {};
  const element = build("section", "panel");
  element.append(build("h2", "", model.name), build("p", "recipe", model.recipe));
  for (const [name, tag] of Object.entries(PARTS)) element.append(parts[name] = build(tag, name));
  parts.trouble.setAttribute("role", "alert");
  parts.outcome.setAttribute("aria-live", "polite");
  parts.outcome.dir = parts.before.dir = "auto";
  const panel = { model, number, element, parts, source: null, told: null, first: null };
  forget(panel);
  clear(panel);
  return panel;
}

const PARTS = {
  notice: "p", trouble: "p", outcome: "p", before: "p", score: "p", whatIf: "div",
  attended: "div", searched: "div",
};

function clear(panel) {
  if (panel.view) panel.view.gone.abort();
  panel.view = panel.told = panel.first = null;
  for (const part of Object.values(panel.parts)) {
    part.replaceChildren();
    part.hidden = true;
  }
}

// A new source: what was hidden or replaced belonged to the last one.

function askAnew(panel, source) {
  forget(panel);
  panel.source = source;
  panel.first = null;
  return ask(panel);
}

async function ask(panel) {
  if (panel.asking) panel.asking.abort();
  const asking = panel.asking = new AbortController();
  const changed = isChanged(panel);
  panel.element.setAttribute("aria-busy", "true");
  const told = await answered("/api/answer", {
    body: JSON.stringify(questionOf(panel)),
    headers: { "Content-Type": "application/json" },
    signal: asking.signal,
  });
  if (told === null || panel.asking !== asking) return;
  panel.asking = null;
  panel.turn = Promise.resolve(panel.turn).catch(() => {}) // one after the other, whatever befell
    .then(() => tellAnswer(panel, told, changed));
  try {
    await panel.turn;
  } finally {
    panel.element.removeAttribute("aria-busy");
  }
  compare();
}

// What the server says, an error too; null for a question that was taken back.

async function answered(address, request) {
  try {
    const response = await fetch(address, { method: "POST", ...request });
    return await response.json();
  } catch (error) {
    if (error.name === "AbortError") return null;
    return { error: "The explorer does not answer; see whether it still runs in the terminal." };
  }
}

function questionOf(panel) {
  const { text, held, features, write, beam } = panel.source;
  const own = panel.tokens.length || panel.write;
  const question = {
    model: panel.number,
    tokens: panel.tokens,
    write: own ? panel.write : write,
    hidden: [...panel.hidden],
  };
  if (held) question.photo = held.photo;
  else question.text = text;
  if (panel.model.features) question.features = features;
  if (beam !== null) question.beam = beam;
  return question;
}

async function tellAnswer(panel, told, changed) {
  const { parts } = panel;
  parts.trouble.hidden = !told.error;
  parts.trouble.textContent = told.error || "";
  if (told.error) return;
  if (panel.view) panel.view.gone.abort();
  panel.view = null;
  panel.told = told;
  if (!changed) panel.first = told;
  for (const part of Object.values(parts)) part.hidden = false;
  parts.trouble.hidden = true;
  parts.notice.hidden = !told.notice;
  parts.notice.textContent = told.notice || "";
  tellScore(panel, told);
  keepingFocus(panel, () => whatIf(panel, told));
  tellSearch(panel, told);
  if (!told.html) {
    parts.attended.replaceChildren(build("p", "note", "This model has no attention to be drawn."));
    return;
  }
  const article = parsed(told.html);
  parts.attended.replaceChildren(article);
  panel.view = await start(article, panel.number);
}

// What was pressed stays where the keyboard is, though it is made anew.

function keepingFocus(panel, change) {
  const pressed = () => [...panel.parts.whatIf.querySelectorAll(".chip, .cell")];
  const place = pressed().indexOf(document.activeElement);
  change();
  if (place >= 0 && pressed()[place]) pressed()[place].focus();
}

function tellScore(panel, told) {
  const { score } = panel.parts;
  const { first } = panel;
  score.textContent = `log-probability ${signed(told.answer.score)}`;
  if (first && first !== told) score.append(`, before ${signed(first.answer.score)}`);
  if (!told.ended) score.append("; the length limit ended it, not the model");
}

// Opened once, the tree stays open.

function tellSearch(panel, told) {
  const { searched } = panel.parts;
  const was = searched.querySelector("details");
  const details = build("details", "search", build("summary", "", "The beam search as a tree"));
  const note = "Every hypothesis that had a place in the beam, and at each step the best ones that " +
    "had none. Numbers are the probability of the tokens on the line, given all before them.";
  details.append(build("p", "note", note), treeElement(told.tree));
  details.open = Boolean(was && was.open);
  searched.replaceChildren(details);
}
