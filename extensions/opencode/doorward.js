// The OpenCode plugin: every tool call goes to the doorward program first. One file, because OpenCode loads each file of its folder.
// @ts-check
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

/** Seconds after which a call is blocked; the program is told, and answers before. */
const TIMEOUT_SECONDS = 60;

/** More output than any answer has. */
const LONGEST = 4 * 1024 * 1024;

/** Milliseconds after which a person is told that a call waits for them. */
const SOON = 700;
/** As much of a reason as a note on the screen shows. */
const SHOWN = 200;

/** Approved calls whose permission OpenCode has not asked for yet. */
const REMEMBERED = 256;
/** More subagents below each other than anybody starts. */
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
 * Runs the program and yields what it printed; fails unless it ended well and in time.
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
      if (out.length > LONGEST) stop("it says too much");
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
    // A program that does not read has not understood; how it ends says so.
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
  return { decision, reason };
}

/** @param {any} context */
export const Doorward = async ({ client, directory }) => {
  /** @type {Set<string>} */
  const approved = new Set();
  /** Sessions that have begun on record. @type {Set<string>} */
  const begun = new Set();
  /** The session that started a subagent's session. @type {Map<string, string | undefined>} */
  const parents = new Map();
  // A subagent has a session of its own; what it reads or is refused counts for the one that the person talks to.
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
  // A note on OpenCode's screen: the model reads the reason, the person would otherwise see nothing. Nothing waits for it.
  const note = (/** @type {string} */ message, /** @type {string} */ variant) => {
    const text = message.length > SHOWN ? `${message.slice(0, SHOWN - 1)}…` : message;
    const body = { title: "doorward", message: text, variant, duration: 10000 };
    // Without a screen there is nobody to tell.
    Promise.resolve().then(() => client.tui?.showToast?.({ body })).catch(() => {});
  };
  // What is only recorded never holds a session up.
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
      if (said.decision === "allow") {
        approved.add(input.callID);
        if (approved.size > REMEMBERED) approved.delete(approved.values().next().value ?? "");
      }
    },
    "tool.execute.after": async (/** @type {any} */ input, /** @type {any} */ output) => {
      approved.delete(input.callID);
      const failed = typeof output?.metadata?.exit === "number" && output.metadata.exit !== 0;
      await tell({ ...(await about("PostToolUse", input.sessionID)), tool_name: input.tool, tool_use_id: input.callID, is_error: failed });
    },
    event: async (/** @type {any} */ { event }) => {
      const about_it = event?.properties;
      if (event?.type === "permission.asked" && approved.has(about_it?.tool?.callID)) {
        // OpenCode asks about everything; what was approved is answered once, everything else is the person's.
        const path = { id: about_it.sessionID, permissionID: about_it.id };
        await client.postSessionIdPermissionsPermissionId({ path, body: { response: "once" } }).catch(() => {});
      }
      if (event?.type === "session.created") parents.set(about_it?.sessionID ?? about_it?.info?.id, about_it?.info?.parentID);
      if (event?.type === "session.created" && about_it?.info?.parentID === undefined && !begun.has(about_it?.sessionID)) {
        begun.add(about_it.sessionID);
        await tell({ ...(await about("SessionStart", about_it.sessionID)), source: "startup" });
      }
      // The end of a subagent ends no session.
      const isChild = typeof parents.get(about_it?.sessionID ?? about_it?.info?.id) === "string";
      if (event?.type === "session.deleted" && !isChild) await tell(await about("SessionEnd", about_it?.sessionID ?? about_it?.info?.id));
      if (event?.type === "session.compacted") await tell(await about("PreCompact", about_it?.sessionID));
    },
  };
};
