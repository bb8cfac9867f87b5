// Which model reviews, what is missing, and Pi's key for it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { command } from "../commands.js";
import { call, context, guarded, home, stub } from "./support.js";

const KEY = "sk-lent-by-pi";
const model = { provider: "anthropic", id: "m-1", baseUrl: "https://api.anthropic.com" };

/** A Pi that knows one model, and has a key for it or not. */
function registry({ apiKey = KEY, oauth = false } = {}) {
  return {
    getAvailable: () => [model],
    find: (provider, id) => (provider === model.provider && id === model.id ? model : undefined),
    isUsingOAuth: () => oauth,
    getApiKeyAndHeaders: async () => (apiKey ? { ok: true, apiKey } : { ok: false, error: "none" }),
  };
}

/** A program that allows every call, and says this about the reviewer. */
function reviewed(standing) {
  const answer = { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "allow", permissionDecisionReason: "r" } };
  return stub(`case "$1" in model) echo '${JSON.stringify(standing)}';; *) echo '${JSON.stringify(answer)}';; esac`);
}

const said = (ctx) => ctx.seen.notes.at(-1);
const key = { what: "key", sentence: "the variable `ANTHROPIC_API_KEY` with the key is not set" };

test("a chosen model counts at once, or what is missing is said to the letter", async (t) => {
  home(t);
  const rows = [
    [{ in_force: "anthropic/m-1", missing: [] }, registry(), /^info: anthropic\/m-1 reviews from the next call on$/],
    [{ in_force: "anthropic/m-1", missing: [key] }, registry(), /reviews from the next call on$/],
    [{ in_force: "anthropic/m-1", missing: [key] }, registry({ apiKey: null }), /does not review yet: .*not set, and Pi has no key of its own for anthropic/],
    [{ in_force: "anthropic/m-1", missing: [key] }, registry({ oauth: true }), /does not review yet: .*Pi has no key/],
    [{ in_force: null, missing: [{ what: "choice", sentence: "run `doorward model use anthropic/m-1`" }] }, registry(), /does not review yet: run `doorward model use/],
  ];
  for (const [standing, modelRegistry, wanted] of rows) {
    const program = reviewed({ url: null, ...standing });
    const ctx = { ...context(), modelRegistry };
    await command("model anthropic/m-1", ctx, guarded(program).guard);
    assert.match(said(ctx), wanted);
    assert.match(readFileSync(`${program}.words`, "utf8"), /--wanted anthropic\/m-1/);
  }
});

test("status names the model, and what keeps it from being asked", async () => {
  for (const [standing, wanted] of [
    [{ in_force: null, missing: [] }, /\nreviewer: none\n/],
    [{ in_force: "anthropic/m-1", missing: [] }, /\nreviewer: anthropic\/m-1\n/],
    [{ in_force: "x/y", missing: [{ what: "provider", sentence: "`x` is not known" }] }, /\nreviewer: x\/y, which cannot be asked: `x` is not known\n/],
  ]) {
    const ctx = { ...context(), modelRegistry: registry() };
    await command("status", ctx, guarded(reviewed({ url: null, ...standing })).guard);
    assert.match(said(ctx), wanted);
  }
});

test("Pi's key goes over standard input, with the address it is for, and only for the model that reviews", async () => {
  const told = async (standing, options) => {
    const program = reviewed({ url: null, missing: [], ...standing });
    const { guard } = guarded(program);
    const ctx = { ...context(), modelRegistry: registry(options) };
    await guard.begin({ reason: "startup" }, ctx);
    assert.equal(await guard.judge(call(), ctx), undefined);
    assert.ok(!readFileSync(`${program}.words`, "utf8").includes(KEY));
    return readFileSync(`${program}.told`, "utf8").trim().split("\n").filter(Boolean).map((line) => JSON.parse(line)).at(-1);
  };
  assert.deepEqual((await told({ in_force: "anthropic/m-1" })).reviewer_key, { provider: "anthropic", url: model.baseUrl, key: KEY });
  assert.equal((await told({ in_force: null })).reviewer_key, undefined);
  assert.equal((await told({ in_force: "other/m-1" })).reviewer_key, undefined);
  assert.equal((await told({ in_force: "anthropic/m-1" }, { oauth: true })).reviewer_key, undefined);
});

test("a turn that is cancelled while a call is judged is no failure of the guard", async () => {
  const cancel = new AbortController();
  const { guard } = guarded(stub(`case "$1" in hook) [ -e "$0.once" ] || { touch "$0.once"; exec sleep 20; };; esac`));
  const ctx = context({ signal: cancel.signal });
  const judged = guard.judge(call(), ctx);
  setTimeout(() => cancel.abort(), 100);
  const { block, reason } = await judged;
  assert.deepEqual([block, reason], [true, "the turn was cancelled while the call was judged, so it did not run"]);
});
