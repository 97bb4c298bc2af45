// The heat map: a canvas of what is in sight, in a frame that scrolls; labels stay in view.

const LARGEST_CELL = 40;
const LABELLED = 9; // pixels of a cell that has room for its label
const VALUED = 30; // and for its weight

function makeMap(view) {
  const frame = view.root.querySelector(".map");
  const canvas = document.createElement("canvas");
  const extent = document.createElement("div");
  frame.replaceChildren(canvas, extent);
  frame.tabIndex = 0;
  frame.addEventListener("scroll", () => redraw(view), { passive: true });
  return { frame, canvas, extent, cell: 0, left: 0, top: 0, picture: null };
}

// The size of everything, before it is arranged.

function sizeMap(view, zoom) {
  const map = view.map;
  const [rows, columns] = [view.seen.rows.labels.length, view.seen.columns.labels.length];
  const fitting = Math.floor(Math.min(560 / columns, 560 / rows));
  map.cell = zoom || Math.min(34, Math.max(2, fitting));
  const context = map.canvas.getContext("2d");
  context.font = labelFont(view);
  const longest = (labels) => Math.min(130, Math.max(...labels.slice(0, 400).map((label) =>
    context.measureText(label).width), 0)) + 10;
  const labelled = map.cell >= LABELLED;
  map.left = labelled ? Math.ceil(longest(view.seen.rows.labels)) : 4;
  map.top = labelled ? Math.ceil(longest(view.seen.columns.labels)) : 4;
  map.width = map.left + columns * map.cell + 1;
  map.height = map.top + rows * map.cell + 1;
  map.extent.style.width = `${map.width}px`;
  map.extent.style.height = `${map.height}px`;
  map.picture = null;
  map.frame.setAttribute("aria-label",
    `Heat map, ${rows} rows by ${columns} columns: ${view.seen.name}. Arrow keys move.`);
}

function mapWidth(view) {
  return Math.min(view.map.width, 720);
}

function labelFont(view) {
  const size = Math.max(8, Math.min(13, view.map.cell * 0.8));
  return `${size}px ${view.colours.font}`;
}

// A picture with one pixel a cell, which is drawn larger.

function mapPicture(view) {
  const { weights, top } = view.seen;
  const [height, width] = [view.seen.rows.labels.length, view.seen.columns.labels.length];
  const picture = document.createElement("canvas");
  picture.width = width;
  picture.height = height;
  const context = picture.getContext("2d");
  const image = context.createImageData(width, height);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const place = row * width + mirrored(view, column);
      image.data[4 * place + 3] = top ? Math.round(255 * weights[row * width + column] / top) : 0;
    }
  }
  context.putImageData(image, 0, 0);
  context.globalCompositeOperation = "source-in";
  context.fillStyle = view.colours.accent;
  context.fillRect(0, 0, width, height);
  return picture;
}

// Right-to-left columns begin on the right.

function mirrored(view, column) {
  return view.seen.columns.rtl ? view.seen.columns.labels.length - 1 - column : column;
}

function drawMap(view) {
  const map = view.map;
  const { frame, cell, left, top } = map;
  map.picture ||= mapPicture(view);
  const width = Math.min(frame.clientWidth, map.width);
  const height = Math.min(frame.clientHeight, map.height);
  const context = fitCanvas(map.canvas, width, height);
  const [x, y] = [left - frame.scrollLeft, top - frame.scrollTop];
  const [wide, high] = [map.picture.width * cell, map.picture.height * cell];
  context.save();
  context.beginPath();
  context.rect(left - 1, top - 1, width, height);
  context.clip();
  context.fillStyle = view.colours.empty;
  context.fillRect(x, y, wide, high);
  context.imageSmoothingEnabled = false;
  context.drawImage(map.picture, x, y, wide, high);
  const shown = cellsInSight(map, width, height);
  if (cell >= LABELLED) drawGrid(view, context, shown, x, y);
  if (cell >= VALUED) drawValues(view, context, shown, x, y);
  drawCrosshair(view, context, x, y, wide, high);
  context.restore();
  if (cell >= LABELLED) drawLabels(view, context, shown, x, y);
}

