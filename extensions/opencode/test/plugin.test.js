// The plugin on an OpenCode that is not there, with programs that stand in for doorward.
import assert from "node:assert/strict";
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";

/** The plugin beside a program of these lines; what the program was told, and what OpenCode was answered. */
async function plugged(lines) {
  const folder = mkdtempSync(join(tmpdir(), "doorward-opencode-"));
  const program = join(folder, "program");
  writeFileSync(program, `#!/bin/sh\ncat >> "$0.told"; echo >> "$0.told"\n${lines}\n`);
  chmodSync(program, 0o755);
  copyFileSync(new URL("../doorward.js", import.meta.url), join(folder, "doorward.js"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "doorward.json"), JSON.stringify({ program }));
  const replies = [];
  const notes = [];
  const tui = { showToast: async ({ body }) => notes.push(body) };
  const client = { tui, postSessionIdPermissionsPermissionId: async (reply) => replies.push(reply) };
  const { Doorward } = await import(pathToFileURL(join(folder, "doorward.js")).href);
  const hooks = await Doorward({ client, directory: folder });
  const told = () => (existsSync(`${program}.told`) ? readFileSync(`${program}.told`, "utf8").trim().split("\n").map((line) => JSON.parse(line)) : []);
  return { hooks, replies, notes, told, folder };
}

const saying = (decision, reason = "because") =>
  `cat <<'END'\n${JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: decision, permissionDecisionReason: reason } })}\nEND`;
const CALL = { tool: "bash", sessionID: "ses_1", callID: "call_1" };
const before = (hooks, args = { command: "ls" }) => hooks["tool.execute.before"](CALL, { args });
const asked = (callID) => ({
  event: { type: "permission.asked", properties: { id: "per_1", sessionID: "ses_1", permission: "bash", patterns: ["ls"], tool: { messageID: "m", callID } } },
});

test("an approved call runs, and its permission is answered once", async () => {
  const { hooks, replies, told } = await plugged(saying("allow"));
  await before(hooks);
  await hooks.event(asked("call_1"));
  assert.deepEqual(replies, [{ path: { id: "ses_1", permissionID: "per_1" }, body: { response: "once" } }]);
  assert.deepEqual(told()[0].tool_input, { command: "ls" });
});

test("a permission of a call that was not approved is left to the person", async () => {
  for (const decision of ["deny", "ask", "none"]) {
    const { hooks, replies } = await plugged(saying(decision));
    await before(hooks).catch(() => {});
    await hooks.event(asked("call_1"));
    await hooks.event(asked("call_2"));
    await hooks.event({ event: { type: "permission.asked", properties: { id: "per_2", sessionID: "ses_1" } } });
    await hooks.event({ event: { type: "permission.replied", properties: { sessionID: "ses_1", requestID: "per_1", reply: "reject" } } });
    assert.deepEqual(replies, [], decision);
  }
});

test("what is blocked or asked about does not run, and the reason is told", async () => {
  for (const decision of ["deny", "ask"]) {
    const { hooks, notes } = await plugged(saying(decision, "no such thing"));
    await assert.rejects(before(hooks), /no such thing/);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(notes.map((note) => [note.message, note.variant]), [["no such thing", "warning"]]);
  }
});

test("whoever sits there is told that a call waits, and nothing if it does not", async () => {
  const { hooks, notes } = await plugged(`sleep 2\n${saying("allow")}`);
  await before(hooks);
  assert.match(notes.map((note) => note.message).join(), /doorward review/);
  const quick = await plugged(saying("none"));
  await before(quick.hooks);
  assert.deepEqual(quick.notes, []);
});

test("a screen that fails changes no answer", async () => {
  const { hooks } = await plugged(saying("deny", "no such thing"));
  const broken = { tui: { showToast: () => { throw new Error("no screen"); } } };
  const { Doorward } = await import(pathToFileURL(join((await plugged(saying("deny", "never"))).folder, "doorward.js")).href);
  const other = await Doorward({ client: broken, directory: "/" });
  await assert.rejects(before(other), /never/);
  await assert.rejects(before(hooks), /no such thing/);
});

