// The tokens of both sides, with lines between them as strong as the weights.
//
// Two rows where they fit; else two columns that scroll, each by itself, and only lines that can be
// seen are drawn. Above (or left) is what is attended to, below (or right) what attends.

const THINNEST = 0.02; // of the largest weight: lines of less are not drawn
const SIDES = ["columns", "rows"]; // of the matrix: attended to, attending

function makeBridge(view) {
  const bridge = view.root.querySelector(".bridge");
  const canvas = document.createElement("canvas");
  canvas.className = "threads";
  canvas.setAttribute("aria-hidden", "true");
  const lists = {};
  bridge.replaceChildren(canvas, ...SIDES.map((side) => {
    const list = document.createElement("div");
    list.setAttribute("role", "group");
    lists[side] = { element: list, tokens: [], tinted: [], active: null };
    list.addEventListener("scroll", () => redraw(view), { passive: true });
    return list;
  }));
  return { element: bridge, canvas, lists };
}

function fillBridge(view) {
  for (const side of SIDES) {
    const list = view.bridge.lists[side];
    const unit = view.seen[side];
    const name = view.seen.sides[side];
    list.element.className = `tokens ${side} ${name}`;
    list.element.dir = unit.rtl ? "rtl" : "ltr";
    list.element.setAttribute("aria-label", LIST_NAMES[side][name]);
    list.tokens = unit.labels.map((label, index) => makeToken(view, name, unit, label, index));
    list.element.replaceChildren(...list.tokens);
    list.tinted = [];
    list.active = null;
  }
  if (pictured(view)) view.bridge.element.className = "bridge upright";
}

const LIST_NAMES = {
  columns: { source: "source, attended to", read: "what was read before, attended to" },
  rows: { source: "source, attending", output: "output, attending" },
};

function makeToken(view, name, unit, label, index) {
  const token = document.createElement("button");
  token.type = "button";
  token.className = "token";
  token.dir = "auto";
  token.dataset.index = index;
  token.tabIndex = index === 0 ? 0 : -1;
  token.textContent = label;
  const side = view.data[name];
  const members = unit.members[index];
  if (name === "output" && side.probabilities) {
    const probability = members.reduce((all, each) => all * side.probabilities[each], 1);
    token.style.setProperty("--probability", probability.toFixed(4));
  }
  if (side.steps && members.length === 1) {
    const took = document.createElement("span");
    took.className = "took";
    took.dir = "ltr";
    took.textContent = side.steps[members[0]].short;
    token.append(took);
  }
  return token;
}

// Rows when both fit, columns when they do not; the heat map beside or below them.

function arrangeBridge(view) {
  const { element, lists } = view.bridge;
  const room = roomInside(view.root);
  element.className = "bridge upright";
  const wide = SIDES.some((side) => lists[side].tokens.length > 200 ||
    lists[side].element.scrollWidth > room);
  if (wide) element.className = "bridge sideways";
  const panels = element.parentElement;
  panels.classList.remove("stacked");
  const gap = parseFloat(getComputedStyle(panels).columnGap) || 0;
  panels.classList.toggle("stacked", element.offsetWidth + gap + mapWidth(view) > room);
  for (const side of SIDES) {
    const list = lists[side];
    list.boxes = list.tokens.map((token) => wide
      ? { middle: token.offsetTop + token.offsetHeight / 2, start: token.offsetLeft,
          end: token.offsetLeft + token.offsetWidth }
      : { middle: token.offsetLeft + token.offsetWidth / 2 });
  }
}

// The element hugs what is in it, so the room is its parent's, less its own edges.

function roomInside(root) {
  const style = getComputedStyle(root);
  const edges = ["paddingLeft", "paddingRight", "borderLeftWidth", "borderRightWidth"];
  return root.parentElement.clientWidth -
    edges.reduce((sum, edge) => sum + parseFloat(style[edge]), 0);
}

function drawThreads(view) {
  const { element, canvas } = view.bridge;
  const context = fitCanvas(canvas, element.clientWidth, element.clientHeight);
  context.strokeStyle = view.colours.accent;
  context.lineCap = "round";
  const focus = view.focus;
  for (const line of visibleLines(view)) {
    const active = !focus || ((focus.row === null || focus.row === line.row) &&
      (focus.column === null || focus.column === line.column));
    context.globalAlpha = active ? Math.max(focus ? 0.15 : 0, 0.9 * line.strength) : 0.05;
    context.lineWidth = 0.6 + 3.4 * line.strength;
    const { from, to } = line;
    context.beginPath();
    context.moveTo(from.x, from.y);
    if (line.upright) {
      const middle = (from.y + to.y) / 2;
      context.bezierCurveTo(from.x, middle, to.x, middle, to.x, to.y);
    } else {
      const middle = (from.x + to.x) / 2;
      context.bezierCurveTo(middle, from.y, middle, to.y, to.x, to.y);
    }
    context.stroke();
  }
  context.globalAlpha = 1;
}

function* visibleLines(view) {
  const { element, lists } = view.bridge;
  const upright = element.classList.contains("upright");
  const ends = SIDES.map((side) => lineEnds(lists[side], side, upright, element.clientHeight));
  const { weights, top, columns } = view.seen;
  const width = columns.labels.length;
  for (let row = 0; row < ends[1].length; row++) {
    for (let column = 0; column < width; column++) {
      const weight = weights[row * width + column];
      if (weight < THINNEST * top || !weight) continue;
      const [from, to] = [ends[0][column], ends[1][row]];
      if (!from.visible && !to.visible) continue;
      yield { row, column, from, to, upright, strength: weight / top };
    }
  }
}

function lineEnds({ element, boxes }, side, upright, height) {
  const first = side === "columns";
  const bottom = element.offsetTop + element.offsetHeight;
  return boxes.map(({ middle, start, end }) => {
    if (upright) {
      return { x: element.offsetLeft + middle, y: first ? bottom + 2 : element.offsetTop - 2,
        visible: true };
    }
    const y = element.offsetTop + middle - element.scrollTop;
    const x = element.offsetLeft + (first ? end + 2 : start - 2);
    return { x, y, visible: y > -10 && y < height + 10 };
  });
}

function fitCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

// Tokens tinted by their weight for the focus; only those that change are touched.

function markTokens(view) {
  const { row = null, column = null } = view.focus || {};
  const own = { columns: column, rows: row };
  const other = { columns: row, rows: column };
  for (const side of SIDES) {
    const list = view.bridge.lists[side];
    for (const token of list.tinted) token.style.removeProperty("--weight");
    if (list.active) list.active.classList.remove("active");
    list.tinted = [];
    list.active = own[side] === null ? null : list.tokens[own[side]];
    if (list.active) list.active.classList.add("active");
    if (other[side] === null) continue;
    list.tokens.forEach((token, index) => {
      if (own[side] !== null && own[side] !== index) return;
      const weight = side === "columns"
        ? weightAt(view.seen, row, index) : weightAt(view.seen, index, column);
      if (weight < 0.0005) return;
      token.style.setProperty("--weight", weight.toFixed(4));
      list.tinted.push(token);
    });
  }
}
