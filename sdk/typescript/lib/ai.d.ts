import type { Doorward, Tools } from "./index.js";

/**
 * The tools of `generateText`, `streamText` or an agent, each behind doorward:
 * `tools: guarded({ runShell }, new Doorward(), { runShell: shell("cmd") })`.
 * A tool without `execute` can't be judged before it runs, and is a `TypeError` here.
 */
export function guarded<T extends Record<string, any>>(tools: T, door: Doorward, described?: Tools): T;
