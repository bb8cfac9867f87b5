import type { Doorward } from "./index.js";

/** `query({ prompt, options: { hooks: hooks(new Doorward()) } })`. A question goes to `canUseTool`; without it the call is refused. */
export function hooks(door: Doorward): Record<string, any>;
