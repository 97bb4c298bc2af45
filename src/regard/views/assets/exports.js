// Saving what is seen: SVG, PNG, CSV, and word alignments in Pharaoh format.

function saveSvg(view) {
  saveText("attention.svg", "image/svg+xml", figureSvg(view).text);
}

function savePng(view) {
  const { text, width, height } = figureSvg(view);
  const scale = Math.min(2, 12000 / Math.max(width, height));
  const image = new Image();
  image.addEventListener("load", () => {
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(width * scale);
    canvas.height = Math.ceil(height * scale);
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save("attention.png", blob));
  });
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

function saveCsv(view) {
  const { rows, columns, weights } = view.seen;
  const width = columns.labels.length;
  const lines = [["", ...columns.labels].map(field).join(",")];
  rows.labels.forEach((label, row) => {
    const values = [...weights.subarray(row * width, (row + 1) * width)].map(number);
    lines.push([field(label), ...values].join(","));
  });
  saveText("attention.csv", "text/csv", `${lines.join("\r\n")}\r\n`);
}

// A spreadsheet would run what begins like a formula: an apostrophe keeps it text.

function field(text) {
  const harmless = /^[=+\-@\t\r]./s.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replace(/"/g, '""')}"` : harmless;
}

function saveLinks(view) {
  saveText("attention.pharaoh", "text/plain", `${links(view)}\n`);
}

// Each word of the output with the source word that gets most over its tokens; where a token that
// is no word gets more, the word has no link.

function links(view) {
  const rows = units(view.data.output, true);
  const columns = units(view.data.source, true);
  const weights = merged(chosenWeights(view, view.choice), rows, columns);
  const width = columns.labels.length;
  const found = [];
  rows.words.forEach((word, row) => {
    if (word < 0) return;
    const own = weights.subarray(row * width, (row + 1) * width);
    let best = 0;
    own.forEach((weight, column) => { if (weight > own[best]) best = column; });
    if (columns.words[best] >= 0) found.push([columns.words[best], word]);
  });
  found.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return found.map((pair) => pair.join("-")).join(" ");
}

function saveText(name, type, text) {
  save(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
