// Finds the doorward program: the one in this platform's package, or an installed one.
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join, sep } from "node:path";

/** There is no doorward program on this machine. */
export class NotInstalled extends Error {
  name = "NotInstalled";
}

// Where installers put it. The search path comes last: an agent's project may be on it.
const PLACES = [join(homedir(), ".local/bin"), join(homedir(), ".cargo/bin"), "/usr/local/bin", "/opt/homebrew/bin", "/usr/bin"];

/** The absolute path of the program; `named` if it is given, whatever else is installed. */
export function findProgram(named) {
  if (named !== undefined) {
    if (!isAbsolute(named)) throw new NotInstalled(`\`${named}\` is not an absolute path, so any directory could supply it`);
    if (!isProgram(named)) throw new NotInstalled(`\`${named}\` is not a program`);
    return named;
  }
  const own = ownProgram();
  const found = [own, ...PLACES.map((place) => join(place, "doorward"))].find((path) => path && isProgram(path));
  if (found) return found;
  const here = realpathSync(process.cwd()) + sep;
  const onPath = (process.env.PATH ?? "").split(delimiter).filter(isAbsolute).map((place) => join(place, "doorward"));
  const program = onPath.find((path) => isProgram(path) && !realpathSync(path).startsWith(here));
  if (program) return program;
  throw new NotInstalled("doorward is not installed; see https://github.com/doorward/doorward");
}

function ownProgram() {
  try {
    const manifest = createRequire(import.meta.url).resolve(`@doorward/${process.platform}-${process.arch}/package.json`);
    return join(dirname(manifest), "bin/doorward");
  } catch {
    return undefined;
  }
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
