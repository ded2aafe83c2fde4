/**
 * The forms of a benchmark. `full` is the form whose results count. `quick` has one round and no peers, for work
 * on a change. `short` is the form for CI: every benchmark once and small, which only shows that it still runs.
 * Child processes of a benchmark inherit the form.
 */

const VARIABLE = 'TUTTI_BENCH_FORM'

/** Selects a form for benchmarks that start later. */
export function chooseForm(form: 'quick' | 'short'): void {
  process.env[VARIABLE] = form
}

/** Returns whether this is the short form. */
export function isShort(): boolean {
  return process.env[VARIABLE] === 'short'
}

/** Returns whether this is the quick form. */
export function isQuick(): boolean {
  return process.env[VARIABLE] === 'quick'
}

/** Returns whether peers are installed and measured: only in the full form. */
export function hasPeers(): boolean {
  return process.env[VARIABLE] === undefined
}

/** Returns the value of the form; the quick form has that of the full one unless it has its own. */
export function sized<T>(full: T, short: T, quick = full): T {
  if (isShort()) return short
  return isQuick() ? quick : full
}
