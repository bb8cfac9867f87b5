import type { Doorward } from "./index.js";

/** `const files = guardedClient(client, new Doorward(), { server: "files" })`; then `files.callTool(…)`. */
export function guardedClient<C extends object>(client: C, door: Doorward, options: { server: string }): C;
