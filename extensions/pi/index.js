// The Pi extension: every tool call goes to the doorward program first. Start here.
// @ts-check
import { command, completions } from "./commands.js";
import { files, summary, visible, whole } from "./context.js";
import { TIMEOUT_SECONDS, answer, program, run } from "./guard.js";
import { lent, standing } from "./reviewer.js";
import { ENTRY, allowed, blocked, footer, fresh, restored } from "./state.js";

const ABOUT_CALLS = ["hook", "pi", "--timeout", String(TIMEOUT_SECONDS)];

/** One session and its guard. */
export class Guard {
  /** @param {any} pi @param {string} path */
  constructor(pi, path) {
    this.pi = pi;
    this.program = path;
    this.state = fresh();
    this.turn = 0;
    this.guidance = "";
    /** The instruction files that are loaded. @type {{ path: string, content: string }[]} */
    this.context = [];
    /** The model that reviews, if one does. @type {string | null} */
    this.reviewer = null;
    /** Calls that did not run: Pi may still report a result for them. @type {Set<string>} */
    this.stopped = new Set();
  }

  /** @param {string} event @param {any} ctx */
  payload(event, ctx) {
    return {
      hook_event_name: event,
      session_id: ctx.sessionManager.getSessionId(),
      transcript_path: ctx.sessionManager.getSessionFile() ?? null,
      cwd: ctx.cwd,
      has_ui: ctx.hasUI === true,
      turn_id: String(this.turn),
    };
  }

  /** Judges a call: nothing lets it run, an object with a reason blocks it. @param {any} event @param {any} ctx */
  async judge(event, ctx) {
    if (!this.state.enabled) return undefined;
    const call = {
      ...this.payload("PreToolUse", ctx),
      tool_name: event.toolName,
      tool_input: event.input,
      tool_use_id: event.toolCallId,
      parent_tool_use_id: event.parentToolCallId,
      loaded_context: this.context,
      agent_program: process.argv[1],
      session_model: ctx.model ? `${ctx.model.provider}/${ctx.model.id}` : null,
    };
    if (ctx.signal?.aborted) return this.cancelled(event, ctx, call, "the turn was cancelled, so the call did not run");
    let said;
    try {
      // On standard input and nowhere else.
      const input = JSON.stringify({ ...call, reviewer_key: await lent(ctx, this.reviewer) });
      said = answer(await run(this.program, ABOUT_CALLS, { input, seconds: TIMEOUT_SECONDS, signal: ctx.signal }));
    } catch (error) {
      if (ctx.signal?.aborted) return this.cancelled(event, ctx, call, "the turn was cancelled while the call was judged, so it did not run");
      return this.block(event, ctx, `doorward failed, so the call is blocked: ${/** @type {Error} */ (error).message}`, "failure");
    }
    if (said.decision === "deny") return this.block(event, ctx, said.reason, "policy");
    if (said.decision === "ask" && !(await this.confirmed(event, ctx, said.reason))) {
      await this.tell({ ...this.payload("PermissionDenied", ctx), tool_name: event.toolName, tool_use_id: event.toolCallId }, ctx);
      return this.block(event, ctx, `not allowed by the user: ${said.reason}`, "declined");
    }
    if (said.command !== undefined) {
      if (typeof event.input?.command !== "string") return this.block(event, ctx, "doorward failed, so the call is blocked: it has no command to replace", "failure");
      event.input.command = said.command;
    }
    allowed(this.state, said.reason);
    this.keep(ctx);
    return undefined;
  }

  /** Puts a call on record that its turn's end stopped. @param {any} event @param {any} ctx @param {any} call @param {string} reason */
  async cancelled(event, ctx, call, reason) {
    // For the record only: whatever the answer, the call does not run.
    await run(this.program, ABOUT_CALLS, { input: JSON.stringify({ ...call, cancelled: true }) }).catch(() => {});
    return this.block(event, ctx, reason, "cancelled");
  }

  /** @param {any} event @param {any} ctx @param {string} reason */
  async confirmed(event, ctx, reason) {
    if (ctx.hasUI !== true) return false;
    const text = `${visible(reason)}\n\n${whole(event.toolName, event.input)}`;
    const yes = await ctx.ui.confirm(`Allow ${visible(event.toolName)}?`, text, { signal: ctx.signal });
    return yes === true && ctx.signal?.aborted !== true;
  }

