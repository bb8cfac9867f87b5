// `/automode …`: the session's controls.
// @ts-check
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

import { run } from "./guard.js";
import { lacks, shown, standing } from "./reviewer.js";
import { footer, fresh, listed } from "./state.js";

const WORDS = ["status", "on", "off", "reload", "reset", "defaults", "config", "denials", "model"];
const USAGE = `/automode ${WORDS.join("|")} [provider/model-id]`;

/** Pi's own settings for all projects, where the model is kept. */
export function settingsFile() {
  return join(homedir(), ".pi", "agent", "automode.json");
}

/**
 * Keeps the model in the settings; everything else in them stays. Settings that cannot be read are not touched.
 * @param {string} model
 * @param {string} [file]
 */
export function saveModel(model, file = settingsFile()) {
  if (!/^[^/\s]+\/\S+$/.test(model)) throw new Error(`\`${model}\` is not provider/model-id; nothing was changed`);
  let settings = {};
  try {
    settings = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    const why = /** @type {NodeJS.ErrnoException} */ (error);
    if (why.code !== "ENOENT") throw new Error(`${file} cannot be read, so nothing was changed: ${why.message}`);
  }
  const isObject = (/** @type {any} */ value) => typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject(settings) || !(settings.autoMode === undefined || isObject(settings.autoMode))) {
    throw new Error(`${file} is not of the expected shape, so nothing was changed`);
  }
  settings.autoMode = { ...settings.autoMode, classifierModel: model };
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  renameSync(temporary, file);
}

/** The model in the settings, if there is one. */
export function savedModel(file = settingsFile()) {
  try {
    return JSON.parse(readFileSync(file, "utf8"))?.autoMode?.classifierModel;
  } catch {
    return undefined;
  }
}

/**
 * Answers one command.
 * @param {string} text what stands behind `/automode`
 * @param {any} ctx
 * @param {import("./index.js").Guard} guard
 */
export async function command(text, ctx, guard) {
  const [word = "status", ...rest] = text.trim().split(/\s+/).filter(Boolean);
  const say = (/** @type {string} */ what, kind = "info") => ctx.hasUI && ctx.ui.notify(what, kind);
  try {
    const done = await answered(word, rest, ctx, guard);
    if (done) say(done);
  } catch (error) {
    say(`doorward: ${/** @type {Error} */ (error).message}`, "error");
  }
}

/**
 * @param {string} word
 * @param {string[]} rest
 * @param {any} ctx
 * @param {import("./index.js").Guard} guard
 */
async function answered(word, rest, ctx, guard) {
  const { state } = guard;
  const ask = (/** @type {string[]} */ words, codes = [0]) => run(guard.program, words, { cwd: ctx.cwd, codes });
  switch (word) {
    case "status":
      return [footer(state), `${state.lastDecision ?? "no decision yet"}: ${state.lastReason ?? ""}`, await reviewer(ctx, guard), await ask(["status"])].join("\n");
    case "on":
      await guard.switched(true, ctx);
      return "auto-mode is on";
    case "off":
      // INVARIANT: only a user who can see the question switches it off.
      if (!ctx.hasUI || !(await ctx.ui.confirm("Switch auto-mode off?", "No call of this session is judged or recorded until it is on again."))) {
        return "auto-mode stays as it is";
      }
      await guard.switched(false, ctx);
      return "auto-mode is off until `/automode on` or the end of the session";
    case "reload":
      await guard.look(ctx);
      return `${await ask(["config", "--agent", "pi"], [0, 1])}\nwhat is stricter counts at once; what is laxer counts in new sessions, or after \`doorward reload\` in a terminal`;
    case "reset":
      Object.assign(state, { ...fresh(), enabled: state.enabled, lastDecision: undefined, lastReason: undefined });
      guard.keep(ctx);
      return "the counts of this session are back to zero; the limit of denials is set back by `doorward reset` in a terminal";
    case "defaults":
      return ask(["defaults"]);
    case "config":
      return ask(["config", "--agent", "pi"], [0, 1]);
    case "denials":
      return listed(state);
    case "model":
      return model(rest, ctx, guard);
    default:
      return USAGE;
  }
}

/**
 * The model that reviews, in a line; that it cannot be learnt is said too.
 * @param {any} ctx
 * @param {import("./index.js").Guard} guard
 */
async function reviewer(ctx, guard) {
  try {
    return await shown(ctx, await standing(guard.program, ctx));
  } catch (error) {
    return `reviewer: unknown (${/** @type {Error} */ (error).message})`;
  }
}

/**
 * @param {string[]} rest
 * @param {any} ctx
 * @param {import("./index.js").Guard} guard
 */
async function model(rest, ctx, guard) {
  let chosen = rest[0];
  if (chosen === undefined && ctx.hasUI) {
    const available = (await ctx.modelRegistry?.getAvailable?.()) ?? [];
    const names = available.map((/** @type {any} */ one) => `${one.provider}/${one.id}`);
    if (names.length > 0) chosen = await ctx.ui.select("Model that reviews what the rules leave open", names);
  }
  if (chosen === undefined) return `model: ${savedModel() ?? "none chosen"}\n${await reviewer(ctx, guard)}`;
  saveModel(chosen);
  const missing = await lacks(ctx, chosen, await standing(guard.program, ctx, chosen));
  await guard.look(ctx);
  if (missing.length === 0) return `${chosen} reviews from the next call on`;
  return `${chosen} is kept in ${settingsFile()}, but does not review yet: ${missing.join("; ")}`;
}

/** @param {string} prefix */
export function completions(prefix) {
  const fitting = WORDS.filter((word) => word.startsWith(prefix));
  return fitting.length > 0 ? fitting.map((word) => ({ value: word, label: word })) : null;
}
