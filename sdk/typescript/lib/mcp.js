// MCP clients: a client whose tool calls go through doorward.
import { Refused } from "./index.js";

/** The client behind doorward; everything but tool calls is its own. A refused call yields an error result with the reason. */
export function guardedClient(client, door, { server }) {
  const callTool = async (params, ...rest) => {
    // A copy, so that what is called is what was judged.
    const call = structuredClone(params);
    try {
      const input = { server, name: call.name, args: call.arguments ?? {} };
      return await door.guard({ tool: "mcp", input }, () => client.callTool(call, ...rest));
    } catch (error) {
      if (error instanceof Refused) return { content: [{ type: "text", text: error.message }], isError: true };
      throw error;
    }
  };
  const request = (message, ...rest) => {
    if (message?.method === "tools/call") throw new Error("call tools with `callTool`, so that doorward sees the call");
    return client.request(message, ...rest);
  };
  return new Proxy(client, {
    get(target, name) {
      if (name === "callTool") return callTool;
      if (name === "request") return request;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
