// Which calls run: those that the program allows in so many words, and no others.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { TIMEOUT_SECONDS, answer, run } from "../guard.js";
import { call, context, guarded, saying, stub } from "./support.js";

test("an allowed call runs and is counted", async () => {
  const { guard, kept } = guarded(saying("allow", "fine"));
  const ctx = context();
  assert.equal(await guard.judge(call(), ctx), undefined);
  assert.deepEqual(kept.at(-1), ["pi-automode-state", { enabled: true, checkedActions: 1, blockedActions: 0, lastDecision: "allow", lastReason: "fine", denials: [] }]);
  assert.equal(ctx.seen.status.at(-1), "auto-mode · 1 checked · 0 blocked");
  const told = JSON.parse(readFileSync(`${guard.program}.told`, "utf8"));
  assert.equal(told.hook_event_name, "PreToolUse");
  assert.deepEqual(told.tool_input, { command: "ls" });
  assert.equal(readFileSync(`${guard.program}.words`, "utf8").trim(), `hook pi --timeout ${TIMEOUT_SECONDS}`);
});

test("what is left to Pi runs", async () => {
  assert.equal(await guarded(saying("none")).guard.judge(call(), context({ hasUI: false })), undefined);
});

test("a denied call is blocked with the reason, and the denial is kept with its five fields", async () => {
  const { guard } = guarded(saying("deny", "too much"));
  const ctx = context();
  assert.deepEqual(await guard.judge(call("rm -rf x"), ctx), { block: true, reason: "too much" });
  const [denial] = guard.state.denials;
  assert.deepEqual(Object.keys(denial).sort(), ["kind", "reason", "summary", "timestamp", "tool"]);
  assert.equal(denial.kind, "policy");
  assert.match(denial.summary, /^bash \{\n {2}"command": "rm -rf x"\n\}$/);
  assert.match(ctx.seen.notes.at(-1), /^warning: blocked bash: too much/);
});

test("a question shows the reason and the whole call, with hidden characters visible", async () => {
  const { guard } = guarded(saying("ask", "not sure"));
  const ctx = context({ yes: true });
  const long = `echo ${"x".repeat(20000)} \u202e end`;
  assert.equal(await guard.judge(call(long), ctx), undefined);
  assert.ok(ctx.seen.asked[0].includes("not sure") && ctx.seen.asked[0].includes("x".repeat(20000)));
  assert.ok(ctx.seen.asked[0].includes("\\u{202e}") && !ctx.seen.asked[0].includes("\u202e"));
});

test("a question is blocked when the user says no, cannot be asked, or answers something else", async () => {
  for (const ctx of [context({ yes: false }), context({ hasUI: false }), context({ yes: null }), context({ yes: "true" })]) {
    const { guard } = guarded(saying("ask", "not sure"));
    assert.equal((await guard.judge(call(), ctx)).block, true);
    assert.match(readFileSync(`${guard.program}.told`, "utf8"), /"PermissionDenied"/);
  }
});

test("whatever is no answer blocks, and says why", async () => {
  const broken = [
    ["/nowhere/doorward", /cannot be run/],
    [stub("exit 1"), /ended with 1/],
    [stub("echo 'doorward: full disk' >&2; exit 2"), /full disk/],
    [stub("kill -9 $$"), /SIGKILL/],
    [stub("true"), /cannot be read/],
    [stub("echo allow"), /cannot be read/],
    [stub("echo '{}'"), /not one to a call/],
    [stub("echo null"), /not one to a call/],
    [saying("yes"), /not one to a call/],
    [saying("defer"), /not one to a call/],
    [stub(`echo '{"hookSpecificOutput":{"permissionDecision":"allow","permissionDecisionReason":"x"}}'`), /not one to a call/],
    [stub(`echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"x"}} {}'`), /cannot be read/],
  ];
  for (const [program, why] of broken) {
    const { guard } = guarded(program);
    const said = await guard.judge(call(), context());
    assert.equal(said.block, true, program);
    assert.match(said.reason, why);
    assert.equal(guard.state.denials[0].kind, "failure");
  }
});

test("a program that hangs or never stops talking is ended", async () => {
  await assert.rejects(run(stub("exec sleep 30"), [], { seconds: 0.3 }), /no answer within/);
  await assert.rejects(run(stub("exec yes"), [], { seconds: 20 }), /printed too much/);
});

test("a cancelled turn blocks, before the question and during it", async () => {
  const before = new AbortController();
  before.abort();
  const { guard } = guarded(saying("allow"));
  const said = await guard.judge(call(), context({ signal: before.signal }));
  assert.deepEqual([said.block, guard.state.denials[0].kind], [true, "cancelled"]);
  assert.match(readFileSync(`${guard.program}.told`, "utf8"), /"cancelled":true/);

  const during = new AbortController();
  const slow = guarded(stub("exec sleep 30")).guard;
  setTimeout(() => during.abort(), 200);
  assert.equal((await slow.judge(call(), context({ signal: during.signal }))).block, true);
  assert.equal(slow.state.denials[0].kind, "cancelled");

  const asked = new AbortController();
  const ctx = context({ signal: asked.signal });
  ctx.ui.confirm = async () => (asked.abort(), true);
  assert.equal((await guarded(saying("ask")).guard.judge(call(), ctx)).block, true);
});

test("an answer is read strictly", () => {
  assert.throws(() => answer(""), /cannot be read/);
  assert.throws(() => answer('{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":["allow"],"permissionDecisionReason":"x"}}'), /not one/);
});

const replacing = (decision, updatedInput) =>
  stub(`cat <<'END'\n${JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: decision, permissionDecisionReason: "r", updatedInput } })}\nEND`);

test("an approved call can be replaced by another command", async () => {
  const event = call("./tool");
  assert.equal(await guarded(replacing("allow", { command: "doorward run 8f3a" })).guard.judge(event, context()), undefined);
  assert.equal(event.input.command, "doorward run 8f3a");
});

test("a replacement that is not understood blocks, and the original does not run", async () => {
  for (const [decision, updated] of [["ask", { command: "x" }], ["none", { command: "x" }], ["allow", {}], ["allow", null], ["allow", { command: "" }], ["allow", { command: ["x"] }]]) {
    const event = call("./tool");
    const said = await guarded(replacing(decision, updated)).guard.judge(event, context());
    assert.equal(said?.block, true, `${decision} ${JSON.stringify(updated)}`);
    assert.equal(event.input.command, "./tool");
  }
  const other = { toolName: "write", toolCallId: "call-2", input: { path: "a", content: "b" } };
  assert.equal((await guarded(replacing("allow", { command: "x" })).guard.judge(other, context())).block, true);
});
