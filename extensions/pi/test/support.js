// A Pi that is not there, and programs that stand in for doorward.
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Guard } from "../index.js";

/** A directory of the test's own. */
export function scratch() {
  return mkdtempSync(join(tmpdir(), "doorward-pi-"));
}

/** A program that runs these lines of shell; what it was told stands in `told` beside it. */
export function stub(lines) {
  const path = join(scratch(), "doorward");
  writeFileSync(path, `#!/bin/sh\nprintf '%s ' "$@" >> "$0.words"; cat >> "$0.told"; echo >> "$0.told"\n${lines}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** A program that gives one answer to every call. */
export function saying(decision, reason = "because") {
  const answer = { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: decision, permissionDecisionReason: reason } };
  return stub(`cat <<'END'\n${JSON.stringify(answer)}\nEND`);
}

/** What Pi hands to handlers. */
export function context({ hasUI = true, yes = true, signal, entries = [], models = [] } = {}) {
  const seen = { asked: [], notes: [], status: [] };
  return {
    seen,
    cwd: scratch(),
    hasUI,
    signal,
    sessionManager: { getSessionId: () => "session-1", getSessionFile: () => undefined, getEntries: () => entries },
    modelRegistry: { getAvailable: () => models },
    ui: {
      confirm: async (title, text) => (seen.asked.push(`${title}\n${text}`), yes),
      select: async (_title, names) => names[0],
      notify: (text, kind) => seen.notes.push(`${kind}: ${text}`),
      setStatus: (_name, text) => seen.status.push(text),
    },
  };
}

/** The extension on a Pi that only writes down what it is told. */
export function guarded(program) {
  const kept = [];
  const guard = new Guard({ appendEntry: (name, data) => kept.push([name, data]) }, program);
  return { guard, kept };
}

export function call(command = "ls") {
  return { toolName: "bash", toolCallId: "call-1", input: { command } };
}

/** A home directory, for the length of the test. */
export function home(t) {
  const before = process.env.HOME;
  const path = scratch();
  mkdirSync(join(path, ".pi/agent"), { recursive: true });
  process.env.HOME = path;
  t.after(() => (process.env.HOME = before));
  return path;
}
