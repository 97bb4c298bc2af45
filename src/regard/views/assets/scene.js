// The picture that was looked at, under a veil that is thin where much was attended to; and a small
// one for each token. A cell of the grid is a column of the matrix (of the encoder's, a row too).

const LONGEST = { scene: 480, tile: 120 }; // pixels at the longer side of a veil

async function makeScene(view) {
  if (!view.data.image) return null;
  const frame = view.root.querySelector(".scene");
  const picture = frame.querySelector("img");
  await picture.decode();
  const canvas = frame.querySelector("canvas");
  canvas.tabIndex = 0;
  return { frame, picture, canvas };
}

// Whether what is attended to are places in the picture; and whether such places attend.

function pictured(view) {
  return view.scene !== null && view.seen.sides.columns === "source";
}

function inward(view) {
  return pictured(view) && view.seen.sides.rows === "source";
}

function fillScene(view) {
  view.root.classList.toggle("pictured", pictured(view));
  view.root.classList.toggle("inward", inward(view));
  if (!pictured(view)) return;
  const { rows, columns } = view.data.image;
  view.scene.canvas.setAttribute("aria-label",
    `Picture, ${rows} rows by ${columns} columns: ${view.seen.name}. Arrow keys move.`);
  if (inward(view)) return;
  view.bridge.lists.rows.tokens.forEach((token, row) => token.append(tile(view, row)));
}

function tile(view, row) {
  const [wide, high] = sizeWithin(view, LONGEST.tile);
  const made = document.createElement("canvas");
  made.className = "tile";
  made.setAttribute("aria-hidden", "true");
  const context = fitCanvas(made, wide, high);
  context.drawImage(view.scene.picture, 0, 0, wide, high);
  context.drawImage(veil(view, row, wide, high), 0, 0, wide, high);
  return made;
}

function sizeWithin(view, longest) {
  const { width, height } = view.data.image;
  const scale = longest / Math.max(width, height);
  return [width, height].map((side) => Math.max(1, Math.round(side * scale)));
}

function drawScene(view) {
  const { canvas } = view.scene;
  const [wide, high] = sizeWithin(view, LONGEST.scene);
  [canvas.width, canvas.height] = [wide, high];
  const context = canvas.getContext("2d");
  const { row = null, column = null } = view.focus || {};
  if (row !== null) context.drawImage(veil(view, row, wide, high), 0, 0);
  if (inward(view) && row !== null) outline(view, context, row, view.colours.over, wide, high);
  if (column !== null) outline(view, context, column, view.colours.accent, wide, high);
}

function outline(view, context, cell, colour, wide, high) {
  const { width, height } = view.data.image;
  const [left, top, right, bottom] = cellBox(view, cell);
  context.lineWidth = 2;
  context.strokeStyle = colour;
  context.strokeRect(left * wide / width, top * high / height, (right - left) * wide / width,
    (bottom - top) * high / height);
}

function cellBox(view, cell) {
  const { rows, columns, covered: [left, top, right, bottom] } = view.data.image;
  const [row, column] = [Math.floor(cell / columns), cell % columns];
  const [wide, high] = [(right - left) / columns, (bottom - top) / rows];
  return [left + column * wide, top + row * high, left + (column + 1) * wide,
    top + (row + 1) * high];
}

// A canvas of the veil's color, the more transparent the more a row attends there.

function veil(view, row, wide, high) {
  const { veil: colour, thickest } = view.data.image;
  const made = document.createElement("canvas");
  [made.width, made.height] = [wide, high];
  const context = made.getContext("2d");
  const image = context.createImageData(wide, high);
  light(view.data.image, rowOf(view, row), wide, high).forEach((bright, place) => {
    image.data[4 * place + 3] = Math.round(255 * thickest * (1 - bright));
  });
  context.putImageData(image, 0, 0);
  context.globalCompositeOperation = "source-in";
  context.fillStyle = colour;
  context.fillRect(0, 0, wide, high);
  return made;
}

function rowOf(view, row) {
  const width = view.seen.columns.labels.length;
  return view.seen.weights.subarray(row * width, (row + 1) * width);
}

// How bright each pixel is, 0 to 1: the weight over the largest one at the middle of a cell, linear
// between middles, the same beyond the outermost ones, dark where the grid is not.

