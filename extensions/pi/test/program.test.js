// The extension with the real program, if DOORWARD says where it is.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { call, context, guarded, home } from "./support.js";

const program = process.env.DOORWARD;
const options = { skip: program && existsSync(program) ? false : "SKIPPED: DOORWARD does not say where the program is" };

function ready(t) {
  home(t);
  // A mode that approves is a person's to choose, so setup gets a terminal.
  const line = `"${program}" setup pi --yes --mode auto --without-hooks`;
  const words = process.platform === "darwin" ? ["-q", "/dev/null", "sh", "-c", line] : ["-qec", line, "/dev/null"];
  const ran = spawnSync("script", words, { encoding: "utf8" });
  assert.equal(ran.status, 0, `${ran.error ?? ""}${ran.stdout}${ran.stderr}`);
  const ctx = context();
  mkdirSync(join(ctx.cwd, ".git"));
  return { ...guarded(program), ctx };
}

test("the program approves, asks and blocks", options, async (t) => {
  const { guard, ctx } = ready(t);
  assert.equal(await guard.judge(call("ls -la"), ctx), undefined);
  assert.match((await guard.judge(call("rm -rf /"), ctx)).reason, /^doorward blocks/);
  assert.equal(ctx.seen.asked.length, 0);
  assert.equal(await guard.judge(call("git push origin main"), ctx), undefined);
  assert.match(ctx.seen.asked[0], /doorward asks/);
});

test("the program gives the guidance, and records that it was switched off", options, async (t) => {
  const { guard, ctx } = ready(t);
  await guard.begin({ reason: "startup" }, ctx);
  assert.match(guard.guidance, /doorward judges every tool call/);
  await guard.switched(false, ctx);
  const listed = spawnSync(program, ["audit", "list", "--json"], { encoding: "utf8" }).stdout;
  assert.match(listed, /"mode"/);
});

test("a turn that was cancelled is on record", options, async (t) => {
  const { guard, ctx } = ready(t);
  const cancelled = new AbortController();
  cancelled.abort();
  assert.equal((await guard.judge(call("ls"), { ...ctx, signal: cancelled.signal })).block, true);
  const listed = spawnSync(program, ["denials", "--json"], { encoding: "utf8" }).stdout;
  assert.match(listed, /cancelled/);
});
