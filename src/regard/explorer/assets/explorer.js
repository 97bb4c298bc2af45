// The form above the panels: what is asked of all models at once, as it is typed.

const PAUSE = 500; // milliseconds without a key, after which is asked
const settings = JSON.parse(document.querySelector("#settings").textContent);
const form = document.querySelector("form.ask");
const panels = settings.models.map(makePanel);
const asked = { held: null, timer: 0, sending: null };

function readForm() {
  const value = (name) => (form.elements[name] ? form.elements[name].value : "");
  const beam = parseInt(value("beam"), 10);
  return {
    text: value("text"),
    held: asked.held,
    features: value("features"),
    write: value("write"),
    beam: Number.isNaN(beam) ? null : beam,
  };
}

function askAll() {
  clearTimeout(asked.timer);
  const source = readForm();
  const long = ["text", "features", "write"].find((name) =>
    [...source[name]].length > settings.characters);
  trouble(long ? `This text has ${[...source[long]].length.toLocaleString("en")} characters; at most ` +
    `${settings.characters.toLocaleString("en")} are taken here.` : "");
  if (long) return;
  if (!source.held && !source.text.trim()) {
    for (const panel of panels) clear(panel);
    return;
  }
  for (const panel of panels) askAnew(panel, source);
}

function trouble(said) {
  const place = document.querySelector("p.trouble");
  place.textContent = said;
  place.hidden = !said;
}

// Words marked that differ: from before, where something was changed; else from the other model.

function compare() {
  for (const panel of panels) {
    if (!panel.told) continue;
    const { outcome, before: earlier } = panel.parts;
    const changed = panel.first && panel.first !== panel.told;
    const other = panels.find((each) => each !== panel && each.told);
    const beside = changed ? panel.first : other ? other.told : null;
    outcome.replaceChildren(...wordsBeside(panel.told.answer.text,
      beside ? beside.answer.text : null));
    earlier.hidden = !changed;
    earlier.replaceChildren(...(changed
      ? ["before: ", ...wordsBeside(panel.first.answer.text, panel.told.answer.text)] : []));
  }
}

// Photos: dropped, pasted or chosen.

async function sendPhoto(file) {
  if (!file) return;
  if (file.size > settings.photo) {
    const size = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
    trouble(`${file.name} has ${size(file.size)}; at most ${size(settings.photo)} are taken here. ` +
      "Scale it down and drop it again.");
    return;
  }
  if (asked.sending) asked.sending.abort();
  const sending = asked.sending = new AbortController();
  const address = `/api/photo?name=${encodeURIComponent(file.name)}`;
  const held = await answered(address, { body: file, signal: sending.signal });
  if (held === null || asked.sending !== sending) return;
  trouble(held.error || "");
  if (held.error) return;
  asked.held = held;
  askAll();
}

function listenForPhotos(drop) {
  const file = drop.querySelector("input");
  drop.addEventListener("click", (event) => { if (event.target !== file) file.click(); });
  drop.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); file.click(); }
  });
  file.addEventListener("change", () => sendPhoto(file.files[0]));
  for (const kind of ["dragenter", "dragover"]) {
    document.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  document.addEventListener("dragleave", () => drop.classList.remove("over"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    sendPhoto(event.dataTransfer.files[0]);
  });
  document.addEventListener("paste", (event) => sendPhoto(event.clipboardData.files[0]));
}

document.querySelector(".side-by-side").append(...panels.map((panel) => panel.element));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  askAll();
});
form.addEventListener("input", (event) => {
  if (event.target.type === "file") return;
  clearTimeout(asked.timer);
  asked.timer = setTimeout(askAll, PAUSE);
});
form.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  if (event.target.tagName !== "TEXTAREA") return;
  event.preventDefault();
  askAll();
});
const drop = document.querySelector(".drop");
if (drop) listenForPhotos(drop);
