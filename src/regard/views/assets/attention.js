"use strict";

// One attention view: tokens of the source and of the output, threads between them, a heat map.
// Pointing at a token or a cell, or moving to a token with the keyboard, shows what belongs to it;
// a click or Enter keeps it; Escape lets go. Text only ever enters the page as text.

(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const THINNEST = 0.02; // threads of less weight are not drawn; the heat map has every weight
  const HINT = "Point at a token or a cell to see its weights; arrow keys move, Enter keeps, " +
    "Escape lets go.";

  function start(root, place) {
    const data = JSON.parse(root.querySelector("script.data").textContent);
    const view = {
      root,
      data,
      bridge: root.querySelector(".bridge"),
      sides: {
        source: [...root.querySelectorAll(".tokens.source .token")],
        output: [...root.querySelectorAll(".tokens.output .token")],
      },
      map: root.querySelector("svg.heatmap"),
      readout: root.querySelector(".readout"),
      hint: place === 0 ? HINT : "", // once is enough
      threads: null,
      paths: [],
      kept: null,
    };
    view.threads = element("svg", { class: "threads", "aria-hidden": "true" });
    view.bridge.prepend(view.threads);
    listen(view);
    arrange(view);
    new ResizeObserver(() => arrange(view)).observe(root.parentElement);
    if (document.fonts) document.fonts.ready.then(() => { view.room = null; arrange(view); });
  }

  function element(name, attributes) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  // Two rows when they fit, two columns when they do not; the heat map beside or below them.

  function arrange(view) {
    const room = roomInside(view.root);
    if (room === view.room && view.paths.length) return;
    view.room = room;
    view.bridge.className = "bridge rows";
    const rows = [...view.bridge.querySelectorAll(".tokens")];
    if (rows.some((row) => row.scrollWidth > room)) view.bridge.className = "bridge columns";
    const panels = view.bridge.parentElement;
    panels.classList.remove("stacked");
    const gap = parseFloat(getComputedStyle(panels).columnGap) || 0;
    const abreast = view.bridge.offsetWidth + gap + Number(view.map.getAttribute("width"));
    panels.classList.toggle("stacked", abreast > room);
    drawThreads(view);
    show(view, view.kept);
  }

  // The element hugs what is in it, so the room is its parent's, less its own edges.

  function roomInside(root) {
    const style = getComputedStyle(root);
    const edges = ["paddingLeft", "paddingRight", "borderLeftWidth", "borderRightWidth"];
    return root.parentElement.clientWidth -
      edges.reduce((sum, edge) => sum + parseFloat(style[edge]), 0);
  }

  function drawThreads(view) {
    const frame = view.bridge.getBoundingClientRect();
    const upright = view.bridge.classList.contains("rows");
    const from = view.sides.source.map((token) => box(token, frame));
    const to = view.sides.output.map((token) => box(token, frame));
    view.threads.replaceChildren();
    view.paths = [];
    view.data.attention.forEach((row, output) => row.forEach((weight, source) => {
      if (weight < THINNEST) return;
      const path = element("path", {
        d: upright ? falling(from[source], to[output]) : crossing(from[source], to[output]),
        "stroke-width": (0.6 + 3.4 * weight).toFixed(2),
        "stroke-opacity": (0.9 * weight).toFixed(3),
        style: `--strength: ${Math.max(0.15, weight).toFixed(3)}`,
      });
      view.threads.append(path);
      view.paths.push({ path, source, output });
    }));
  }

  function box(token, frame) {
    const place = token.getBoundingClientRect();
    return {
      left: place.left - frame.left,
      right: place.right - frame.left,
      top: place.top - frame.top,
      bottom: place.bottom - frame.top,
      x: (place.left + place.right) / 2 - frame.left,
      y: (place.top + place.bottom) / 2 - frame.top,
    };
  }

  function falling(from, to) {
    const bend = (to.top - from.bottom) / 2;
    return `M${from.x} ${from.bottom + 2}C${from.x} ${from.bottom + bend} ` +
      `${to.x} ${to.top - bend} ${to.x} ${to.top - 2}`;
  }

  function crossing(from, to) {
    const bend = (to.left - from.right) / 2;
    return `M${from.right + 2} ${from.y}C${from.right + bend} ${from.y} ` +
      `${to.left - bend} ${to.y} ${to.left - 2} ${to.y}`;
  }

  // What is shown: nothing, one source token, one output token, or one cell (both).

  function show(view, focus) {
    const { source = null, output = null } = focus || {};
    const weight = (i, j) => view.data.attention[j][i];
    mark(view.sides.source, source, (i) => output === null ? 0 : weight(i, output), output, source);
    mark(view.sides.output, output, (j) => source === null ? 0 : weight(source, j), source, output);
    view.threads.classList.toggle("focused", focus !== null);
    for (const thread of view.paths) {
      const here = (source === null || thread.source === source) &&
        (output === null || thread.output === output);
      thread.path.classList.toggle("active", focus !== null && here);
    }
    drawCrosshair(view, source, output);
    tell(view, source, output);
  }

  function mark(tokens, active, weight, other, own) {
    tokens.forEach((token, index) => {
      token.classList.toggle("active", index === active);
      const tinted = other !== null && (own === null || index === own);
      token.style.setProperty("--weight", tinted ? weight(index).toFixed(4) : "0");
    });
  }

  function drawCrosshair(view, source, output) {
    const map = view.map;
    map.querySelectorAll(".crosshair").forEach((old) => old.remove());
    activate(map, ".column-labels", source);
    activate(map, ".row-labels", output);
    const { left, top, cell } = grid(map);
    const columns = view.sides.source.length;
    const rows = view.sides.output.length;
    const place = column(view, source);
    if (source !== null && output === null) {
      outline(map, left + place * cell, top, cell, rows * cell);
    } else if (output !== null && source === null) {
      outline(map, left, top + output * cell, columns * cell, cell);
    } else if (source !== null) {
      outline(map, left + place * cell, top + output * cell, cell, cell);
    }
  }

  function activate(map, group, index) {
    map.querySelectorAll(`${group} text`).forEach((label) => {
      label.classList.toggle("active", index !== null && label.dataset.index === String(index));
    });
  }

  function outline(map, x, y, width, height) {
    map.append(element("rect", { class: "crosshair", x, y, width, height, rx: 2 }));
  }

  function grid(map) {
    const { left, top, cell } = map.dataset;
    return { left: Number(left), top: Number(top), cell: Number(cell) };
  }

  function column(view, source) {
    if (view.map.dataset.mirrored !== "true") return source;
    return view.sides.source.length - 1 - source;
  }

  // The line of text under the picture, read out by screen readers too.

  function tell(view, source, output) {
    const { attention, probabilities, steps } = view.data;
    const name = (side, index) => view.sides[side][index].firstChild.textContent;
    const line = view.readout;
    if (source === null && output === null) {
      line.textContent = view.hint;
    } else if (source !== null && output !== null) {
      line.replaceChildren(
        strong(name("output", output)), " attends to ", strong(name("source", source)),
        `: ${attention[output][source].toFixed(4)}`,
      );
    } else if (output !== null) {
      const weights = attention[output];
      line.replaceChildren(strong(name("output", output)), " attends to ",
        ...heaviest(weights, (index) => name("source", index)));
      if (probabilities) line.append(`; its probability: ${probabilities[output].toFixed(3)}`);
      if (steps.output) line.append(`; it took ${steps.output[output]}`);
    } else {
      const weights = attention.map((row) => row[source]);
      line.replaceChildren(strong(name("source", source)), " is attended to by ",
        ...heaviest(weights, (index) => name("output", index)));
      if (steps.source) line.append(`; it took ${steps.source[source]}`);
    }
  }

  function heaviest(weights, name) {
    const order = weights.map((_, index) => index).sort((a, b) => weights[b] - weights[a]);
    return order.slice(0, 4).filter((index, place) => !place || weights[index] >= 0.005)
      .flatMap((index, place) => [
        place ? ", " : "", isolated(name(index)), ` ${weights[index].toFixed(2)}`,
      ]);
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

  // Pointer and keyboard.

  function listen(view) {
    for (const side of ["source", "output"]) {
      view.sides[side].forEach((token, index) => {
        const focus = { [side]: index };
        token.addEventListener("pointerenter", () => show(view, focus));
        token.addEventListener("pointerleave", () => show(view, view.kept));
        token.addEventListener("focus", () => { rove(view, side, index); show(view, focus); });
        token.addEventListener("blur", () => show(view, view.kept));
        token.addEventListener("click", () => keep(view, focus));
        token.addEventListener("keydown", (event) => move(view, side, index, event));
      });
    }
    view.map.addEventListener("pointermove", (event) => {
      show(view, cellAt(view, event) || view.kept);
    });
    view.map.addEventListener("pointerleave", () => show(view, view.kept));
    view.map.addEventListener("click", (event) => keep(view, cellAt(view, event)));
    view.root.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { view.kept = null; show(view, null); }
    });
  }

  function keep(view, focus) {
    const same = JSON.stringify(view.kept) === JSON.stringify(focus);
    view.kept = same ? null : focus;
    show(view, view.kept);
  }

  function cellAt(view, event) {
    const frame = view.map.getBoundingClientRect();
    const { left, top, cell } = grid(view.map);
    const place = Math.floor((event.clientX - frame.left - left) / cell);
    const row = Math.floor((event.clientY - frame.top - top) / cell);
    const inside = place >= 0 && place < view.sides.source.length &&
      row >= 0 && row < view.sides.output.length;
    return inside ? { source: column(view, place), output: row } : null;
  }

  // One stop of the Tab key for each side; the arrows move inside it and across.

  function rove(view, side, index) {
    view.sides[side].forEach((token, other) => { token.tabIndex = other === index ? 0 : -1; });
  }

  function move(view, side, index, event) {
    const rows = view.bridge.classList.contains("rows");
    const backwards = rows &&
      getComputedStyle(view.sides[side][index].parentElement).direction === "rtl";
    const next = rows ? (backwards ? "ArrowLeft" : "ArrowRight") : "ArrowDown";
    const previous = rows ? (backwards ? "ArrowRight" : "ArrowLeft") : "ArrowUp";
    const across = rows ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
    const tokens = view.sides[side];
    const other = view.sides[side === "source" ? "output" : "source"];
    let target = null;
    if (event.key === next) target = tokens[index + 1];
    else if (event.key === previous) target = tokens[index - 1];
    else if (event.key === "Home") target = tokens[0];
    else if (event.key === "End") target = tokens[tokens.length - 1];
    else if (event.key === across[side === "source" ? 1 : 0]) target = partner(view, side, index);
    else return;
    event.preventDefault();
    if (target && (tokens.includes(target) || other.includes(target))) target.focus();
  }

  // Across: to the token of the other side with the most weight.

  function partner(view, side, index) {
    const weights = side === "output"
      ? view.data.attention[index]
      : view.data.attention.map((row) => row[index]);
    const best = weights.indexOf(Math.max(...weights));
    return view.sides[side === "source" ? "output" : "source"][best];
  }

  document.querySelectorAll(".attention").forEach(start);
})();
