// The client, and the frameworks themselves if they are installed (`npm install --prefix DIR …` and SDK_MODULES=DIR), with a scripted model.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import test from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
const PROGRAM = process.env.DOORWARD_BINARY ?? join(ROOT, "target/debug/doorward");
const base = mkdtempSync(join(tmpdir(), "doorward-sdk-"));
process.env.HOME = join(base, "home");
process.on("exit", () => rmSync(base, { recursive: true, force: true }));
mkdirSync(process.env.HOME);
mkdirSync(join(base, "bin"));
const program = join(base, "bin/doorward");
copyFileSync(PROGRAM, program);

const { Doorward, Refused, shell } = await import("../lib/index.js");

// A mode that asks less takes a person at a terminal.
execFileSync("script", ["-qec", `'${program}' setup generic --yes --mode auto`, "/dev/null"], { stdio: ["ignore", "pipe", "pipe"] });

const BROKEN = {
  killed: "#!/bin/sh\ncat >/dev/null\nkill -9 $$\n",
  late: "#!/bin/sh\nexec sleep 60\n",
  silent: "#!/bin/sh\ncat >/dev/null\nexit 0\n",
  garbage: "#!/bin/sh\necho '{\"verdict\": \"approved\"}'\n",
  "a list": "#!/bin/sh\necho '[\"approve\"]'\n",
  failing: "#!/bin/sh\necho '{\"verdict\": \"approve\", \"reason\": \"\"}'\nexit 1\n",
  another: "#!/bin/sh\necho '{\"verdict\": \"approve\", \"reason\": \"\", \"id\": \"other\"}'\n",
};

function broken(how) {
  const path = join(base, `broken-${how.replaceAll(" ", "-")}`);
  writeFileSync(path, BROKEN[how]);
  chmodSync(path, 0o755);
  return path;
}

let rooms = 0;
function room() {
  const project = join(base, `project-${++rooms}`);
  mkdirSync(project);
  execFileSync("git", ["init", "-q", project]);
  writeFileSync(join(project, "tool.sh"), "echo on > asked.txt\ngit push -q nowhere main\n");
  return { project, ran: () => readdirSync(project).filter((name) => name.endsWith(".txt")).sort() };
}

const door = (project, more = {}) => new Doorward({ program, cwd: project, ...more });

test("each verdict arrives", async () => {
  const { project } = room();
  const verdict = async (command) => (await door(project, { ask: () => true }).check("bash", { command })).verdict;
  assert.deepEqual([await verdict("ls"), await verdict("git push"), await verdict("rm -rf /")], ["approve", "confirm", "block"]);
  const alone = await door(project).check("bash", { command: "git push" });
  assert.equal(alone.verdict, "block");
  assert.match(alone.reason, /doorward approve/);
});

test("a doorward that is missing, killed, late, silent or confused blocks", async () => {
  const { project } = room();
  for (const program of [...Object.keys(BROKEN).map(broken), join(base, "gone"), "doorward", base]) {
    const said = await door(project, { program, timeout: 1000, ask: () => true }).check("bash", { command: "ls" });
    assert.deepEqual([said.verdict, said.unanswered, said.mayRun], ["block", true, false], program);
  }
  const circular = {};
  circular.self = circular;
  for (const command of [circular, 1n, undefined]) assert.equal((await door(project).check("bash", { command })).mayRun, false);
});

test("only true is a yes, and what runs is what was judged", async () => {
  const { project } = room();
  for (const [answer, runs] of [[true, true], [false, false], ["yes", false], [1, false], [undefined, false]]) {
    let ran = false;
    await door(project, { ask: async () => answer }).guard({ tool: "bash", input: { command: "git push" } }, () => (ran = true)).catch((error) => assert.ok(error instanceof Refused));
    assert.equal(ran, runs, String(answer));
  }
  const input = { command: "git push" };
  const ask = () => {
    input.command = "rm -rf /";
    return true;
  };
  await assert.rejects(door(project, { ask }).guard({ tool: "bash", input }, () => assert.fail("it ran")), Refused);
});

