// One view of attention: what is stored, what of it is chosen, what is pointed at, what is kept.
//
// Pointing at a token or a cell, or moving to it with the keyboard, shows what belongs to it; a
// click or Enter keeps it; Escape lets go. Everything else is drawn from that.

async function start(root, place) {
  const data = JSON.parse(root.querySelector("script.data").textContent);
  const view = { root, data, place, stacks: {}, focus: null, kept: null, zoom: 0,
    gone: new AbortController() };
  if (!window.DecompressionStream) {
    root.querySelector(".readout").textContent = "This browser is too old to unpack the weights.";
    return view;
  }
  view.shown = await unpack(data.shown);
  await Promise.all(data.stacks.map(async (stack) => {
    view.stacks[stack.kind] = { ...stack, weights: await unpack(stack) };
  }));
  view.choice = { kind: "cross", words: false, ...firstChoice(view, "cross") };
  view.readout = root.querySelector(".readout");
  view.alternatives = root.querySelector(".alternatives");
  view.legend = root.querySelector(".legend");
  view.colours = colours(root);
  view.scene = await makeScene(view);
  view.bridge = makeBridge(view);
  view.map = makeMap(view);
  view.controls = makeControls(view);
  listen(view);
  choose(view, {});
  watch(view);
  root.dataset.ready = Math.round(performance.now());
  return view;
}

function colours(root) {
  const style = getComputedStyle(root);
  const names = ["accent", "ink", "muted", "empty", "card", "over"];
  const found = names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]);
  return { ...Object.fromEntries(found), font: style.getPropertyValue("--sans").trim() };
}

// Another matrix: everything anew. Another focus: what is drawn.

function choose(view, change) {
  Object.assign(view.choice, change);
  view.seen = seen(view);
  view.focus = view.kept = null;
  updateControls(view);
  view.legend.textContent = `${caption(view)}.`;
  fillBridge(view);
  fillScene(view);
  arrange(view);
}

function arrange(view) {
  if (!pictured(view)) {
    sizeMap(view, view.zoom);
    arrangeBridge(view);
  }
  show(view, view.kept);
}

function zoom(view, factor) {
  const cell = Math.max(view.map.cell + Math.sign(factor - 1), view.map.cell * factor);
  view.zoom = Math.round(Math.max(1, Math.min(LARGEST_CELL, factor < 1
    ? view.map.cell * factor : cell)));
  arrange(view);
}

function show(view, focus) {
  view.focus = focus;
  markTokens(view);
  tell(view);
  redraw(view);
}

function redraw(view) {
  if (view.drawing) return;
  view.drawing = requestAnimationFrame(() => {
    view.drawing = 0;
    if (pictured(view)) {
      drawScene(view);
      return;
    }
    drawThreads(view);
    drawMap(view);
  });
}

// Until it is gone: a page may take a view away again.

function watch(view) {
  const { signal } = view.gone;
  let room = roomInside(view.root);
  const observer = new ResizeObserver(() => {
    const now = roomInside(view.root);
    if (now === room) return;
    room = now;
    arrange(view);
  });
  observer.observe(view.root.parentElement);
  signal.addEventListener("abort", () => observer.disconnect());
  addEventListener("resize", () => redraw(view), { signal }); // heights follow the window's
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    view.colours = colours(view.root);
    view.map.picture = null;
    redraw(view);
  }, { signal });
  if (document.fonts) document.fonts.ready.then(() => { if (!signal.aborted) arrange(view); });
}

// Pointer and keyboard.

function listen(view) {
  for (const side of SIDES) listenToList(view, side);
  if (view.scene) listenToScene(view);
  const { frame } = view.map;
  frame.addEventListener("pointermove", (event) => show(view, cellAt(view, event) || view.kept));
  frame.addEventListener("pointerleave", () => show(view, view.kept));
  frame.addEventListener("click", (event) => {
    const cell = cellAt(view, event);
    if (cell) keep(view, cell);
  });
  frame.addEventListener("keydown", (event) => moveCell(view, event));
  frame.addEventListener("blur", () => show(view, view.kept));
  view.root.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { view.kept = null; show(view, null); }
  });
}

