// What is to be seen: kind, layer or step, head, tokens or whole words; and what to save.

function makeControls(view) {
  const bar = view.root.querySelector(".controls");
  const kinds = Object.keys(KINDS).filter((kind) => view.stacks[kind] || kind === "cross");
  const { source, output } = view.data;
  const controls = { bar, parts: {} };
  const parts = controls.parts;
  if (kinds.length > 1 || view.stacks.cross) {
    parts.kind = select(bar, "Attention", kinds.map((kind) => [kind, kindName(view, kind)]),
      (value) => choose(view, { kind: value, ...firstChoice(view, value) }));
    parts.layer = select(bar, "Layer", [], (value) => choose(view, { layer: place(value) }));
    parts.head = select(bar, "Head", [], (value) => choose(view, { head: place(value) }));
  }
  const several = (side) => side.words && side.words.some((word, index) =>
    word >= 0 && side.words.indexOf(word) !== index);
  if (several(source) || several(output)) parts.words = wordsBox(view, bar);
  saveButtons(view, bar, parts);
  return controls;
}

function place(value) {
  return /^\d+$/.test(value) ? Number(value) : value;
}

function select(bar, name, options, chosen) {
  const label = document.createElement("label");
  const made = document.createElement("select");
  const text = document.createElement("span");
  text.textContent = name;
  label.append(text, made);
  made.name = name.toLowerCase();
  setOptions(made, options);
  made.addEventListener("change", () => chosen(made.value));
  bar.append(label);
  return made;
}

function setOptions(made, options) {
  made.replaceChildren(...options.map(([value, text]) => {
    const option = document.createElement("option");
    option.value = value;
    option.textContent = text;
    return option;
  }));
}

function wordsBox(view, bar) {
  const label = document.createElement("label");
  const box = document.createElement("input");
  box.type = "checkbox";
  box.name = "words";
  label.className = "check";
  label.append(box, "Whole words");
  label.title = "Weights to the tokens of a word are added, those from them averaged.";
  box.addEventListener("change", () => choose(view, { words: box.checked }));
  bar.append(label);
  return box;
}

function saveButtons(view, bar, parts) {
  const group = document.createElement("div");
  group.className = "saving";
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", "Zoom, and save what is seen");
  const make = (name, title, act) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    button.title = title;
    button.addEventListener("click", act);
    group.append(button);
    return button;
  };
  parts.smaller = make("−", "Smaller cells", () => zoom(view, 1 / 1.5));
  parts.larger = make("+", "Larger cells", () => zoom(view, 1.5));
  parts.svg = make("SVG", "Save the picture as SVG", () => saveSvg(view));
  parts.png = make("PNG", "Save the picture as PNG", () => savePng(view));
  parts.csv = make("CSV", "Save the weights as a table", () => saveCsv(view));
  parts.links = make("Alignment", "Save word alignments in Pharaoh format", () => saveLinks(view));
  bar.append(group);
}

function firstChoice(view, kind) {
  if (kind === "cross") return view.data.opensAt || { layer: "shown", head: "mean" };
  return { layer: 0, head: "mean" };
}

// After every change: the options of the kind, and which controls are of use.

function updateControls(view) {
  const { parts } = view.controls;
  const { kind, layer, head } = view.choice;
  const stack = view.stacks[kind];
  if (parts.kind) {
    const called = stack && stack.steps ? "Step" : "Layer";
    parts.layer.previousSibling.textContent = called;
    const layers = stack ? range(stack.layers).map((each) => [each, String(each + 1)]) : [];
    if (layers.length > 1) layers.unshift(["mean", `mean of all ${layers.length}`]);
    if (kind === "cross") layers.unshift(["shown", `as answered: ${view.data.shownAs}`]);
    const heads = stack && !stack.mean
      ? range(stack.heads).map((each) => [each, String(each + 1)]) : [];
    if (heads.length !== 1) heads.unshift(["mean", heads.length ? `mean of all ${heads.length}` : "mean"]);
    setOptions(parts.layer, layers);
    setOptions(parts.head, heads);
    parts.kind.value = kind;
    parts.layer.value = layer;
    parts.head.disabled = layer === "shown" || heads.length < 2;
    parts.head.value = layer === "shown" || heads.length > 1 ? head : heads[0][0];
    if (layer === "shown") {
      setOptions(parts.head, [["mean", "as answered"]]);
    }
  }
  if (parts.words) parts.words.checked = view.choice.words;
  parts.smaller.disabled = parts.larger.disabled = pictured(view);
  parts.links.disabled = kind !== "cross" || !view.data.source.words || !view.data.output.words;
}