test("over a socket: many at once, a killed server, a late answer", async (t) => {
  const { project } = room();
  const socket = join(base, "run/socket");
  const serve = async () => {
    const server = spawn(program, ["serve", "--socket", socket], { stdio: ["ignore", "pipe", "ignore"] });
    t.after(() => server.kill("SIGKILL"));
    await new Promise((done) => server.stdout.once("data", done));
    return server;
  };
  const server = await serve();
  const over = new Doorward({ socket, cwd: project });
  const all = await Promise.all(Array.from({ length: 20 }, (_, at) => over.check("bash", { command: at % 2 ? "rm -rf /" : "ls" })));
  all.forEach((said, at) => assert.equal(said.verdict, at % 2 ? "block" : "approve"));
  const gone = new Promise((done) => server.once("exit", done));
  server.kill("SIGKILL");
  await gone;
  assert.equal((await over.check("bash", { command: "ls" })).unanswered, true);
  await serve();
  assert.equal((await over.check("bash", { command: "ls" })).mayRun, true);
  over.close();
  mkdirSync(join(base, "own"), { mode: 0o700 });
  const path = join(base, "own/socket");
  const late = createServer((stream) => {
    stream.on("error", () => {});
    stream.once("data", () => setTimeout(() => stream.write('{"verdict":"approve","reason":"late"}\n'.repeat(2)), 700));
  }).listen(path);
  await new Promise((done) => late.once("listening", done));
  const slow = new Doorward({ socket: path, cwd: project, timeout: 500 });
  for (let at = 0; at < 2; at++) assert.equal((await slow.check("bash", { command: "ls" })).mayRun, false);
  slow.close();
  late.close();
  chmodSync(join(base, "own"), 0o777);
  assert.equal((await new Doorward({ socket: path }).check("bash", { command: "ls" })).unanswered, true);
});

const modules = process.env.SDK_MODULES;
const load = (name) => import(pathToFileURL(createRequire(join(modules, "package.json")).resolve(name)));
const ALLOWED = "echo a > allowed.txt";
const BLOCKED = "touch blocked.txt; rm -rf /nowhere/../../";

/** The scenarios that every framework plays. */
function scenarios(name, play) {
  test(`${name}: approved, asked, blocked, and never unjudged`, { skip: modules ? false : "SDK_MODULES is not set" }, async () => {
    const is = async (commands, more, expected, about) => {
      const { project, ran } = room();
      const results = await play({ project, door: door(project, more) }, commands);
      assert.deepEqual(ran(), expected, `${about}: ${JSON.stringify(results)}`);
      return results;
    };
    const results = await is([ALLOWED, BLOCKED], {}, ["allowed.txt"], "approved and blocked");
    assert.match(JSON.stringify(results), /doorward blocks/);
    await is(["sh tool.sh"], { ask: () => true }, ["asked.txt"], "a yes");
    await is(["sh tool.sh"], { ask: () => false }, [], "a no");
    await is(["sh tool.sh"], {}, [], "no person");
    for (const how of Object.keys(BROKEN)) await is([ALLOWED], { program: broken(how), timeout: 1000, ask: () => true }, [], how);
    await is([ALLOWED], { program: join(base, "gone") }, [], "missing");
  });
}

