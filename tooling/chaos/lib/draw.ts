/** Random numbers that depend only on a seed and their purpose. */

/** Returns a number from 0 up to 1, the same for the same words. */
export function draw(...words: readonly (string | number)[]): number {
  // FNV-1a, and the final steps of MurmurHash3, because short inputs would otherwise give similar numbers.
  let hash = 0x811c9dc5
  for (const char of words.join('\n')) {
    hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}

/** A sequence of random numbers. */
export class Draws {
  readonly #words: readonly (string | number)[]
  #count = 0

  constructor(...words: readonly (string | number)[]) {
    this.#words = words
  }

  /** Returns a number from 0 up to 1. */
  next(): number {
    this.#count += 1
    return draw(...this.#words, this.#count)
  }

  /** Returns a number from `least` up to `most`. */
  between(least: number, most: number): number {
    return least + (most - least) * this.next()
  }

  /** Returns true with this probability. */
  happens(share: number): boolean {
    return this.next() < share
  }

  /** Returns one of the keys with a probability by its weight. */
  pick<Key extends string>(weights: Readonly<Record<Key, number>>): Key {
    // NOTE: the keys of the record are those of its type.
    const keys = Object.keys(weights) as Key[]
    let left = this.next() * keys.reduce((sum, key) => sum + weights[key], 0)
    const found = keys.find((key) => (left -= weights[key]) < 0) ?? keys.at(-1)
    if (found === undefined) throw new RangeError('Cannot pick one of nothing')
    return found
  }
}
