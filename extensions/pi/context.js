// What the session has loaded for the model, and calls in a few words, for doorward and for a person.
// @ts-check

/** Longer than any context file that is worth sending. */
const CONTEXT = 256 * 1024;

/** Characters of a call that are shown. */
const ACTION = 6000;

/**
 * Text without its middle.
 * @param {string} text
 * @param {number} limit
 */
export function shortened(text, limit) {
  if (text.length <= limit) return text;
  const mark = "\n… left out …\n";
  const half = Math.floor((limit - mark.length) / 2);
  return text.slice(0, half) + mark + text.slice(text.length - half);
}

/**
 * The instruction files that are loaded. The program cuts them, to 4000 characters each.
 * @param {unknown} found
 */
export function files(found) {
  if (!Array.isArray(found)) return [];
  const known = found.filter((file) => typeof file?.path === "string" && typeof file?.content === "string");
  return known.map((file) => ({ path: file.path, content: shortened(file.content, CONTEXT) }));
}

/**
 * A call for a person to read: the whole of it where a yes depends on it.
 * @param {string} tool
 * @param {unknown} input
 */
export function whole(tool, input) {
  return visible(`${tool} ${JSON.stringify(input, null, 2) ?? ""}`);
}

/**
 * A call for a list.
 * @param {string} tool
 * @param {unknown} input
 */
export function summary(tool, input) {
  return shortened(whole(tool, input), ACTION);
}

/**
 * Characters that hide or reorder text are shown by their number.
 * @param {string} text
 */
export function visible(text) {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu, (hidden) =>
    `\\u{${hidden.codePointAt(0)?.toString(16)}}`,
  );
}
