// What is stored, and what of it is seen.

// Stored weights are deflated codes, 16 bits as a plane of low and one of high bytes:
// weight = largest * (code / levels) ** power.

async function unpack(packed) {
  const text = atob(packed.codes);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const codes = new Uint8Array(await new Response(stream).arrayBuffer());
  const { levels, power, largest } = packed;
  const table = new Float32Array(levels + 1);
  for (let code = 0; code <= levels; code++) table[code] = largest * (code / levels) ** power;
  const count = levels > 255 ? codes.length / 2 : codes.length;
  const weights = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    weights[i] = table[levels > 255 ? codes[i] + 256 * codes[count + i] : codes[i]];
  }
  return weights;
}

const KINDS = {
  cross: { name: "Output to source (cross-attention)", rows: "output", columns: "source" },
  encoder: { name: "Source to source (encoder)", rows: "source", columns: "source" },
  decoder: { name: "Output to what came before (decoder)", rows: "output", columns: "read" },
};
const OF_PICTURES = {
  cross: "Output to picture (cross-attention)",
  encoder: "Picture to itself (encoder)",
};

function kindName(view, kind) {
  return view.data.image && OF_PICTURES[kind] ? OF_PICTURES[kind] : KINDS[kind].name;
}

// choice: kind; layer and head, from 0, or "mean"; layer "shown" for what answers have.

function chosenWeights(view, choice) {
  if (choice.layer === "shown") return view.shown;
  const stack = view.stacks[choice.kind];
  const layers = choice.layer === "mean" ? range(stack.layers) : [choice.layer];
  const heads = choice.head === "mean" ? range(stack.heads) : [choice.head];
  const size = stack.weights.length / (stack.layers * stack.heads);
  const places = layers.flatMap((layer) => heads.map((head) => (layer * stack.heads + head) * size));
  if (places.length === 1) return stack.weights.subarray(places[0], places[0] + size);
  const mean = new Float32Array(size);
  for (const place of places) {
    for (let i = 0; i < size; i++) mean[i] += stack.weights[place + i] / places.length;
  }
  return mean;
}

function choiceName(view, choice) {
  const kind = kindName(view, choice.kind);
  if (choice.layer === "shown") return view.data.shownAs ? `${kind}: ${view.data.shownAs}` : kind;
  const stack = view.stacks[choice.kind];
  const called = stack.steps ? "step" : "layer";
  const layer = choice.layer === "mean"
    ? `mean of ${stack.layers} ${called}s` : `${called} ${choice.layer + 1}`;
  let head = `head ${choice.head + 1}`;
  if (stack.mean) head = "mean of its heads";
  else if (stack.heads === 1) head = "its one head";
  else if (choice.head === "mean") head = `mean of ${stack.heads} heads`;
  return `${kind}: ${layer}, ${head}`;
}

// What is seen: a matrix with the labels of its rows and columns.
// Whole words: columns of a word are added, its rows averaged.

function seen(view) {
  const kind = KINDS[view.choice.kind];
  const [rows, columns] = [kind.rows, kind.columns].map((side) =>
    units(view.data[side], view.choice.words));
  const weights = merged(chosenWeights(view, view.choice), rows, columns);
  let top = 0;
  for (const weight of weights) if (weight > top) top = weight;
  return { rows, columns, weights, top, sides: kind, name: choiceName(view, view.choice) };
}

function weightAt(matrix, row, column) {
  return matrix.weights[row * matrix.columns.labels.length + column];
}

// Tokens as units: each by itself, or those of a word together, in order of first appearance.

function units(side, whole) {
  const labels = [], words = [], members = [], known = new Map();
  side.tokens.forEach((token, index) => {
    const word = whole && side.words ? side.words[index] : -1;
    let unit = word >= 0 ? known.get(word) : undefined;
    if (unit === undefined) {
      unit = labels.length;
      labels.push(word >= 0 ? side.wordLabels[word] : token);
      words.push(word);
      members.push([]);
      if (word >= 0) known.set(word, unit);
    }
    members[unit].push(index);
  });
  return { labels, words, members, rtl: side.rtl, count: side.tokens.length };
}

function merged(weights, rows, columns) {
  const [height, width] = [rows.labels.length, columns.labels.length];
  if (height === rows.count && width === columns.count) return weights;
  const sums = new Float32Array(height * width);
  rows.members.forEach((tokens, row) => {
    for (const token of tokens) {
      columns.members.forEach((places, column) => {
        for (const place of places) {
          sums[row * width + column] += weights[token * columns.count + place] / tokens.length;
        }
      });
    }
  });
  return sums;
}

function range(count) {
  return [...Array(count).keys()];
}
