// What a person does at the desk, in a real browser: start, pair, approve, refuse, two tabs, many calls, a restart, a phone.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Browser, pause } from "./browser.mjs";

const { program, home, project, tmux, pictures, axe: checker } = JSON.parse(process.argv[2]);
const axe = checker && readFileSync(checker, "utf8");
const env = { ...process.env, HOME: home };
const run = (words, input = "") => spawnSync(program, words, { env, cwd: project, input, encoding: "utf8" });
const terminal = (...words) => execFileSync("tmux", ["-u", "-S", tmux, ...words], { encoding: "utf8" });
const screen = () => terminal("capture-pane", "-p", "-J", "-t", "person");
const types = (text) => { terminal("send-keys", "-t", "person", "-l", text); terminal("send-keys", "-t", "person", "Enter"); };
const shows = async (pattern, ms = 60000) => {
  for (const end = Date.now() + ms; ; await pause(60)) {
    const found = pattern.exec(screen());
    if (found) return found;
    if (Date.now() > end) throw new Error(`the terminal never showed ${pattern}:\n${screen()}`);
  }
};
let number = 0;
/// An agent proposes a command; its hook's answer.
const propose = (command, session = "desk") => {
  const payload = { session_id: session, transcript_path: "/nowhere.jsonl", cwd: project, permission_mode: "default",
    hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command }, tool_use_id: `t${number++}` };
  const ran = run(["hook", "claude"], JSON.stringify(payload));
  return ran.stdout ? JSON.parse(ran.stdout).hookSpecificOutput?.permissionDecision : `code ${ran.status} ${ran.stderr}`;
};
const codex = (command) => {
  const payload = { hook_event_name: "PreToolUse", session_id: "codex", cwd: project, tool_name: "Bash", tool_input: { command }, tool_use_id: `t${number++}` };
  return run(["hook", "codex"], JSON.stringify(payload)).stdout;
};
const pending = () => JSON.parse(run(["pending", "--json"]).stdout);
const waiting = (command) => pending().find((call) => call.call.includes(command));
const card = (id) => `#call-${id}`;
/// Answers as a person does who looks again when the list moved under the pointer.
const answers = async (tab, id, how, said) => {
  for (const end = Date.now() + 20000; ; await pause(500)) {
    await tab.until(`document.querySelector("${card(id)}")`);
    await tab.ask("document.querySelector('#note').textContent = ''");
    await how();
    const note = await tab.until("document.querySelector('#note').textContent");
    if (note.includes(said)) return;
    if (!note.includes("just changed") || Date.now() > end) throw new Error(`${id}: ${note}`);
  }
};
const step = (what) => console.log(`- ${what}`);
const save = async (tab, name) => {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  writeFileSync(join(pictures, `${name}.png`), await tab.picture());
};

