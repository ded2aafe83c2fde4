/**
 * The forms of a benchmark. `full` is the form whose results count. `quick` has one round, for work on a change.
 * `short` is the form for CI: every benchmark once and small, which only shows that it still runs. Each form runs with
 * or without peers. Child processes of a benchmark inherit the form.
 */

const VARIABLE = 'TUTTI_BENCH_FORM'
const PEERS = 'TUTTI_BENCH_PEERS'

/** Selects a form for benchmarks that start later. */
export function chooseForm(form: 'quick' | 'short'): void {
  process.env[VARIABLE] = form
}

/** Lets benchmarks that start later compare with the peers. */
export function choosePeers(): void {
  process.env[PEERS] = 'true'
}

/** Returns whether this is the short form. */
export function isShort(): boolean {
  return process.env[VARIABLE] === 'short'
}

/** Returns whether this is the quick form. */
export function isQuick(): boolean {
  return process.env[VARIABLE] === 'quick'
}

/** Returns whether peers are installed and measured. */
export function hasPeers(): boolean {
  return process.env[PEERS] !== undefined
}

/** Returns the value of the form; the quick form has that of the full one unless it has its own. */
export function sized<T>(full: T, short: T, quick = full): T {
  if (isShort()) return short
  return isQuick() ? quick : full
}
