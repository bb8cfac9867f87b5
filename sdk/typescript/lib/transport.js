// Carries one event to doorward and its answer back: a process per event, or a socket.
import { spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import { createConnection } from "node:net";
import { dirname, resolve } from "node:path";

// More than any answer; a longer one is not kept in memory.
const LONGEST = 1 << 20;

/** There is no usable answer; the call must not run. */
export class Unanswered extends Error {
  name = "Unanswered";
}

const late = (timeout) => new Unanswered(`doorward did not answer within ${timeout / 1000} s`);

/** Runs `doorward hook WORDS` once; yields what it prints if it says that all went well. */
export function run(program, words, payload, timeout) {
  return new Promise((done, fail) => {
    const text = line(payload);
    const child = spawn(program, ["hook", ...words], { stdio: ["pipe", "pipe", "pipe"] });
    let out = "";
    let said = "";
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      // A grandchild may hold the pipes open.
      child.stdout.destroy();
      child.stderr.destroy();
      fail(late(timeout));
    }, timeout);
    child.on("error", (error) => {
      clearTimeout(timer);
      fail(new Unanswered(`doorward can't be run: ${error.message}`));
    });
    child.stdout.setEncoding("utf8").on("data", (part) => {
      out += part;
      if (out.length > LONGEST) child.kill("SIGKILL");
    });
    child.stderr.setEncoding("utf8").on("data", (part) => {
      if (said.length < LONGEST) said += part;
    });
    // A program that reads nothing is judged by its answer, not by the broken pipe.
    child.stdin.on("error", () => {});
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (code === 0) done(out);
      else fail(new Unanswered(said.trim() || `doorward ended with ${code ?? signal}`));
    });
    child.stdin.end(text);
  });
}

/** A process per event. */
export class ProcessTransport {
  constructor(program) {
    this.program = program;
  }

  async send(event, timeout) {
    return answerOf(await run(this.program, ["generic"], event, timeout), event.event === "call");
  }

  close() {}
}

/** Talks to `doorward serve --socket PATH`, one line each way, one event at a time. */
export class SocketTransport {
  #path;
  #stream;
  #turn = Promise.resolve();

  constructor(path) {
    this.#path = path;
  }

  send(event, timeout) {
    const deadline = Date.now() + timeout;
    const answer = this.#turn.then(() => this.#exchange(event, deadline, timeout));
    this.#turn = answer.catch(() => {});
    return answer;
  }

  async #exchange(event, deadline, timeout) {
    const text = line(event);
    if (Date.now() >= deadline) throw late(timeout);
    const found = await stat(dirname(resolve(this.#path))).catch((error) => {
      throw new Unanswered(`the connection to doorward failed: ${error.message}`);
    });
    // A socket in a directory that others can write to could be anybody's.
    if (found.uid !== process.geteuid?.() || found.mode & 0o022) {
      throw new Unanswered(`the directory of \`${this.#path}\` must belong to you and be writable only by you`);
    }
    return new Promise((done, fail) => {
      // A connection that ended while nothing was asked tells nobody.
      if (this.#stream?.destroyed || this.#stream?.readableEnded) this.close();
      const stream = (this.#stream ??= createConnection(this.#path));
      stream.ref();
      let got = "";
      const finish = (error, answer) => {
        clearTimeout(timer);
        stream.removeAllListeners();
        stream.on("error", () => {});
        // An idle connection must not keep the program from ending.
        stream.unref();
        if (error) {
          // Whatever is still on its way would be taken for the answer to the next event.
          stream.destroy();
          this.#stream = undefined;
          fail(error);
        } else done(answer);
      };
      const timer = setTimeout(() => finish(late(timeout)), Math.max(1, deadline - Date.now()));
      stream.setEncoding("utf8");
      stream.on("error", (error) => finish(new Unanswered(`the connection to doorward failed: ${error.message}`)));
      stream.on("close", () => finish(new Unanswered("doorward closed the connection without an answer")));
      stream.on("data", (part) => {
        got += part;
        if (got.length > LONGEST) finish(new Unanswered("doorward's answer is too long"));
        else if (got.endsWith("\n")) {
          try {
            finish(undefined, answerOf(got, event.event === "call"));
          } catch (error) {
            finish(error);
          }
        }
      });
      stream.write(text);
    });
  }

  close() {
    this.#stream?.destroy();
    this.#stream = undefined;
  }
}

function line(event) {
  try {
    return `${JSON.stringify(event)}\n`;
  } catch (error) {
    throw new Unanswered(`the call can't be written as JSON: ${error.message}`);
  }
}

function answerOf(text, isCall) {
  if (!text.trim() && !isCall) return {};
  let answer;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Unanswered("doorward's answer can't be read");
  }
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) throw new Unanswered("doorward's answer can't be read");
  return answer;
}
