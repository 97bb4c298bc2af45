// Elements. Text only ever enters the page as text; markup comes from the server alone, which
// escapes all text in it, and no script in it could run: the policy allows the page's own file only.

const trusted = window.trustedTypes
  ? window.trustedTypes.createPolicy("regard", { createHTML: (markup) => markup })
  : { createHTML: (markup) => markup };

function parsed(markup) {
  const template = document.createElement("template");
  template.innerHTML = trusted.createHTML(markup);
  return template.content.firstElementChild;
}

function build(tag, looks, ...parts) {
  const element = document.createElement(tag);
  if (looks) element.className = looks;
  element.append(...parts);
  return element;
}

function pressable(looks, label, act) {
  const button = build("button", looks, label);
  button.type = "button";
  button.addEventListener("click", act);
  return button;
}

function signed(value) {
  return value === null ? "none" : value.toFixed(3).replace("-", "\u2212");
}

// The words of a text, those marked that another text has not in the same order (the rest of a
// longest common subsequence).

function wordsBeside(text, other) {
  const words = text.split(/\s+/).filter(Boolean);
  const shared = other === null ? null : commonWords(words, other.split(/\s+/).filter(Boolean));
  return words.flatMap((word, place) => [
    place ? " " : "", shared && !shared.has(place) ? build("mark", "", word) : word,
  ]);
}

function commonWords(words, others) {
  if (words.length * others.length > 1e6) return null;
  const lengths = Array.from({ length: words.length + 1 }, () =>
    new Uint16Array(others.length + 1));
  for (let i = words.length - 1; i >= 0; i--) {
    for (let j = others.length - 1; j >= 0; j--) {
      lengths[i][j] = words[i] === others[j]
        ? 1 + lengths[i + 1][j + 1] : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  const shared = new Set();
  for (let i = 0, j = 0; i < words.length && j < others.length;) {
    if (words[i] === others[j]) { shared.add(i); i++; j++; }
    else if (lengths[i + 1][j] >= lengths[i][j + 1]) i++;
    else j++;
  }
  return shared;
}
