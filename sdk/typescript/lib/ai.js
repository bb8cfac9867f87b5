// Vercel AI SDK: tools that run only if doorward lets them.
import { Refused, translated } from "./index.js";

/** The same tools, each behind doorward. The model reads the reason of a refusal as the tool's result. */
export function guarded(tools, door, described) {
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, guardedTool(name, tool, door, described)]));
}

function guardedTool(name, tool, door, described) {
  const run = tool.execute;
  if (typeof run !== "function") {
    throw new TypeError(`\`${name}\` does not run in this process, so doorward can't judge its calls`);
  }
  // A copy that keeps everything else, getters and symbols included.
  const copy = Object.create(Object.getPrototypeOf(tool), Object.getOwnPropertyDescriptors(tool));
  Object.defineProperty(copy, "execute", {
    enumerable: true,
    value: async (args, options) => {
      try {
        const { tool: judged, input } = translated(described, name, args);
        const before = JSON.stringify(args);
        return await door.guard({ tool: judged, input }, async () => {
          if (JSON.stringify(args) !== before) throw new Error("the arguments changed while the call was judged");
          const value = run.call(tool, args, options);
          return isStream(value) ? lastOf(value) : value;
        });
      } catch (error) {
        if (error instanceof Refused) return error.message;
        throw error;
      }
    },
  });
  return copy;
}

const isStream = (value) => typeof value === "object" && value !== null && Symbol.asyncIterator in value;

/** A tool that yields preliminary results: the last one is its result. */
async function lastOf(values) {
  let last;
  for await (const value of values) last = value;
  return last;
}