scenarios("Vercel AI SDK", async ({ project, door }, commands) => {
  const { generateText, stepCountIs, tool } = await load("ai");
  const { MockLanguageModelV3 } = await load("ai/test");
  const { z } = await load("zod");
  const { guarded } = await import("../lib/ai.js");
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  let turn = 0;
  const model = new MockLanguageModelV3({
    doGenerate: async () => {
      const at = turn++;
      return at < commands.length
        ? { content: [{ type: "tool-call", toolCallId: `c${at}`, toolName: "runShell", input: JSON.stringify({ cmd: commands[at] }) }], finishReason: { unified: "tool-calls" }, usage, warnings: [] }
        : { content: [{ type: "text", text: "done" }], finishReason: { unified: "stop" }, usage, warnings: [] };
    },
  });
  const runShell = tool({
    description: "Runs a command",
    inputSchema: z.object({ cmd: z.string() }),
    execute: async ({ cmd }) => {
      assert.ok(!cmd.includes("rm -rf"), "a blocked call ran");
      return execFileSync("sh", ["-c", `${cmd} 2>&1 || true`], { cwd: project }).toString() || "done";
    },
  });
  const { steps } = await generateText({ model, prompt: "go", tools: guarded({ runShell }, door, { runShell: shell("cmd") }), stopWhen: stepCountIs(9) });
  assert.equal(turn, commands.length + 1, "the model was asked again after each call");
  return steps.flatMap((step) => step.toolResults.map((result) => result.output));
});

scenarios("Claude Agent SDK", async ({ project, door }, commands) => {
  const { query } = await load("@anthropic-ai/claude-agent-sdk");
  const { hooks } = await import("../lib/claude-agent-sdk.js");
  const calls = commands.map((command) => [["Bash", { command, description: "scripted" }]]);
  const model = spawn("python3", ["-uc", `import json, sys\nfrom model import Model\nmodel = Model(json.loads(sys.argv[1]))\nprint(model.url)\nsys.stdin.read()\nprint(json.dumps(model.results))`, JSON.stringify(calls)], {
    cwd: join(ROOT, "crates/doorward/tests/real_clients"), env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" }, stdio: ["pipe", "pipe", "inherit"],
  });
  const url = (await new Promise((done) => model.stdout.once("data", done))).toString().trim();
  execFileSync("script", ["-qec", `'${program}' setup claude --without-hooks --yes --mode auto`, "/dev/null"], { stdio: ["ignore", "pipe", "pipe"] });
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "none", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1", DISABLE_TELEMETRY: "1", IS_SANDBOX: "1" };
  const canUseTool = async (_name, input) => ((await door.ask()) === true ? { behavior: "allow", updatedInput: input } : { behavior: "deny", message: "no" });
  // Without a person the client would refuse questions itself; in this mode only doorward stands in the way.
  const mode = door.ask ? { canUseTool } : { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true };
  async function* prompt() {
    yield { type: "user", message: { role: "user", content: "go" }, parent_tool_use_id: null, session_id: "s" };
  }
  for await (const message of query({ prompt: prompt(), options: { hooks: hooks(door), cwd: project, env, settingSources: [], ...mode } })) if (message.type === "result") break;
  const results = new Promise((done) => model.stdout.once("data", (text) => done(JSON.parse(text))));
  model.stdin.end();
  const said = await results;
  assert.equal(said.length, commands.length, "the client made every call");
  return said;
});

test("MCP client: a tool is called on a yes only, and never unjudged", { skip: modules ? false : "SDK_MODULES is not set" }, async () => {
  const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
  const { guardedClient } = await import("../lib/mcp.js");
  for (const [how, yes, called] of [["well", true, true], ["well", false, false], ["killed", true, false], ["late", true, false], ["silent", true, false]]) {
    const { project } = room();
    const mark = join(project, "called");
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StdioClientTransport({ command: "python3", args: [join(ROOT, "crates/doorward/tests/real_clients/server.py")], env: { CALLED: mark, PATH: process.env.PATH } }));
    const guarded = guardedClient(client, door(project, { program: how === "well" ? program : broken(how), timeout: 1000, ask: () => yes }), { server: "things" });
    assert.ok((await guarded.listTools()).tools.some((tool) => tool.name === "destroy"));
    const result = await guarded.callTool({ name: "destroy", arguments: { what: "everything" } });
    assert.equal(existsSync(mark), called, `${how} ${yes}: ${JSON.stringify(result)}`);
    assert.equal(result.isError === true, !called);
    assert.throws(() => guarded.request({ method: "tools/call", params: { name: "destroy" } }), /callTool/);
    await client.close();
  }
});