function light({ rows, columns, width, height, covered }, weights, wide, high) {
  const bright = new Float32Array(wide * high);
  const largest = weights.reduce((most, weight) => Math.max(most, weight), 0);
  if (!largest) return bright;
  const across = spread(columns, covered[0], covered[2], width, wide);
  spread(rows, covered[1], covered[3], height, high).forEach((y, line) => {
    if (!y) return;
    across.forEach((x, place) => {
      if (!x) return;
      const along = (row) => weights[row * columns + x.lower] * (1 - x.share) +
        weights[row * columns + x.upper] * x.share;
      bright[line * wide + place] = (along(y.lower) * (1 - y.share) + along(y.upper) * y.share) /
        largest;
    });
  });
  return bright;
}

function spread(cells, start, end, length, pixels) {
  return range(pixels).map((pixel) => {
    const middle = (pixel + 0.5) * length / pixels;
    if (middle < start || middle >= end) return null;
    const place = Math.max(0, Math.min(cells - 1, (middle - start) / (end - start) * cells - 0.5));
    const lower = Math.max(0, Math.min(cells - 2, Math.floor(place)));
    return { lower, upper: Math.min(lower + 1, cells - 1), share: place - lower };
  });
}

// Pointer and keyboard.

function listenToScene(view) {
  const { canvas } = view.scene;
  canvas.addEventListener("pointermove", (event) => {
    const cell = sceneCell(view, event);
    show(view, cell === null ? view.kept : onCell(view, cell));
  });
  canvas.addEventListener("pointerleave", () => show(view, view.kept));
  canvas.addEventListener("click", (event) => {
    const cell = sceneCell(view, event);
    if (cell !== null) keep(view, onCell(view, cell));
  });
  canvas.addEventListener("keydown", (event) => moveInScene(view, event));
  canvas.addEventListener("blur", () => show(view, view.kept));
}

function sceneCell(view, event) {
  const { rows, columns, width, height, covered: [left, top, right, bottom] } = view.data.image;
  const box = view.scene.canvas.getBoundingClientRect();
  const [x, y] = [(event.clientX - box.left) / box.width * width,
    (event.clientY - box.top) / box.height * height];
  const column = Math.floor((x - left) / (right - left) * columns);
  const row = Math.floor((y - top) / (bottom - top) * rows);
  return row >= 0 && row < rows && column >= 0 && column < columns ? row * columns + column : null;
}

// With a token that is kept, its weight in the cell; else all that attend there, or what the cell
// itself attends to.

function onCell(view, cell) {
  const row = view.kept ? view.kept.row : null;
  if (!inward(view)) return { row, column: cell };
  return row === null || row === cell ? { row: cell, column: null } : { row, column: cell };
}

function moveInScene(view, event) {
  const { rows, columns } = view.data.image;
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const focus = view.focus || {};
  if (event.key === "Enter" && view.focus) keep(view, view.focus);
  if (!moves[event.key]) return;
  event.preventDefault();
  const at = focus.column ?? (inward(view) ? focus.row : null) ?? null;
  const [down, along] = at === null ? [0, 0] : moves[event.key];
  const within = (place, count) => Math.max(0, Math.min(count - 1, place));
  const cell = within(Math.floor((at ?? 0) / columns) + down, rows) * columns +
    within((at ?? 0) % columns + along, columns);
  show(view, inward(view) ? onCell(view, cell) : { row: focus.row ?? null, column: cell });
}

// From a token to the place that it attends to most.

function enterScene(view, row) {
  view.scene.canvas.focus();
  const weights = rowOf(view, row);
  show(view, { row, column: weights.reduce((best, weight, cell) =>
    weight > weights[best] ? cell : best, 0) });
}

// The picture that is saved: a tile for each row.

function sceneFigure(view) {
  const { seen, colours, scene } = view;
  const [wide, high] = sizeWithin(view, 150);
  const across = Math.ceil(Math.sqrt(seen.rows.labels.length + 1));
  const [stepX, stepY] = [Math.max(wide, 100) + 12, high + 34];
  const parts = [`<defs><image id="picture" width="${wide}" height="${high}" ` +
    `preserveAspectRatio="none" href="${scene.picture.src}"/></defs>`];
  ["", ...seen.rows.labels].forEach((label, place) => {
    const [x, y] = [place % across * stepX, Math.floor(place / across) * stepY];
    parts.push(`<g transform="translate(${x} ${y})"><text y="14" fill="${colours.ink}">` +
      `${markup(label)}</text><g transform="translate(0 20)"><use href="#picture"/>`);
    if (place) {
      parts.push(`<image width="${wide}" height="${high}" preserveAspectRatio="none" ` +
        `href="${veil(view, place - 1, wide, high).toDataURL()}"/>`);
    }
    parts.push("</g></g>");
  });
  const rows = Math.ceil((seen.rows.labels.length + 1) / across);
  return { markup: parts.join("\n"), width: across * stepX, height: rows * stepY };
}
