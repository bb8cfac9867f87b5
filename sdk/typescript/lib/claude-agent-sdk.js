// Claude Agent SDK: doorward as a hook before each tool call.

// Events that only go on record; a failure there blocks nothing.
const RECORDED = ["PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "PreCompact"];

/** The hooks for `query({ options: { hooks } })`. Merge them with your own event by event. */
export function hooks(door) {
  const decide = async (payload) => {
    try {
      return understood(JSON.parse(await door.hook("claude", payload)));
    } catch (error) {
      const permissionDecisionReason = `Not run: ${error.message}. Tell the user; do not try it another way.`;
      return { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason } };
    }
  };
  const record = async (payload) => {
    await door.hook("claude", payload).catch(() => {});
    return {};
  };
  // The client's own time limit, in seconds, must not strike first: it would let the call run.
  const timeout = door.timeout / 1000 + 30;
  const recorded = RECORDED.map((event) => [event, [{ hooks: [record], timeout }]]);
  return { PreToolUse: [{ hooks: [decide], timeout }], ...Object.fromEntries(recorded) };
}

/** The answer, if it is one: to Claude Code anything else means "no opinion", and the call would run. */
function understood(said) {
  if (said?.doorward === "none") return {};
  const { hookEventName, permissionDecision } = said?.hookSpecificOutput ?? {};
  if (hookEventName !== "PreToolUse" || !["allow", "ask", "deny"].includes(permissionDecision)) throw new Error("doorward's answer can't be read");
  return said;
}
