// What is said of the focus, to screen readers too; and what else could have been written.
// Text only ever enters the page as text.

const SCENE_HINT = "Point at a token, or at a place in the picture, to see its weights; arrow keys " +
  "move, Enter keeps, Escape lets go.";
const HINT = "Point at a token or a cell to see its weights; arrow keys move, Enter keeps, " +
  "Escape lets go.";

function tell(view) {
  const { row = null, column = null } = view.focus || {};
  const { seen, readout } = view;
  const name = (side, index) => seen[side].labels[index];
  if (row === null && column === null) {
    const hint = pictured(view) ? SCENE_HINT : HINT;
    readout.textContent = view.place === 0 ? hint : ""; // once is enough
  } else if (row !== null && column !== null) {
    readout.replaceChildren(strong(name("rows", row)), " attends to ",
      strong(name("columns", column)), `: ${weightAt(seen, row, column).toFixed(4)}`);
  } else if (row !== null) {
    const weights = seen.columns.labels.map((_, index) => weightAt(seen, row, index));
    readout.replaceChildren(strong(name("rows", row)), " attends to ",
      ...heaviest(weights, (index) => name("columns", index)), ...told(view, "rows", row));
  } else {
    const weights = seen.rows.labels.map((_, index) => weightAt(seen, index, column));
    readout.replaceChildren(strong(name("columns", column)), " is attended to by ",
      ...heaviest(weights, (index) => name("rows", index)), ...told(view, "columns", column));
  }
  tellAlternatives(view, row);
}

function heaviest(weights, name) {
  const order = weights.map((_, index) => index).sort((a, b) => weights[b] - weights[a]);
  return order.slice(0, 4).filter((index, place) => !place || weights[index] >= 0.005)
    .flatMap((index, place) => [
      place ? ", " : "", isolated(name(index)), ` ${weights[index].toFixed(2)}`,
    ]);
}

function told(view, axis, unit) {
  const name = view.seen.sides[axis];
  const side = view.data[name];
  const tokens = view.seen[axis].members[unit];
  const parts = [];
  if (name === "output" && side.probabilities) {
    const probability = tokens.reduce((all, token) => all * side.probabilities[token], 1);
    parts.push(`; its probability: ${probability.toFixed(3)}`);
  }
  if (side.steps && tokens.length === 1) parts.push(`; it took ${side.steps[tokens[0]].said}`);
  return parts;
}

// A line for each token of the focus: its probability, and the next best.

function tellAlternatives(view, row) {
  const { output } = view.data;
  if (!output.nextBest) return;
  const tokens = row === null || view.seen.sides.rows !== "output"
    ? [] : view.seen.rows.members[row];
  view.alternatives.replaceChildren(...tokens.map((token) => {
    const line = document.createElement("p");
    line.append(choice(output.tokens[token], output.probabilities && output.probabilities[token],
      "chosen"), " not ", ...output.nextBest[token].map(([label, probability]) =>
      choice(label, probability, "other")));
    return line;
  }));
}

function choice(label, probability, looks) {
  const made = document.createElement("span");
  made.className = `choice ${looks}`;
  made.style.setProperty("--share", probability || 0);
  made.append(isolated(label), ` ${probability === null ? "" : shareText(probability)}`);
  return made;
}

function shareText(probability) {
  if (probability > 0 && probability < 0.0001) return probability.toExponential(0);
  return probability.toFixed(probability < 0.01 ? 4 : 3);
}

function isolated(text) {
  const made = document.createElement("bdi");
  made.textContent = text;
  return made;
}

function strong(text) {
  const made = document.createElement("b");
  made.append(isolated(text));
  return made;
}
