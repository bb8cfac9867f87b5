// The model that reviews: which one it is, what keeps it from being asked, and Pi's own key for it.
// @ts-check
import { run } from "./guard.js";

/**
 * What doorward says about the reviewer.
 * @typedef {{ in_force: string | null, url: string | null, missing: { what: string, sentence: string }[] }} Standing
 */

/**
 * Asks which model reviews in this session, and what keeps `wanted` from it.
 * @param {string} program
 * @param {any} ctx
 * @param {string} [wanted]
 * @returns {Promise<Standing>}
 */
export async function standing(program, ctx, wanted) {
  const words = ["model", "list", "--json", "--session", ctx.sessionManager.getSessionId()];
  if (ctx.model) words.push("--session-model", `${ctx.model.provider}/${ctx.model.id}`);
  if (wanted) words.push("--wanted", wanted);
  const said = JSON.parse(await run(program, words, { cwd: ctx.cwd }));
  if (!Array.isArray(said?.missing)) throw new Error("its answer about the reviewer cannot be read");
  return said;
}

/**
 * Pi's own key for a model, and where Pi sends it. Only a plain key is lent: a subscription's token is for Pi alone.
 * @param {any} ctx
 * @param {string | null | undefined} name
 */
export async function lent(ctx, name) {
  const registry = ctx.modelRegistry;
  const at = name?.indexOf("/") ?? -1;
  if (!name || at < 0) return undefined;
  try {
    const provider = name.slice(0, at);
    const model = registry?.find?.(provider, name.slice(at + 1));
    if (!model || registry.isUsingOAuth?.(model)) return undefined;
    const auth = await registry.getApiKeyAndHeaders?.(model);
    const url = auth?.baseUrl ?? model.baseUrl;
    if (auth?.ok !== true || typeof auth.apiKey !== "string" || typeof url !== "string") return undefined;
    return { provider, url, key: auth.apiKey };
  } catch {
    // Without a key the reviewer is not asked, and says so.
    return undefined;
  }
}

/**
 * What is missing, in sentences, after Pi's own key was taken into account.
 * @param {any} ctx
 * @param {string} name
 * @param {Standing} standing
 */
export async function lacks(ctx, name, standing) {
  const isLent = (await lent(ctx, name)) !== undefined;
  const provider = name.split("/")[0];
  const sentences = standing.missing.filter((one) => one.what !== "key" || !isLent);
  return sentences.map((one) => (one.what === "key" ? `${one.sentence}, and Pi has no key of its own for ${provider} (\`/login\`)` : one.sentence));
}

/**
 * The reviewer in one line.
 * @param {any} ctx
 * @param {Standing} standing
 */
export async function shown(ctx, standing) {
  if (!standing.in_force) return "reviewer: none";
  const missing = await lacks(ctx, standing.in_force, standing);
  return `reviewer: ${standing.in_force}${missing.length > 0 ? `, which cannot be asked: ${missing.join("; ")}` : ""}`;
}
