// A session of many calls in a real browser: when its timeline is on the screen, and that paging reaches its end.
import assert from "node:assert/strict";
import { Browser, pause } from "./browser.mjs";

const { start, origin, calls, within } = JSON.parse(process.argv[2]);
const browser = await Browser.open();
try {
  const tab = await browser.tab();
  await tab.go(start);
  await tab.until("location.pathname === '/' && document.querySelector('h1')");
  // The moment when the calls are painted: two frames after they are in the page.
  await tab.send("Page.addScriptToEvaluateOnNewDocument", { source: `new MutationObserver((_, own) => {
    if (!document.querySelector(".timeline li")) return;
    own.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => { window.painted = performance.now(); }));
  }).observe(document, { childList: true, subtree: true });` });
  const took = [];
  for (let round = 0; round < 5; round++) {
    await tab.go(`${origin}/sessions/long`);
    await pause(100);
    took.push(Math.round(await tab.until("location.pathname === '/sessions/long' && window.painted")));
  }
  let seen = 0, pages = 0;
  for (;;) {
    seen += await tab.until("document.querySelectorAll('.timeline li').length");
    pages += 1;
    const next = await tab.ask("document.querySelector('a[rel=next]')?.getAttribute('href')");
    if (!next || pages === 5) break;
    await tab.go(origin + next);
    await pause(60);
    await tab.until(`location.search.includes(${JSON.stringify(next.split("?")[1])}) && document.querySelector('.timeline li')`);
  }
  assert.equal(seen, Math.min(calls, 500));
  took.sort((a, b) => a - b);
  console.log(`painted after ${took.join(", ")} ms, median ${took[2]}`);
  assert.ok(took[2] <= within, `${took[2]} ms is more than ${within}`);
  console.log("all good");
} finally {
  await browser.close();
}
