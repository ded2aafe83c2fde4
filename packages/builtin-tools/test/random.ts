/** Random numbers that are the same in every run, for tests with many cases. */
export interface Random {
  /** Returns an integer from 0 to `below`, exclusive. */
  integer(below: number): number
  /** Returns one of the items. */
  pick<T>(items: readonly T[]): T
}

/** Creates a source of random numbers from a seed (the generator mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed
  const fraction = (): number => {
    state = (state + 0x6d_2b_79_f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (below: number): number => Math.floor(fraction() * below)
  return { integer, pick: (items) => items[integer(items.length)]! }
}
