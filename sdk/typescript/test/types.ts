// Compiles only if the declared types fit their use.
import { Doorward, Refused, shell, type Judgement, type Verdict } from "../lib/index.js";
import { guarded } from "../lib/ai.js";
import { guardedClient } from "../lib/mcp.js";
import { hooks } from "../lib/claude-agent-sdk.js";

const door = new Doorward({ cwd: "/tmp", timeout: 1000, ask: async (said: Judgement) => said.reason.length > 0 });
const verdict: Promise<Verdict> = door.check("bash", { command: "ls" }).then((said) => said.verdict);
const text: Promise<string> = door.guard({ tool: "bash", input: { command: "ls" } }, async () => "out");
const tools: { runShell: { execute: (args: { cmd: string }) => string } } = guarded({ runShell: { execute: ({ cmd }: { cmd: string }) => cmd } }, door, { runShell: shell("cmd") });
const client: { callTool(): void } = guardedClient({ callTool() {} }, door, { server: "files" });
// @ts-expect-error a verdict is not a truth
const wrong: boolean = verdict;
export { client, hooks, Refused, text, tools, wrong };
