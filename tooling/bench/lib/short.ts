/**
 * The short form for CI: every benchmark once, small and without peers. It shows that they still run; its
 * results are meaningless. Child processes of a benchmark inherit it.
 */

const VARIABLE = 'TUTTI_BENCH_SHORT'

/** Selects the short form for benchmarks that are loaded later. */
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
