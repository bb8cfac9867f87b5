#!/usr/bin/env node
// Runs the doorward program of this platform's package.
import { spawnSync } from "node:child_process";
import { findProgram } from "../lib/program.js";

let program;
try {
  program = findProgram();
} catch (error) {
  console.error(error.message);
  process.exit(2);
}
const ran = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (ran.error) console.error(`doorward can't be run: ${ran.error.message}`);
// Ended by a signal, or not run at all: a hook must read that as a refusal.
process.exit(ran.status ?? 2);
