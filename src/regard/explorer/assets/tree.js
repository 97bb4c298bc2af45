// The search as a tree that can be opened. What has a single continuation stands on one line with
// it; what is inside a branch is made when the branch is opened.

const NODE = { label: 0, parent: 1, step: 2, score: 3, normalized: 4, share: 5, fate: 6, last: 7 };

function treeElement(told) {
  const { nodes, answers } = told;
  const tree = { nodes, children: nodes.map(() => []), ranks: new Map(), best: new Set() };
  nodes.forEach((node, number) => {
    if (node[NODE.parent] >= 0) tree.children[node[NODE.parent]].push(number);
  });
  answers.forEach((number, place) => tree.ranks.set(number, place + 1));
  for (let at = answers[0]; at > 0; at = nodes[at][NODE.parent]) tree.best.add(at);
  const list = build("ul", "tree");
  list.append(...tree.children[0].map((number) => branch(tree, number)));
  return list;
}

function branch(tree, number) {
  const run = [number];
  let inside = tree.children[number];
  while (inside.length === 1 && tree.nodes[inside[0]][NODE.fate] !== "pruned") {
    run.push(inside[0]);
    inside = tree.children[inside[0]];
  }
  const last = tree.nodes[run[run.length - 1]];
  const item = build("li", last[NODE.fate]);
  if (tree.best.has(number)) item.classList.add("best");
  const line = branchLine(tree, run, last);
  if (!inside.length) {
    item.append(build("div", "leaf", ...line));
    return item;
  }
  const details = build("details", "", build("summary", "", ...line));
  const fill = () => {
    if (details.childElementCount > 1) return;
    details.append(build("ul", "", ...inside.map((each) => branch(tree, each))));
  };
  details.addEventListener("toggle", () => { if (details.open) fill(); });
  if (tree.best.has(number)) {
    fill();
    details.open = true;
  }
  item.append(details);
  return item;
}

function branchLine(tree, run, last) {
  const share = run.reduce((all, each) => all * tree.nodes[each][NODE.share], 1);
  const words = run.flatMap((each) => [isolated(tree.nodes[each][NODE.label]), " "]);
  return [
    build("span", "run", ...words),
    build("span", "share", shareText(share)),
    build("span", "fate", fateText(tree, run[run.length - 1], last)),
  ];
}

function fateText(tree, number, node) {
  const total = `log-probability ${signed(node[NODE.score])}`;
  const each = `${signed(node[NODE.normalized])} as ranked`;
  switch (node[NODE.fate]) {
    case "finished": return `answer ${tree.ranks.get(number)}: ${total}, ${each}`;
    case "pruned": return `pruned at step ${node[NODE.last]}: ${total}`;
    case "abandoned": return `given up at step ${node[NODE.last]}: nothing after it had a place`;
    case "open": return `still going when the search ended at step ${node[NODE.last]}: ${total}`;
    default: return total;
  }
}
