/** What doorward says about a call. `none`: mode `off` or `shadow`, doorward leaves the call to the agent. */
export type Verdict = "approve" | "confirm" | "block" | "none";

export interface Judgement {
  readonly verdict: Verdict;
  readonly reason: string;
  readonly id: string;
  /** doorward did not judge the call: it is missing, late, silent or broken. The verdict is `block`. */
  readonly unanswered: boolean;
  readonly mayRun: boolean;
}

export type Input = Record<string, unknown>;
export type Outcome = "ran" | "failed" | "declined";

/** A tool call as doorward judges it. */
export interface Call {
  tool: string;
  input: Input;
  id?: string;
}

/** Turns a tool's arguments into what doorward judges. */
export type Translate = (args: any) => { tool: string; input: Input };
export type Tools = Record<string, Translate>;

export interface Options {
  /** The agent's session on record. */
  session?: string;
  /** Where its calls run. */
  cwd?: string;
  /** The path of doorward; found by itself if left out. */
  program?: string;
  /** The socket of `doorward serve`, instead of a process per call. */
  socket?: string;
  /** Milliseconds; 30,000 if left out. */
  timeout?: number;
  /** Asks a person; only `true` is a yes. Without it, questions are refused and wait in `doorward review`. */
  ask?: (judgement: Judgement, tool: string, input: Input) => boolean | Promise<boolean>;
}

export class Refused extends Error {
  readonly judgement: Judgement;
}

export class NotInstalled extends Error {}

export class Doorward {
  constructor(options?: Options);
  readonly session: string;
  readonly cwd: string | undefined;
  readonly timeout: number;
  readonly ask: Options["ask"];
  check(tool: string, input: Input, options?: { id?: string; cwd?: string }): Promise<Judgement>;
  decide(tool: string, input: Input, options?: { id?: string; cwd?: string }): Promise<Judgement>;
  guard<T>(call: Call, carryOut: () => T | Promise<T>): Promise<T>;
  outcome(judgement: Judgement, result: Outcome): Promise<boolean>;
  said(text: string): Promise<boolean>;
  hook(agent: string, payload: object): Promise<string>;
  close(): void;
}

export function findProgram(named?: string): string;
export function shell(argument?: string): Translate;
export function readFile(argument?: string): Translate;
export function writeFile(path?: string, content?: string): Translate;
export function fetchUrl(argument?: string): Translate;
export function translated(described: Tools | undefined, name: string, args: unknown): { tool: string; input: Input };
