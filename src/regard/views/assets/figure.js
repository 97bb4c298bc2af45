// The picture that is saved: tokens with lines between them, and the heat map, as one SVG.

const MOST_LINES = 4000; // the strongest ones
const MOST_SHAPES = 3600; // cells drawn one by one; more are a picture inside the picture

function figureSvg(view) {
  const { seen, colours } = view;
  const nothing = { markup: "", width: 0, height: 0 };
  const lines = pictured(view) ? nothing : bridgeFigure(view);
  const map = pictured(view) ? sceneFigure(view) : mapFigure(view);
  const width = Math.max(lines.width, map.width, 480) + 32;
  const height = 56 + lines.height + map.height + 24;
  const text = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
      `viewBox="0 0 ${width} ${height}" font-family="${markup(colours.font)}" font-size="13">`,
    `<rect width="${width}" height="${height}" fill="${colours.card}"/>`,
    `<text x="16" y="26" fill="${colours.muted}">${markup(caption(view))}</text>`,
    `<g transform="translate(16 44)">${lines.markup}</g>`,
    `<g transform="translate(16 ${56 + lines.height})">${map.markup}</g>`,
    "</svg>",
  ].join("\n");
  return { text, width, height, seen };
}

function caption(view) {
  const words = view.choice.words ? "; whole words: added over columns, averaged over rows" : "";
  const most = pictured(view) ? "Largest weight" : "Darkest";
  return `${view.seen.name}${words}. ${most}: ${view.seen.top.toFixed(4)}`;
}

function markup(text) {
  const names = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (character) => names[character]);
}

// Above what is attended to, below what attends; long inputs as far as they are wide.

function bridgeFigure(view) {
  const { seen, colours } = view;
  const context = view.map.canvas.getContext("2d");
  context.font = `13px ${colours.font}`;
  const row = (unit) => {
    const widths = unit.labels.map((label) => context.measureText(label).width + 12);
    const total = widths.reduce((sum, wide) => sum + wide, 0);
    let x = 0;
    const middles = widths.map((wide) => (x += wide) - wide / 2);
    return { total, middles: unit.rtl ? middles.map((middle) => total - middle) : middles };
  };
  const [above, below] = [row(seen.columns), row(seen.rows)];
  const width = Math.max(above.total, below.total);
  const shift = { above: (width - above.total) / 2, below: (width - below.total) / 2 };
  const parts = [];
  for (const { row: from, column, weight } of strongest(seen)) {
    const [x, to] = [above.middles[column] + shift.above, below.middles[from] + shift.below];
    const strength = weight / seen.top;
    parts.push(`<path d="M${tenth(x)} 20C${tenth(x)} 75 ${tenth(to)} 75 ${tenth(to)} 130" fill="none" ` +
      `stroke="${colours.accent}" stroke-linecap="round" ` +
      `stroke-width="${(0.6 + 3.4 * strength).toFixed(2)}" ` +
      `stroke-opacity="${(0.9 * strength).toFixed(3)}"/>`);
  }
  const words = (unit, middles, from, y) => unit.labels.forEach((label, index) => parts.push(
    `<text x="${tenth(middles[index] + from)}" y="${y}" text-anchor="middle" ` +
      `fill="${colours.ink}">${markup(label)}</text>`));
  words(seen.columns, above.middles, shift.above, 14);
  words(seen.rows, below.middles, shift.below, 146);
  return { markup: parts.join("\n"), width: Math.ceil(width), height: 160 };
}

function strongest({ weights, top, columns }) {
  const width = columns.labels.length;
  const found = [];
  weights.forEach((weight, place) => {
    if (!weight || weight < THINNEST * top) return;
    found.push({ weight, row: Math.floor(place / width), column: place % width });
  });
  return found.sort((a, b) => b.weight - a.weight).slice(0, MOST_LINES);
}

function mapFigure(view) {
  const { seen, colours } = view;
  const [rows, columns] = [seen.rows.labels.length, seen.columns.labels.length];
  const cell = Math.max(1, Math.min(30, Math.floor(6000 / Math.max(rows, columns))));
  const size = Math.min(13, cell * 0.85);
  const context = view.map.canvas.getContext("2d");
  context.font = `${size}px ${colours.font}`;
  const longest = (labels) => Math.ceil(labels.reduce((most, label) =>
    Math.max(most, context.measureText(label).width), 0)) + 8;
  const [left, top] = [longest(seen.rows.labels), longest(seen.columns.labels)];
  const parts = [`<rect x="${left}" y="${top}" width="${columns * cell}" height="${rows * cell}" ` +
    `fill="${colours.empty}"/>`];
  if (rows * columns > MOST_SHAPES) {
    parts.push(`<image x="${left}" y="${top}" width="${columns * cell}" height="${rows * cell}" ` +
      `preserveAspectRatio="none" style="image-rendering: pixelated" ` +
      `href="${(view.map.picture ||= mapPicture(view)).toDataURL()}"/>`);
  } else {
    parts.push(...mapCells(view, left, top, cell));
  }
  const looks = `font-size="${tenth(size)}" fill="${colours.ink}"`;
  seen.rows.labels.forEach((label, row) => parts.push(`<text x="${left - 5}" ` +
    `y="${tenth(top + (row + 0.5) * cell + size * 0.35)}" text-anchor="end" ${looks}>${markup(label)}</text>`));
  seen.columns.labels.forEach((label, column) => {
    const x = tenth(left + (mirrored(view, column) + 0.5) * cell + size * 0.35);
    parts.push(`<text transform="translate(${x} ${top - 5}) rotate(-90)" ${looks}>${markup(label)}</text>`);
  });
  return { markup: parts.join("\n"), width: left + columns * cell, height: top + rows * cell };
}

function mapCells(view, left, top, cell) {
  const { seen, colours } = view;
  const width = seen.columns.labels.length;
  return [...seen.weights].map((weight, place) => {
    const [row, column] = [Math.floor(place / width), place % width];
    const opacity = seen.top ? (weight / seen.top).toFixed(3) : 0;
    const title = `${seen.rows.labels[row]} → ${seen.columns.labels[column]}: ${number(weight)}`;
    return `<rect x="${left + mirrored(view, column) * cell}" y="${top + row * cell}" ` +
      `width="${cell - 1}" height="${cell - 1}" fill="${colours.accent}" ` +
      `fill-opacity="${opacity}"><title>${markup(title)}</title></rect>`;
  });
}

function tenth(value) {
  return Math.round(value * 10) / 10;
}

function number(weight) {
  return String(Number(weight.toPrecision(6)));
}
