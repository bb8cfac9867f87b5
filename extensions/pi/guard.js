// Asks the doorward program. Only a complete, well-formed answer counts.
// @ts-check
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

/** Seconds after which a call is blocked. The program gets the same number and answers earlier. */
// Pi itself has no timeout: without ours a hanging program would hang the session.
export const TIMEOUT_SECONDS = 60;

/** More output than any answer has. */
// A broken program that prints without end must not fill the memory of the agent.
const LONGEST = 4 * 1024 * 1024;

/**
 * What the program said.
 * @typedef {{ decision: "allow" | "ask" | "deny" | "none", reason: string, command?: string }} Answer
 */

/**
 * The program that setup wrote down, or the one on the search path.
 * @param {URL} file
 */
export function program(file) {
  let text;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ENOENT") return "doorward";
    throw error;
  }
  const named = JSON.parse(text).program;
  if (typeof named !== "string" || !named.startsWith("/")) throw new Error("doorward: program.json names no program");
  return named;
}

/**
 * Runs the program and returns its output; fails unless it succeeds in time.
 * @param {string} path
 * @param {string[]} words
 * @param {{ input?: string, seconds?: number, signal?: AbortSignal, cwd?: string, codes?: number[] }} [options]
 * @returns {Promise<string>}
 */
export function run(path, words, { input = "", seconds = 10, signal, cwd, codes = [0] } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(path, words, { stdio: ["pipe", "pipe", "pipe"], cwd });
    let out = "";
    let err = "";
    const stop = (/** @type {string} */ why) => {
      child.kill("SIGKILL");
      settle(() => reject(new Error(why)));
    };
    const timer = setTimeout(() => stop(`it gave no answer within ${seconds} seconds`), seconds * 1000);
    const cancelled = () => stop("the turn was cancelled");
    const settle = (/** @type {() => void} */ how) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancelled);
      how();
    };
    if (signal?.aborted) return cancelled();
    signal?.addEventListener("abort", cancelled, { once: true });
    child.stdout.setEncoding("utf8").on("data", (text) => {
      out += text;
      if (out.length > LONGEST) stop("it printed too much");
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      if (err.length < 4096) err += text;
    });
    child.on("error", (error) => settle(() => reject(new Error(`it cannot be run: ${error.message}`))));
    child.on("close", (code, killed) =>
      settle(() => {
        if (code !== null && codes.includes(code)) resolve(out);
        else reject(new Error(err.trim() || (killed ? `it was ended by ${killed}` : `it ended with ${code}`)));
      }),
    );
    // A program that exits without reading breaks the pipe. Its exit code says why; this error must not crash Pi.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

/**
 * Reads the answer to a call. Anything but one object of the expected shape is a failure.
 * @param {string} text
 * @returns {Answer}
 */
export function answer(text) {
  let said;
  try {
    said = JSON.parse(text)?.hookSpecificOutput;
  } catch {
    throw new Error("its answer cannot be read");
  }
  const decision = said?.permissionDecision;
  const reason = said?.permissionDecisionReason;
  // "none" leaves the call to Pi: doorward only looks on, or is off for this agent.
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
  return isReplaced ? { decision, reason, command } : { decision, reason };
}