const origin = (await shows(/the desk is at (http:\/\/127\.0\.0\.1:\d+)/))[1];
const browser = await Browser.open();
try {
  const tab = await browser.tab(origin);
  await tab.until("document.body.innerText.includes('This desk is locked')");
  step("nothing is readable before pairing");

  const link = (await shows(/Open (http:\S+\/pair#\S+)/))[1];
  await tab.go(link);
  await tab.click("form button");
  const words = await tab.until("document.querySelector('.words')?.textContent");
  await shows(new RegExp(`${words}[^]*\\[y/N\\]`));
  await pause(500);
  types("y");
  await shows(/Paired\./);
  await tab.until("location.pathname === '/' && document.body.innerText.includes('Nothing is waiting')");
  step("paired, with the same words on both screens");

  const stored = await tab.ask(`new Promise((done) => { const open = indexedDB.open("doorward", 1); open.onsuccess = () => {
    const get = open.result.transaction("keys").objectStore("keys").get("device");
    get.onsuccess = () => done({ algorithm: get.result.algorithm, extractable: get.result.sign.extractable }); }; })`);
  assert.equal(stored.extractable, false);
  step(`the key can't be read: ${stored.algorithm}`);

  // Approve: appears by itself, one press, and exactly this call runs.
  codex("git push origin main");
  const push = waiting("git push");
  await answers(tab, push.id, () => tab.click(`${card(push.id)} button.yes`), `Approved ${push.id}`);
  assert.equal(codex("git push origin main"), "", "silence lets Codex run the call");
  assert.match(codex("git push origin main"), /deny/, "and only once");
  step("approved from the browser, ran once");

  // Refuse with the keyboard alone.
  codex("git push origin other");
  const other = waiting("origin other");
  const withKey = (id, key) => async () => { await tab.ask(`document.querySelector("${card(id)}").focus()`); await tab.key(key); };
  await answers(tab, other.id, withKey(other.id, "n"), `Refused ${other.id}`);
  assert.equal(waiting("origin other"), undefined);
  step("refused with one key");

  // A press that no person made does nothing.
  codex("git push origin third");
  const third = waiting("origin third");
  await tab.until(`document.querySelector("${card(third.id)} button.yes")`);
  await pause(600);
  await tab.ask(`document.querySelector("${card(third.id)} button.yes").click()`);
  await pause(400);
  assert.equal(waiting("origin third").stand, "refused");
  step("a script's click is no answer");

  // Two tabs answer the same call at once: one wins, the other is told.
  const second = await browser.tab(origin);
  await second.until(`document.querySelector("${card(third.id)} button.yes")`);
  await pause(1500);
  await tab.ask("document.querySelector('#note').textContent = ''");
  await Promise.all([tab.ask(`document.querySelector("${card(third.id)}").focus()`), second.ask(`document.querySelector("${card(third.id)}").focus()`)]);
  await Promise.all([tab.key("y"), second.key("y")]);
  await Promise.all([tab.until("document.querySelector('#note').textContent"), second.until("document.querySelector('#note').textContent")]);
  const notes = [await tab.ask("document.querySelector('#note').textContent"), await second.ask("document.querySelector('#note').textContent")];
  const grants = JSON.parse(run(["audit", "list", "--kind", "grant", "--json"]).stdout).filter((row) => row.step === "stored");
  assert.equal(grants.length, 2, `one grant for the first call and one for this: ${notes}`);
  assert.equal(notes.filter((note) => note.startsWith("Approved")).length, 1, notes.join(" | "));
  await browser.send("Target.closeTarget", { targetId: second.target });
  step("of two tabs one wins");

  // What a rule blocks can't be approved here.
  assert.match(codex("rm -rf ~/.ssh"), /deny/);
  const keys = waiting("rm -rf ~/.ssh");
  await tab.until(`document.querySelector("${card(keys.id)}")`);
  assert.equal(await tab.ask(`document.querySelector("${card(keys.id)} button.yes") === null`), true);
  step("a block has no button that approves it");

  // HTML in every field stays text.
  codex("git push 'https://x.example/<img src=x onerror=alert(1)>' '\"><script>alert(2)</script>'");
  await tab.until("document.body.innerText.includes('onerror=alert(1)')");
  assert.equal(await tab.ask("document.querySelectorAll('main img, main script').length"), 0);
  step("markup in a call is text");

  // Always: a second step with a typed word.
  // Five hundred calls.
  const began = Date.now();
  for (let of = 0; of < 500; of++) codex(`git push origin branch-${of}`);
  step(`500 calls proposed in ${Date.now() - began} ms`);
  await tab.go(origin);
  await tab.until("document.querySelectorAll('.card').length >= 50 && document.querySelector('[data-more]')");
  const count = await tab.ask("Number(document.querySelector('h1 small').textContent)");
  assert.ok(count >= 500, `${count} are waiting`);
  await tab.click("[data-more]");
  await tab.until("document.querySelectorAll('.card').length >= 100");
  step(`${count} calls wait, shown by fifty`);

  // Pages, in both schemes and on a phone.
  const places = ["/", "/sessions", "/ledger", "/charts", "/policy", "/health", "/api"];
  const entry = JSON.parse(run(["audit", "list", "--verdict", "block", "--json"]).stdout)[0].sequence;
  const all = [...places, "/sessions/codex", `/ledger/${entry}`, `/queue/${keys.id}`, "/pair"];
  const serious = [];
  for (const [scheme, width] of [["light", 1280], ["dark", 1280], ["light", 320]]) {
    await tab.size(width, 800, width < 400);
    await tab.scheme(scheme);
    for (const place of all) {
      await tab.go(origin + place);
      // Without its style sheet, any page is wide.
      await tab.until("document.readyState === 'complete' && !document.body.innerText.includes('Loading …') && document.querySelector('h1')");
      await pause(150);
      const wide = await tab.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth");
      assert.ok(wide <= 0, `${place} is ${wide} pixels too wide at ${width}`);
      await save(tab, `${scheme}-${width}${place.replaceAll("/", "-").replace(/\d+$/, "entry")}`);
      if (axe) {
        await tab.ask(`${axe}; 1`);
        const found = await tab.ask("axe.run(document, { resultTypes: ['violations'] }).then((all) => all.violations.map((one) => `${one.impact} ${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160) + ' ' + node.failureSummary).slice(0, 3).join(' | ')}`))");
        serious.push(...found.filter((line) => /^(serious|critical)/.test(line)).map((line) => `${place} ${scheme} ${width}: ${line}`));
      }
    }
  }
  assert.deepEqual(serious, [], "axe");
  await tab.size(1200, 900);
  await tab.scheme("light");
  step(`${all.length} pages in two schemes and at 320 pixels${axe ? ", axe without serious findings" : ""}`);

  // The server goes and comes back; the page finds it by itself.
  await tab.go(origin);
  await tab.until("document.querySelector('.card')");
  terminal("send-keys", "-t", "person", "C-c");
  await tab.until("document.querySelector('#note').textContent.includes(\"can't be reached\")");
  const port = new URL(origin).port;
  spawnSync("tmux", ["-S", tmux, "kill-session", "-t", "person"]);
  terminal("new-session", "-d", "-s", "person", "-x", "120", "-y", "60", `cd ${project} && env HOME=${home} ${program} serve --port ${port}; sleep 300`);
  await tab.until("document.querySelector('#note').textContent.includes('Connected again')", 40000);
  codex("git push origin after-restart");
  const after = waiting("after-restart");
  await answers(tab, after.id, () => tab.click(`${card(after.id)} button.yes`), `Approved ${after.id}`);
  step("the page survives a restart, and its key still answers");

  // An agent's browser tools: not to the desk's address, under whatever name; and a click while one is at work is nobody's.
  const tool = (name, input) => {
    const payload = { session_id: "driver", transcript_path: "/nowhere.jsonl", cwd: project, permission_mode: "default",
      hook_event_name: "PreToolUse", tool_name: name, tool_input: input, tool_use_id: `t${number++}` };
    return JSON.parse(run(["hook", "claude"], JSON.stringify(payload)).stdout).hookSpecificOutput.permissionDecision;
  };
  for (const address of [origin, `http://localhost:${port}/`, `http://desk.localtest.me:${port}/queue`, `localhost:${port}`]) {
    assert.equal(tool("mcp__playwright__browser_navigate", { url: address }), "deny", address);
    assert.equal(tool("WebFetch", { url: address, prompt: "read" }), "deny", address);
  }
  codex("git push origin driven");
  const driven = waiting("origin driven");
  tool("mcp__playwright__browser_click", { element: "Approve once", ref: "e7" });
  await answers(tab, driven.id, () => tab.click(`${card(driven.id)} button.yes`), "an agent is using a browser");
  assert.equal(waiting("origin driven").stand, "refused");
  step("an agent's browser tool reaches the desk neither by address nor by a click");

  // A start link only looks.
  const start = (await shows(/Open (http:\S+\/start#\S+)/))[1];
  const { browserContextId } = await browser.send("Target.createBrowserContext");
  const { targetId } = await browser.send("Target.createTarget", { url: "about:blank", browserContextId });
  const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
  const { Tab } = await import("./browser.mjs");
  const guest = new Tab(browser, sessionId, targetId);
  await guest.send("Page.enable");
  await guest.go(start);
  await guest.until("location.pathname === '/' && document.querySelector('.card')");
  assert.equal(await guest.ask("getComputedStyle(document.querySelector('button[data-verdict]')).display"), "none");
  await guest.go(start);
  await guest.until(`document.body.innerText.includes("This link doesn't work")`);
  step("a start link opens the desk once, to look");

  const verified = JSON.parse(run(["audit", "verify", "--json"]).stdout);
  assert.equal(verified.holds, true);
  assert.deepEqual(verified.devices.wrong, []);
  assert.equal(verified.devices.signed[0].answers, 4, JSON.stringify(verified.devices));
  step("audit verify names the device");
  const errors = tab.errors().filter((text) => !/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE|ERR_CONNECTION_RESET|409|401|favicon/.test(String(text)));
  assert.deepEqual(errors, [], "errors on the page");
  console.log("all good");
} finally {
  await browser.close();
}
