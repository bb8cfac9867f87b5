// The OpenCode plugin: every tool call goes to the doorward program first. One file, because OpenCode loads each file of its folder.
// @ts-check
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

/** Seconds after which a call is blocked. The program gets the same number and answers earlier. */
// OpenCode waits for a plugin without end, so a hanging program would hang the session.
const TIMEOUT_SECONDS = 60;

/** More output than any answer has. */
// A broken program that prints without end must not fill the memory of the agent.
const LONGEST = 4 * 1024 * 1024;

/** Milliseconds after which a note says that a call waits for an answer. */
// Most answers take a few milliseconds; a note about those would only flicker.
const SOON = 700;
/** How much of a reason a note on the screen shows. */
const SHOWN = 200;

/** Approved calls whose permission OpenCode has not asked for yet. */
const REMEMBERED = 256;
/** Deeper than anyone nests subagents; ends the walk if sessions name each other as parents. */
const DEEPEST = 8;

/** The program that setup wrote down, or the one on the search path. */
function program() {
  let text;
  try {
    text = readFileSync(new URL("./doorward.json", import.meta.url), "utf8");
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ENOENT") return "doorward";
    throw error;
  }
  const named = JSON.parse(text).program;
  if (typeof named !== "string" || !named.startsWith("/")) throw new Error("doorward: doorward.json names no program");
  return named;
}

/**
 * Runs the program and returns its output; fails unless it succeeds in time.
 * @param {string[]} words @param {object} payload @param {number} seconds
 * @returns {Promise<string>}
 */
function run(words, payload, seconds) {
  return new Promise((resolve, reject) => {
    const child = spawn(program(), words, { stdio: ["pipe", "pipe", "pipe"] });
    let out = "";
    let err = "";
    const stop = (/** @type {string} */ why) => {
      child.kill("SIGKILL");
      reject(new Error(why));
    };
    const timer = setTimeout(() => stop(`it gave no answer within ${seconds} seconds`), seconds * 1000);
    child.stdout.setEncoding("utf8").on("data", (text) => {
      out += text;
      if (out.length > LONGEST) stop("it printed too much");
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      if (err.length < 4096) err += text;
    });
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(new Error(`it cannot be run: ${error.message}`));
    });
    child.on("close", (code, killed) => {
      clearTimeout(timer);
      if (code === 0) resolve(out);
      else reject(new Error(err.trim() || (killed ? `it was ended by ${killed}` : `it ended with ${code}`)));
    });
    // A program that exits without reading breaks the pipe. Its exit code says why; this error must not crash OpenCode.
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(payload));
  });
}

/**
 * Reads the answer to a call. Anything but one object of the expected shape is a failure.
 * @param {string} text
 */
function answer(text) {
  let said;
  try {
    said = JSON.parse(text)?.hookSpecificOutput;
  } catch {
    throw new Error("its answer cannot be read");
  }
  const decision = said?.permissionDecision;
  const reason = said?.permissionDecisionReason;
  const isKnown = decision === "allow" || decision === "ask" || decision === "deny" || decision === "none";
  if (said?.hookEventName !== "PreToolUse" || !isKnown || typeof reason !== "string") {
    throw new Error("its answer is not one to a call");
  }
  // A call may be replaced by a contained run; only the command of an approved one can be another.
  const command = said.updatedInput?.command;
  const isReplaced = said.updatedInput !== undefined;
  if (isReplaced && (decision !== "allow" || typeof command !== "string" || command === "")) {
    throw new Error("its answer is not one to a call");
  }
  return { decision, reason, command };
}