function cellsInSight({ frame, cell, left, top, picture }, width, height) {
  const inside = (start, room, count) => {
    const first = Math.max(0, Math.floor(start / cell));
    return range(Math.max(0, Math.min(count, Math.ceil((start + room) / cell)) - first))
      .map((place) => first + place);
  };
  return {
    columns: inside(frame.scrollLeft, width - left, picture.width),
    rows: inside(frame.scrollTop, height - top, picture.height),
  };
}

function drawGrid(view, context, shown, x, y) {
  const cell = view.map.cell;
  context.fillStyle = view.colours.card;
  for (const place of shown.columns) context.fillRect(x + place * cell - 0.5, 0, 1, 1e5);
  for (const row of shown.rows) context.fillRect(0, y + row * cell - 0.5, 1e5, 1);
}

function drawValues(view, context, shown, x, y) {
  const { cell } = view.map;
  context.font = `11px ${view.colours.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const row of shown.rows) {
    for (const place of shown.columns) {
      const weight = weightAt(view.seen, row, mirrored(view, place));
      if (weight < 0.005) continue;
      context.fillStyle = weight > 0.55 * view.seen.top ? view.colours.over : view.colours.ink;
      context.fillText(weight.toFixed(2), x + (place + 0.5) * cell, y + (row + 0.5) * cell);
    }
  }
}

function drawCrosshair(view, context, x, y, wide, high) {
  if (!view.focus) return;
  const { cell } = view.map;
  const { row, column } = view.focus;
  const place = column === null ? null : mirrored(view, column);
  context.strokeStyle = view.colours.ink;
  context.lineWidth = 1.5;
  if (row !== null && column !== null && cell < LABELLED) { // a cell too small to be outlined
    context.globalAlpha = 0.4;
    context.strokeRect(x, y + row * cell, wide, cell);
    context.strokeRect(x + place * cell, y, cell, high);
    context.globalAlpha = 1;
  }
  context.strokeRect(
    place === null ? x : x + place * cell, row === null ? y : y + row * cell,
    place === null ? wide : cell, row === null ? high : cell,
  );
}

function drawLabels(view, context, shown, x, y) {
  const { cell, left, top } = view.map;
  const { row: active = null, column: pointed = null } = view.focus || {};
  const write = (label, on, room) => {
    context.font = (on ? "bold " : "") + labelFont(view);
    context.fillStyle = on ? view.colours.accent : view.colours.ink;
    context.fillText(fitted(context, label, room), 0, 0);
  };
  context.textBaseline = "middle";
  for (const row of shown.rows) {
    const middle = y + (row + 0.5) * cell;
    if (middle < top) continue;
    context.save();
    context.translate(left - 6, middle);
    context.textAlign = "right";
    write(view.seen.rows.labels[row], row === active, left - 8);
    context.restore();
  }
  for (const place of shown.columns) {
    const column = mirrored(view, place);
    const middle = x + (place + 0.5) * cell;
    if (middle < left) continue;
    context.save();
    context.translate(middle, top - 6);
    context.rotate(-Math.PI / 2);
    context.textAlign = "left";
    write(view.seen.columns.labels[column], column === pointed, top - 8);
    context.restore();
  }
}

function fitted(context, label, room) {
  if (context.measureText(label).width <= room) return label;
  const letters = [...label];
  while (letters.length > 1 && context.measureText(`${letters.join("")}…`).width > room) {
    letters.pop();
  }
  return `${letters.join("")}…`;
}

function cellAt(view, event) {
  const { frame, cell, left, top } = view.map;
  const box = view.map.canvas.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  if (x < left || y < top) return null;
  const place = Math.floor((x - left + frame.scrollLeft) / cell);
  const row = Math.floor((y - top + frame.scrollTop) / cell);
  const inside = place < view.seen.columns.labels.length && row < view.seen.rows.labels.length;
  return inside ? { row, column: mirrored(view, place) } : null;
}

// Scroll until a cell is in sight.

function revealCell(view, { row, column }) {
  const { frame, cell, left, top } = view.map;
  const place = mirrored(view, column) * cell;
  const [wide, high] = [frame.clientWidth - left, frame.clientHeight - top];
  if (place < frame.scrollLeft) frame.scrollLeft = place;
  if (place + cell > frame.scrollLeft + wide) frame.scrollLeft = place + cell - wide;
  if (row * cell < frame.scrollTop) frame.scrollTop = row * cell;
  if ((row + 1) * cell > frame.scrollTop + high) frame.scrollTop = (row + 1) * cell - high;
}