  /** @param {any} event @param {any} ctx @param {string} reason @param {string} kind */
  block(event, ctx, reason, kind) {
    blocked(this.state, { tool: event.toolName, reason, summary: summary(event.toolName, event.input), kind });
    this.stopped.add(event.toolCallId);
    this.keep(ctx);
    if (ctx.hasUI) ctx.ui.notify(`blocked ${visible(event.toolName)}: ${visible(reason)}`, "warning");
    return { block: true, reason };
  }

  /** Tells the program what happened; returns what it says. @param {any} payload @param {any} ctx */
  async tell(payload, ctx) {
    try {
      return await run(this.program, ["hook", "pi"], { input: JSON.stringify(payload) });
    } catch (error) {
      if (ctx.hasUI) ctx.ui.notify(`doorward was not told of an event: ${/** @type {Error} */ (error).message}`, "warning");
      return "";
    }
  }

  /** @param {any} ctx */
  keep(ctx) {
    this.pi.appendEntry(ENTRY, structuredClone(this.state));
    this.show(ctx);
  }

  /** @param {any} ctx */
  show(ctx) {
    if (ctx.hasUI) ctx.ui.setStatus("doorward", footer(this.state));
  }

  /** @param {boolean} enabled @param {any} ctx */
  async switched(enabled, ctx) {
    // INVARIANT: what is not on record is not switched off.
    const change = { ...this.payload("ModeChange", ctx), enabled };
    await run(this.program, ["hook", "pi"], { input: JSON.stringify(change) });
    this.state.enabled = enabled;
    this.keep(ctx);
  }

  /** @param {any} event @param {any} ctx */
  async begin(event, ctx) {
    this.state = restored(ctx.sessionManager.getEntries?.());
    this.show(ctx);
    const said = await this.tell({ ...this.payload("SessionStart", ctx), source: event.reason ?? "startup" }, ctx);
    try {
      this.guidance = said ? (JSON.parse(said).hookSpecificOutput?.additionalContext ?? "") : "";
    } catch {
      this.guidance = "";
    }
    await this.look(ctx);
  }

  /** Learns which model reviews; without an answer no key is lent. @param {any} ctx */
  async look(ctx) {
    this.reviewer = await standing(this.program, ctx).then((found) => found.in_force, () => null);
  }

  /** Tells the model what to expect, and keeps what it was told by files. @param {any} event */
  prepare(event) {
    const options = event.systemPromptOptions;
    this.context = files(options?.contextFiles);
    if (!this.guidance || !this.state.enabled) return undefined;
    const sections = options?.sections;
    if (typeof sections === "object" && sections !== null && !Array.isArray(sections)) {
      // Pi adds the section and keeps the rest of its prompt as it is.
      sections.auto_mode = this.guidance;
      return undefined;
    }
    return { systemPrompt: `${event.systemPrompt}\n\n${this.guidance}` };
  }
}

/** @param {any} pi */
export default function doorward(pi) {
  const guard = new Guard(pi, program(new URL("./program.json", import.meta.url)));
  pi.on("session_start", (/** @type {any} */ event, /** @type {any} */ ctx) => guard.begin(event, ctx));
  pi.on("session_shutdown", (/** @type {any} */ _event, /** @type {any} */ ctx) => guard.tell(guard.payload("SessionEnd", ctx), ctx).then(() => undefined));
  pi.on("session_compact", (/** @type {any} */ _event, /** @type {any} */ ctx) => guard.tell(guard.payload("PreCompact", ctx), ctx).then(() => undefined));
  pi.on("input", async (/** @type {any} */ event, /** @type {any} */ ctx) => {
    guard.turn += 1;
    await guard.tell({ ...guard.payload("UserPromptSubmit", ctx), prompt: event.text, source: event.source }, ctx);
  });
  pi.on("before_agent_start", (/** @type {any} */ event) => guard.prepare(event));
  pi.on("tool_call", (/** @type {any} */ event, /** @type {any} */ ctx) => guard.judge(event, ctx));
  pi.on("tool_result", async (/** @type {any} */ event, /** @type {any} */ ctx) => {
    if (!guard.state.enabled || guard.stopped.delete(event.toolCallId)) return;
    const result = { tool_name: event.toolName, tool_input: event.input, tool_use_id: event.toolCallId, is_error: event.isError === true };
    await guard.tell({ ...guard.payload("PostToolUse", ctx), ...result }, ctx);
  });
  for (const name of ["automode", "auto-mode"]) {
    pi.registerCommand(name, {
      description: "doorward: status, on, off, reload, reset, defaults, config, denials, model",
      getArgumentCompletions: completions,
      handler: (/** @type {string} */ text, /** @type {any} */ ctx) => command(text ?? "", ctx, guard),
    });
  }
}