/** @param {any} context */
export const Doorward = async ({ client, directory }) => {
  /** @type {Set<string>} */
  const approved = new Set();
  /** Sessions that have begun on record. @type {Set<string>} */
  const begun = new Set();
  /** The session that started a subagent's session. @type {Map<string, string | undefined>} */
  const parents = new Map();
  // A subagent has its own session, but what it reads and what it is denied count for the session the user talks to.
  const root = async (/** @type {string} */ session) => {
    let found = session;
    for (let depth = 0; depth < DEEPEST; depth += 1) {
      if (!parents.has(found)) {
        const said = await client.session?.get?.({ path: { id: found } })?.catch?.(() => undefined);
        parents.set(found, said?.data?.parentID);
      }
      const parent = parents.get(found);
      if (typeof parent !== "string" || parent === "") break;
      found = parent;
    }
    return found;
  };
  const about = async (/** @type {string} */ event, /** @type {string} */ session) => {
    const first = await root(session);
    return { hook_event_name: event, session_id: first, cwd: directory, ...(first === session ? {} : { agent_id: session }) };
  };
  // A note on OpenCode's screen: only the model sees the reason, so without it the user would see nothing.
  const note = (/** @type {string} */ message, /** @type {string} */ variant) => {
    const text = message.length > SHOWN ? `${message.slice(0, SHOWN - 1)}…` : message;
    const body = { title: "doorward", message: text, variant, duration: 10000 };
    // Without a screen there is nothing to show it on.
    Promise.resolve().then(() => client.tui?.showToast?.({ body })).catch(() => {});
  };
  // Reports are only recorded, so a failure must not stop the session.
  const tell = (/** @type {object} */ payload) => run(["hook", "opencode"], payload, 10).catch(() => "");

  return {
    "tool.execute.before": async (/** @type {any} */ input, /** @type {any} */ output) => {
      const call = { ...(await about("PreToolUse", input.sessionID)), tool_name: input.tool, tool_input: output.args, tool_use_id: input.callID };
      let said;
      const waits = setTimeout(() => note("a call waits for your answer: doorward review", "warning"), SOON);
      try {
        said = answer(await run(["hook", "opencode", "--timeout", String(TIMEOUT_SECONDS)], call, TIMEOUT_SECONDS));
      } catch (error) {
        const why = `doorward failed, so the call is blocked: ${/** @type {Error} */ (error).message}`;
        note(why, "error");
        throw new Error(why);
      } finally {
        clearTimeout(waits);
      }
      // INVARIANT: only these two words let a call go on.
      if (said.decision !== "allow" && said.decision !== "none") {
        note(said.reason, "warning");
        throw new Error(said.reason);
      }
      if (said.command !== undefined) {
        if (typeof output.args?.command !== "string") throw new Error("doorward failed, so the call is blocked: it has no command to replace");
        output.args.command = said.command;
      }
      if (said.decision === "allow") {
        approved.add(input.callID);
        if (approved.size > REMEMBERED) approved.delete(approved.values().next().value ?? "");
      }
    },
    "tool.execute.after": async (/** @type {any} */ input, /** @type {any} */ output) => {
      approved.delete(input.callID);
      const failed = typeof output?.metadata?.exit === "number" && output.metadata.exit !== 0;
      await tell({ ...(await about("PostToolUse", input.sessionID)), tool_name: input.tool, tool_input: input.args, tool_use_id: input.callID, is_error: failed });
    },
    event: async (/** @type {any} */ { event }) => {
      const about_it = event?.properties;
      if (event?.type === "permission.asked" && approved.has(about_it?.tool?.callID)) {
        // Setup makes OpenCode ask about everything. What doorward approved is answered here; the rest is the user's.
        const path = { id: about_it.sessionID, permissionID: about_it.id };
        await client.postSessionIdPermissionsPermissionId({ path, body: { response: "once" } }).catch(() => {});
      }
      if (event?.type === "session.created") parents.set(about_it?.sessionID ?? about_it?.info?.id, about_it?.info?.parentID);
      if (event?.type === "session.created" && about_it?.info?.parentID === undefined && !begun.has(about_it?.sessionID)) {
        begun.add(about_it.sessionID);
        await tell({ ...(await about("SessionStart", about_it.sessionID)), source: "startup" });
      }
      // A subagent's session ends without ending the user's.
      const isChild = typeof parents.get(about_it?.sessionID ?? about_it?.info?.id) === "string";
      if (event?.type === "session.deleted" && !isChild) await tell(await about("SessionEnd", about_it?.sessionID ?? about_it?.info?.id));
      if (event?.type === "session.compacted") await tell(await about("PreCompact", about_it?.sessionID));
    },
  };
};
