// What a session keeps, what the model is told, and the commands.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { command, completions, saveModel } from "../commands.js";
import { files, shortened } from "../context.js";
import { blocked, fresh, restored } from "../state.js";
import { call, context, guarded, home, saying, scratch, stub } from "./support.js";

const denial = (n) => ({ tool: "bash", reason: `r${n}`, summary: "s", kind: "policy" });

test("twelve denials are remembered, the latest", () => {
  const state = fresh();
  for (let n = 0; n < 20; n += 1) blocked(state, denial(n));
  assert.equal(state.denials.length, 12);
  assert.deepEqual([state.denials[0].reason, state.denials.at(-1).reason, state.blockedActions], ["r8", "r19", 20]);
});

test("the state comes back with the session, but not that it was off", () => {
  const state = fresh();
  blocked(state, denial(1));
  const entries = [{ type: "custom", customType: "pi-automode-state", data: { ...state, enabled: false } }];
  assert.deepEqual(restored(entries), state);
  for (const data of [null, 3, { checkedActions: "9", denials: [{}], lastDecision: "maybe" }]) {
    assert.deepEqual(restored([{ customType: "pi-automode-state", data }]), fresh());
  }
});

test("context files are sent whole: the program cuts them, once", () => {
  const text = `begin${"x".repeat(9000)}end`;
  const cut = shortened(text, 4000);
  assert.ok(cut.length <= 4000 && cut.startsWith("begin") && cut.endsWith("end"));
  assert.deepEqual(files([{ path: "AGENTS.md", content: text, more: 1 }, { path: 3 }]), [{ path: "AGENTS.md", content: text }]);
  assert.deepEqual(files(undefined), []);
});

test("the model is told what to expect, as a section or at the end of the prompt", async () => {
  const { guard } = guarded(stub(`echo '{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"mind the door"}}'`));
  await guard.begin({ reason: "startup" }, context());
  const sections = {};
  assert.equal(guard.prepare({ systemPrompt: "p", systemPromptOptions: { sections, contextFiles: [{ path: "A", content: "b" }] } }), undefined);
  assert.deepEqual([sections.auto_mode, guard.context], ["mind the door", [{ path: "A", content: "b" }]]);
  assert.deepEqual(guard.prepare({ systemPrompt: "p" }), { systemPrompt: "p\n\nmind the door" });
});

test("off wants a person's yes and a record, and lets calls run; on brings it back", async () => {
  const { guard } = guarded(saying("deny"));
  for (const ctx of [context({ hasUI: false }), context({ yes: false })]) {
    await command("off", ctx, guard);
    assert.equal(guard.state.enabled, true);
  }
  await command("off", context(), guard);
  assert.equal(guard.state.enabled, false);
  assert.match(readFileSync(`${guard.program}.told`, "utf8"), /"ModeChange".*"enabled":false/);
  assert.equal(await guard.judge(call(), context()), undefined);
  await command("on", context(), guard);
  assert.equal((await guard.judge(call(), context())).block, true);
  const unrecorded = guarded(stub("exit 2")).guard;
  const ctx = context();
  await command("off", ctx, unrecorded);
  assert.equal(unrecorded.state.enabled, true);
  assert.match(ctx.seen.notes[0], /^error: /);
});

test("every command answers, and an unknown one names them all", async (t) => {
  home(t);
  const { guard } = guarded(stub("echo told"));
  for (const word of ["", "status", "reload", "reset", "defaults", "config", "denials", "model", "nonsense"]) {
    const ctx = context();
    await command(word, ctx, guard);
    assert.equal(ctx.seen.notes.length, 1, word);
    assert.match(ctx.seen.notes[0], /^info: /, word);
    if (word === "nonsense") assert.match(ctx.seen.notes[0], /status\|on\|off\|reload\|reset\|defaults\|config\|denials\|model/);
  }
  assert.deepEqual(completions("de").map((item) => item.value), ["defaults", "denials"]);
});

test("reset sets the counts back and nothing else", async () => {
  const { guard } = guarded(saying("deny"));
  await guard.judge(call(), context());
  await command("reset", context(), guard);
  assert.deepEqual([guard.state.blockedActions, guard.state.denials, guard.state.enabled], [0, [], true]);
});

test("the model is kept in Pi's own settings, and everything else in them stays", async (t) => {
  const path = join(home(t), ".pi/agent/automode.json");
  const { guard } = guarded(stub(`echo '{"in_force":null,"url":null,"missing":[]}'`));
  await command("model some/model-1", context(), guard);
  assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), { autoMode: { classifierModel: "some/model-1" } });
  writeFileSync(path, '{"permissions":{"deny":["bash(x)"]},"autoMode":{"allow":["y"]}}');
  await command("model", context({ models: [{ provider: "a", id: "b" }] }), guard);
  assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), { permissions: { deny: ["bash(x)"] }, autoMode: { allow: ["y"], classifierModel: "a/b" } });
});

test("settings that cannot be read, and names that are none, change nothing", () => {
  const file = join(scratch(), "automode.json");
  for (const text of ["{", "[]", '{"autoMode":3}']) {
    writeFileSync(file, text);
    assert.throws(() => saveModel("a/b", file), /nothing was changed/);
    assert.equal(readFileSync(file, "utf8"), text);
  }
  assert.throws(() => saveModel("no-provider", file), /nothing was changed/);
});
