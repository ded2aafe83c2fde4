/** Random numbers that follow from a seed and from what they are for. */

/** A number from 0 up to 1, the same for the same words. */
export function draw(...words: readonly (string | number)[]): number {
  // FNV-1a, and the last steps of MurmurHash3, as few words would else give numbers that are near.
  let hash = 0x811c9dc5
  for (const char of words.join('\n')) {
    hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}

/** Draws one number after the other. */
export class Draws {
  readonly #words: readonly (string | number)[]
  #count = 0

  constructor(...words: readonly (string | number)[]) {
    this.#words = words
  }

  /** From 0 up to 1. */
  next(): number {
    this.#count += 1
    return draw(...this.#words, this.#count)
  }

  /** From `least` up to `most`. */
  between(least: number, most: number): number {
    return least + (most - least) * this.next()
  }

  /** True in that share of cases. */
  happens(share: number): boolean {
    return this.next() < share
  }

  /** One of the keys, each as often as its weight says. */
  pick<Key extends string>(weights: Readonly<Record<Key, number>>): Key {
    // NOTE: the keys of the record are those of its type.
    const keys = Object.keys(weights) as Key[]
    let left = this.next() * keys.reduce((sum, key) => sum + weights[key], 0)
    const found = keys.find((key) => (left -= weights[key]) < 0) ?? keys.at(-1)
    if (found === undefined) throw new RangeError('Cannot pick one of nothing')
    return found
  }
}
