// Drives a headless Chromium over its DevTools protocol. No packages: Node's own WebSocket and fetch.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const CHROMIUM = process.env.DOORWARD_CHROMIUM ?? "chromium";

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

export class Browser {
  static async open({ width = 1200, height = 900 } = {}) {
    const profile = mkdtempSync(join(tmpdir(), "desk-chromium-"));
    // A person's browser does not say that it is driven; this one must not either, or the desk refuses it (which has a test of its own).
    const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-port=0",
      "--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
      "--disable-blink-features=AutomationControlled", `--user-data-dir=${profile}`, `--window-size=${width},${height}`, "about:blank"];
    const program = spawn(CHROMIUM, flags, { stdio: ["ignore", "ignore", "pipe"] });
    const address = await new Promise((done, fail) => {
      let said = "";
      program.on("exit", (code) => fail(new Error(`chromium ended with ${code}: ${said}`)));
      program.stderr.on("data", (data) => {
        said += data;
        const found = /DevTools listening on (\S+)/.exec(said);
        if (found) done(found[1]);
      });
    });
    const browser = new Browser();
    Object.assign(browser, { profile, program, next: 1, waiting: new Map(), events: [] });
    browser.socket = new WebSocket(address);
    await new Promise((done, fail) => { browser.socket.onopen = done; browser.socket.onerror = fail; });
    browser.socket.onmessage = ({ data }) => browser.hear(JSON.parse(data));
    return browser;
  }

  hear(message) {
    const waits = this.waiting.get(message.id);
    if (!waits) return this.events.push(message);
    this.waiting.delete(message.id);
    if (message.error) waits.fail(new Error(message.error.message)); else waits.done(message.result);
  }

  send(method, params = {}, sessionId) {
    const id = this.next++;
    this.socket.send(JSON.stringify({ id, method, params, sessionId }));
    return new Promise((done, fail) => this.waiting.set(id, { done, fail }));
  }

  async tab(url = "about:blank") {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const tab = new Tab(this, sessionId, targetId);
    await tab.send("Page.enable");
    await tab.send("Runtime.enable");
    await tab.send("Log.enable");
    if (url !== "about:blank") await tab.go(url);
    return tab;
  }

  async close() {
    this.program.removeAllListeners("exit");
    const ended = new Promise((done) => this.program.once("exit", done));
    await this.send("Browser.close").catch(() => {});
    await Promise.race([ended, pause(3000)]);
    this.program.kill("SIGKILL");
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

export class Tab {
  constructor(browser, session, target) { Object.assign(this, { browser, session, target }); }
  send(method, params) { return this.browser.send(method, params, this.session); }

  async go(url) { await this.send("Page.navigate", { url }); }

  /// What an expression says in the page.
  async ask(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    return result.value;
  }

  /// Waits until an expression is true.
  async until(expression, ms = 15000) {
    for (const end = Date.now() + ms; ;) {
      const said = await this.ask(expression).catch(() => false);
      if (said) return said;
      if (Date.now() > end) throw new Error(`never true: ${expression}\n${await this.ask("document.body.innerText").catch(String)}`);
      await pause(40);
    }
  }

  /// Presses the mouse where an element is, as a person would.
  async click(selector) {
    const at = await this.until(`(() => { const found = document.querySelector(${JSON.stringify(selector)}); if (!found) return null;
      found.scrollIntoView({ block: "center", behavior: "instant" }); const box = found.getBoundingClientRect();
      return box.width ? { x: box.x + box.width / 2, y: box.y + box.height / 2 } : null; })()`);
    for (const type of ["mousePressed", "mouseReleased"]) {
      await this.send("Input.dispatchMouseEvent", { type, ...at, button: "left", clickCount: 1 });
    }
  }

  async key(key) {
    for (const type of ["keyDown", "keyUp"]) {
      await this.send("Input.dispatchKeyEvent", { type, key, text: type === "keyDown" && key.length === 1 ? key : undefined });
    }
  }

  async type(text) { await this.send("Input.insertText", { text }); }

  async size(width, height, mobile = false) {
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile });
  }

  async scheme(value) { await this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }] }); }

  async picture() { return Buffer.from((await this.send("Page.captureScreenshot", { format: "png" })).data, "base64"); }

  /// Errors the page logged, such as something that its content policy stopped.
  errors() {
    const own = this.browser.events.filter((event) => event.sessionId === this.session);
    const logged = own.filter((event) => event.method === "Log.entryAdded" && event.params.entry.level === "error").map((event) => `${event.params.entry.text} ${event.params.entry.url ?? ""}`);
    return [...logged, ...own.filter((event) => event.method === "Runtime.exceptionThrown").map((event) => event.params.exceptionDetails.exception?.description)];
  }
}
export { pause };
