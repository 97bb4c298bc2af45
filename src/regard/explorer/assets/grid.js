// A photo with its grid laid over it, whose cells can be hidden.

function hidingGrid(panel) {
  const { uri, seen } = panel.source.held;
  const { rows, columns, covered, width, height } = seen[panel.number];
  const frame = build("div", "hiding");
  const picture = build("img", "");
  picture.src = uri;
  picture.alt = "";
  const grid = build("div", "cells");
  const [left, top, right, bottom] = covered;
  const share = (length, whole) => `${100 * length / whole}%`;
  grid.style.left = share(left, width);
  grid.style.top = share(top, height);
  grid.style.width = share(right - left, width);
  grid.style.height = share(bottom - top, height);
  grid.style.gridTemplateColumns = `repeat(${columns}, 1fr)`;
  grid.style.gridTemplateRows = `repeat(${rows}, 1fr)`;
  for (let cell = 0; cell < rows * columns; cell++) {
    const name = `row ${Math.floor(cell / columns) + 1}, column ${cell % columns + 1}`;
    const chip = hidingChip(panel, "", [cell]);
    chip.className = "cell";
    chip.setAttribute("aria-label", name);
    chip.title = name;
    grid.append(chip);
  }
  frame.append(picture, grid);
  return frame;
}