function listenToList(view, side) {
  const list = view.bridge.lists[side].element;
  const other = side === "rows" ? "column" : "row";
  const own = side === "rows" ? "row" : "column";
  const focusOf = (event) => {
    const token = event.target.closest && event.target.closest(".token");
    return token ? { [own]: Number(token.dataset.index), [other]: null } : null;
  };
  const back = (event) => {
    if (!list.contains(event.relatedTarget)) show(view, view.kept);
  };
  list.addEventListener("pointerover", (event) => show(view, focusOf(event) || view.kept));
  list.addEventListener("pointerout", back);
  list.addEventListener("focusin", (event) => {
    const focus = focusOf(event);
    if (!focus) return;
    rove(view, side, focus[own]);
    show(view, focus);
  });
  list.addEventListener("focusout", back);
  list.addEventListener("click", (event) => {
    const focus = focusOf(event);
    if (focus) keep(view, focus);
  });
  list.addEventListener("keydown", (event) => {
    const focus = focusOf(event);
    if (focus) moveToken(view, side, focus[own], event);
  });
}

function keep(view, focus) {
  const same = view.kept && view.kept.row === focus.row && view.kept.column === focus.column;
  view.kept = same ? null : focus;
  show(view, view.kept);
}

// One stop of the Tab key for each side; the arrows move inside it and across.

function rove(view, side, index) {
  const { tokens } = view.bridge.lists[side];
  for (const token of view.bridge.lists[side].element.querySelectorAll('[tabindex="0"]')) {
    token.tabIndex = -1;
  }
  tokens[index].tabIndex = 0;
}

function moveToken(view, side, index, event) {
  const upright = view.bridge.element.classList.contains("upright");
  const backwards = upright && view.seen[side].rtl;
  const next = upright ? (backwards ? "ArrowLeft" : "ArrowRight") : "ArrowDown";
  const previous = upright ? (backwards ? "ArrowRight" : "ArrowLeft") : "ArrowUp";
  const across = upright ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
  const { tokens } = view.bridge.lists[side];
  if (pictured(view) && across.includes(event.key)) {
    event.preventDefault();
    enterScene(view, index);
    return;
  }
  let target;
  if (event.key === next) target = tokens[index + 1];
  else if (event.key === previous) target = tokens[index - 1];
  else if (event.key === "Home") target = tokens[0];
  else if (event.key === "End") target = tokens[tokens.length - 1];
  else if (event.key === across[side === "columns" ? 1 : 0]) target = partner(view, side, index);
  else return;
  event.preventDefault();
  if (target) target.focus();
}

// Across: to the token of the other side with the most weight.

function partner(view, side, index) {
  const other = view.bridge.lists[side === "rows" ? "columns" : "rows"].tokens;
  const weight = (place) => side === "rows"
    ? weightAt(view.seen, index, place) : weightAt(view.seen, place, index);
  return other[range(other.length).reduce((best, place) =>
    weight(place) > weight(best) ? place : best, 0)];
}

function moveCell(view, event) {
  const { rows, columns } = view.seen;
  const sideways = columns.rtl ? -1 : 1;
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -sideways],
    ArrowRight: [0, sideways] };
  const { row, column } = view.focus || {};
  if (event.key === "Enter" && view.focus) keep(view, view.focus);
  if (!moves[event.key]) return;
  event.preventDefault();
  const [down, along] = row == null && column == null ? [0, 0] : moves[event.key];
  const within = (place, count) => Math.max(0, Math.min(count - 1, place));
  const cell = {
    row: within((row ?? 0) + down, rows.labels.length),
    column: within((column ?? 0) + along, columns.labels.length),
  };
  revealCell(view, cell);
  show(view, cell);
}

document.querySelectorAll(".attention").forEach(start);
