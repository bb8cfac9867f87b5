// Finds pages that have every word; works from a file as well as from a server.
const field = document.getElementById("search");
const list = document.getElementById("found");
const up = document.querySelector("nav").dataset.up;

// The index is large; a page that is only read does without it. A script also loads from a file, which fetch does not.
let loading;
function index() {
  loading ??= new Promise((done, fail) => {
    const script = document.createElement("script");
    script.src = `${up}/pages.js`;
    script.addEventListener("load", done);
    script.addEventListener("error", fail);
    document.head.append(script);
  });
  return loading;
}

function matches(words) {
  const scored = PAGES.map((page) => {
    const title = page.title.toLowerCase();
    const text = (page.lower ??= page.text.toLowerCase());
    if (!words.every((word) => title.includes(word) || text.includes(word))) return [0, page];
    return [words.reduce((sum, word) => sum + (title.includes(word) ? 50 : 0) + Math.min(20, text.split(word).length), 1), page];
  });
  return scored.filter(([score]) => score > 0).sort(([a], [b]) => b - a).slice(0, 20).map(([, page]) => page);
}

field.addEventListener("focus", index);
field.addEventListener("input", async () => {
  await index();
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length ? matches(words) : [];
  list.hidden = !words.length;
  list.replaceChildren(...found.map((page) => {
    const item = document.createElement("li");
    const link = item.appendChild(document.createElement("a"));
    link.href = `${up}/${page.at}`;
    link.textContent = page.title;
    return item;
  }));
  if (words.length && !found.length) list.textContent = "nothing found";
});
