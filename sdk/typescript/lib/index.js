// doorward for JavaScript: may this tool call run? Whatever goes wrong, the answer is a block.
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { findProgram, NotInstalled } from "./program.js";
import { ProcessTransport, run, SocketTransport, Unanswered } from "./transport.js";

export { findProgram, NotInstalled };

const VERDICTS = ["approve", "confirm", "block", "none"];

/** The call did not run. The text is for the model: the reason, and what to do instead. */
export class Refused extends Error {
  name = "Refused";

  constructor(judgement) {
    super(judgement.reason);
    this.judgement = judgement;
  }
}

/** One session of an agent. */
export class Doorward {
  #options;
  #transport;

  constructor(options = {}) {
    this.#options = options;
    this.session = options.session ?? randomUUID();
    this.cwd = options.cwd === undefined ? undefined : resolve(options.cwd);
    this.timeout = options.timeout ?? 30_000;
    this.ask = options.ask;
    if (options.socket !== undefined) this.#transport = new SocketTransport(options.socket);
  }

  /** What doorward says about a call. Never rejects: whatever goes wrong is a block. */
  async check(tool, input, { id = randomUUID(), cwd } = {}) {
    try {
      const answer = await this.#send({ event: "call", tool, input, cwd: cwd ?? this.cwd ?? process.cwd(), session: this.session, id, attended: this.ask !== undefined });
      const { verdict, reason } = answer;
      // An answer to another call is no answer to this one; only a refusal may name none.
      if (!VERDICTS.includes(verdict) || typeof reason !== "string" || (verdict !== "block" && answer.id !== id)) {
        throw new Unanswered("doorward's answer is about another call");
      }
      return judgement(verdict, reason, id, false);
    } catch (error) {
      const why = error instanceof Unanswered || error instanceof NotInstalled ? error.message : `doorward's answer can't be used: ${error}`;
      return judgement("block", `Not run: ${why}. Tell the user; do not try it another way.`, id, true);
    }
  }

  /** Checks a call and asks the person if need be; rejects with `Refused` unless it may run. */
  async decide(tool, input, options) {
    const said = await this.check(tool, input, options);
    if (said.mayRun) return said;
    if (said.verdict !== "confirm" || this.ask === undefined) throw new Refused(said);
    // Only `true` is a yes: not a string, not a number.
    if ((await this.ask(said, tool, input)) === true) return said;
    await this.outcome(said, "declined");
    throw new Refused(judgement("block", `The user said no. ${said.reason}`, said.id, false));
  }

  /** Runs `carryOut` only if the call may run, and reports how it ended. */
  async guard({ tool, input, id }, carryOut) {
    const before = JSON.stringify(input);
    const said = await this.decide(tool, input, { id });
    // Arguments are often shared objects; what runs must be what was judged.
    if (JSON.stringify(input) !== before) {
      await this.outcome(said, "declined");
      throw new Refused(judgement("block", "Not run: the arguments changed while the call was judged.", said.id, false));
    }
    let result = "failed";
    try {
      const value = await carryOut();
      result = "ran";
      return value;
    } finally {
      await this.outcome(said, result);
    }
  }

  /** Says how a call ended: `ran`, `failed` or `declined`. Yields whether it is on record. */
  async outcome(said, result) {
    return this.#tell({ event: "outcome", id: said.id, session: this.session, result });
  }

  /** Passes on what the person typed, so that "don't push" counts. Never pass on text of a model, a file or a tool. */
  async said(text) {
    return this.#tell({ event: "said", origin: "person", session: this.session, text });
  }

  /** Passes a payload in an agent's own format to `doorward hook AGENT`; rejects if there is no answer. No opinion is `{"doorward":"none"}`. */
  async hook(agent, payload) {
    const answer = await run(findProgram(this.#options.program), [agent, "--explicit"], payload, this.timeout);
    if (!answer.trim()) throw new Unanswered("doorward said nothing");
    return answer;
  }

  /** Closes the connection, if there is one. */
  close() {
    this.#transport?.close();
  }

  async #tell(event) {
    try {
      const answer = await this.#send(event);
      return answer.done !== false;
    } catch {
      return false;
    }
  }

  #send(event) {
    this.#transport ??= new ProcessTransport(findProgram(this.#options.program));
    return this.#transport.send(event, this.timeout);
  }
}

function judgement(verdict, reason, id, unanswered) {
  return Object.freeze({ verdict, reason, id, unanswered, mayRun: verdict === "approve" || verdict === "none" });
}

/** Descriptions of common tools for the adapters. Others are asked about. */
export const shell = (argument = "command") => (given) => ({ tool: "bash", input: { command: given[argument] } });
export const readFile = (argument = "path") => (given) => ({ tool: "read", input: { path: given[argument] } });
export const writeFile = (path = "path", content = "content") => (given) => ({ tool: "write", input: { path: given[path], content: given[content] } });
export const fetchUrl = (argument = "url") => (given) => ({ tool: "fetch", input: { url: given[argument] } });

/** What doorward judges for a tool call: as described, or by name, which asks. */
export function translated(described, name, args) {
  if (described && Object.hasOwn(described, name)) return described[name](args);
  return { tool: "other", input: { name, args } };
}