test("whatever goes wrong blocks", async () => {
  for (const lines of ["exit 1", "exit 2", "kill -9 $$", "echo all is well", "true", "echo '{}'", saying("perhaps"), saying("allow").replace("PreToolUse", "PostToolUse"), `${saying("allow")}\nexit 1`]) {
    const { hooks } = await plugged(lines);
    await assert.rejects(before(hooks), /doorward failed, so the call is blocked/, lines);
  }
  const { hooks, folder } = await plugged(saying("allow"));
  writeFileSync(join(folder, "doorward.json"), '{"program":"relative"}');
  await assert.rejects(before(hooks), /the call is blocked/);
  writeFileSync(join(folder, "doorward.json"), '{"program":"/nowhere/doorward"}');
  await assert.rejects(before(hooks), /cannot be run/);
});

test("the record is told of sessions and of what became of calls, and never holds them up", async () => {
  const { hooks, told } = await plugged("exit 1");
  await hooks.event({ event: { type: "session.created", properties: { sessionID: "ses_1", info: { id: "ses_1" } } } });
  await hooks["tool.execute.after"]({ ...CALL, args: {} }, { title: "", output: "", metadata: { exit: 3 } });
  await hooks["tool.execute.after"]({ ...CALL, args: {} }, { content: [] });
  await hooks.event({ event: { type: "session.deleted", properties: { sessionID: "ses_1" } } });
  assert.deepEqual(told().map((one) => [one.hook_event_name, one.is_error]), [
    ["SessionStart", undefined], ["PostToolUse", true], ["PostToolUse", false], ["SessionEnd", undefined],
  ]);
});

test("a subagent's calls count for the session that the person talks to", async () => {
  const { hooks, told } = await plugged(saying("allow"));
  await hooks.event({ event: { type: "session.created", properties: { sessionID: "ses_1", info: { id: "ses_1" } } } });
  await hooks.event({ event: { type: "session.created", properties: { sessionID: "ses_2", info: { id: "ses_2", parentID: "ses_1" } } } });
  await hooks.event({ event: { type: "session.created", properties: { sessionID: "ses_3", info: { id: "ses_3", parentID: "ses_2" } } } });
  await hooks["tool.execute.before"]({ ...CALL, sessionID: "ses_3" }, { args: { command: "ls" } });
  await hooks["tool.execute.before"](CALL, { args: { command: "ls" } });
  await hooks.event({ event: { type: "session.deleted", properties: { sessionID: "ses_3" } } });
  assert.deepEqual(told().map((one) => [one.hook_event_name, one.session_id, one.agent_id]), [
    ["SessionStart", "ses_1", undefined], ["PreToolUse", "ses_1", "ses_3"], ["PreToolUse", "ses_1", undefined],
  ]);
});

const replacing = (decision, updatedInput) =>
  `cat <<'END'\n${JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: decision, permissionDecisionReason: "r", updatedInput } })}\nEND`;

test("an approved call can be replaced by another command", async () => {
  const { hooks } = await plugged(replacing("allow", { command: "doorward run 8f3a" }));
  const args = { command: "./tool" };
  await before(hooks, args);
  assert.equal(args.command, "doorward run 8f3a");
});

test("a replacement that is not understood blocks, and the original does not run", async () => {
  for (const [decision, updated] of [["deny", { command: "x" }], ["none", { command: "x" }], ["allow", {}], ["allow", null], ["allow", { command: 1 }]]) {
    const { hooks } = await plugged(replacing(decision, updated));
    const args = { command: "./tool" };
    await assert.rejects(before(hooks, args), /doorward/);
    assert.equal(args.command, "./tool");
  }
  const { hooks } = await plugged(replacing("allow", { command: "x" }));
  await assert.rejects(before(hooks, { filePath: "a" }), /no command to replace/);
});
