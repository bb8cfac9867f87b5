// What a session remembers for its display. The record that doorward keeps is the history.
// @ts-check

/** The name under which Pi keeps it. */
export const ENTRY = "pi-automode-state";

/** Denials that are remembered. */
export const DENIALS = 12;

/**
 * @typedef {{ timestamp: string, tool: string, reason: string, summary: string, kind: string }} Denial
 * @typedef {{ enabled: boolean, checkedActions: number, blockedActions: number, lastDecision?: "allow" | "block",
 *   lastReason?: string, denials: Denial[] }} State
 */

/** @returns {State} */
export function fresh() {
  return { enabled: true, checkedActions: 0, blockedActions: 0, denials: [] };
}

/**
 * The state that the session kept last. That it was switched off is not taken from there: a file could say so too.
 * @param {unknown} entries
 * @returns {State}
 */
export function restored(entries) {
  const state = fresh();
  const kept = Array.isArray(entries) ? entries.filter((entry) => entry?.customType === ENTRY).at(-1)?.data : undefined;
  const count = (/** @type {unknown} */ value) => (Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : 0);
  if (typeof kept !== "object" || kept === null) return state;
  state.checkedActions = count(kept.checkedActions);
  state.blockedActions = count(kept.blockedActions);
  if (kept.lastDecision === "allow" || kept.lastDecision === "block") state.lastDecision = kept.lastDecision;
  if (typeof kept.lastReason === "string") state.lastReason = kept.lastReason;
  const fields = ["timestamp", "tool", "reason", "summary", "kind"];
  const isDenial = (/** @type {any} */ denial) => fields.every((field) => typeof denial?.[field] === "string");
  if (Array.isArray(kept.denials)) state.denials = kept.denials.filter(isDenial).slice(-DENIALS);
  return state;
}

/**
 * @param {State} state
 * @param {string} reason
 */
export function allowed(state, reason) {
  state.checkedActions += 1;
  state.lastDecision = "allow";
  state.lastReason = reason;
}

/**
 * @param {State} state
 * @param {Omit<Denial, "timestamp">} denial
 */
export function blocked(state, denial) {
  state.checkedActions += 1;
  state.blockedActions += 1;
  state.lastDecision = "block";
  state.lastReason = denial.reason;
  state.denials = [...state.denials, { timestamp: new Date().toISOString(), ...denial }].slice(-DENIALS);
}

/**
 * The state for the footer.
 * @param {State} state
 */
export function footer(state) {
  if (!state.enabled) return "auto-mode off";
  return `auto-mode · ${state.checkedActions} checked · ${state.blockedActions} blocked`;
}

/**
 * @param {State} state
 */
export function listed(state) {
  if (state.denials.length === 0) return "nothing was blocked in this session";
  const line = (/** @type {Denial} */ denial) => `${denial.timestamp} ${denial.tool} (${denial.kind}): ${denial.reason}\n  ${denial.summary}`;
  return state.denials.map(line).join("\n");
}
