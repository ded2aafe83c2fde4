/**
 * The short form, which CI runs: every benchmark once, small and without peers. It shows that they still run; its
 * figures say nothing. Processes that a benchmark starts inherit it.
 */

const VARIABLE = 'TUTTI_BENCH_SHORT'

/** Chooses the short form for the benchmarks that are loaded from now on. */
export function chooseShortForm(): void {
  process.env[VARIABLE] = '1'
}

/** Returns whether this is the short form. */
export function isShort(): boolean {
  return process.env[VARIABLE] === '1'
}

/** Returns `short` in the short form, else `full`. */
export function sized<T>(full: T, short: T): T {
  return isShort() ? short : full
}
