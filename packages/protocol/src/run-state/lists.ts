/**
 * Lists of a state: changes in place while no reader has them, and finds members by key.
 */

/** Changes lists. A list is copied before its first change; further changes are made in the copy, until it is shared. */
export class ListEditor {
  #own: WeakSet<readonly object[]> | undefined

  /** Makes all lists immutable: the next change of each one copies it again. */
  share(): void {
    this.#own = undefined
  }

  /** Returns the list with another member at an index. The keys of both members must be equal. */
  with<T extends object>(list: readonly T[], at: number, member: T): readonly T[] {
    const own = this.#take(list)
    own[at] = member
    return own
  }

  /** Returns the list with one more member at its end. */
  append<T extends object>(list: readonly T[], member: T, key?: string): readonly T[] {
    const own = this.#take(list)
    own.push(member)
    if (key !== undefined) INDEXES.get(own)?.set(key, own.length - 1)
    return own
  }

  #take<T extends object>(list: readonly T[]): T[] {
    // NOTE: only this editor has the lists in the set, and it has made them.
    if (this.#own?.has(list) === true) return list as T[]
    const copy = list.slice()
    const index = INDEXES.get(list)
    if (index !== undefined) INDEXES.set(copy, index)
    this.#own ??= new WeakSet()
    this.#own.add(copy)
    return copy
  }
}

/**
 * List → key → index. A copy shares the map of its original, and may have other members after the same ones, so a found
 * index is checked. The map has at least the keys of each of its lists.
 */
const INDEXES = new WeakMap<readonly object[], Map<string, number>>()

/**
 * Returns the index of the member with a key, -1 if there is none. It reads the whole list the first time only. The keys of
 * a list must be unique.
 */
export function findIndexByKey<T extends object>(
  list: readonly T[],
  key: string,
  keyOf: (member: T) => string,
): number {
  const known = INDEXES.get(list)
  if (known !== undefined) {
    const at = known.get(key)
    if (at === undefined) return -1
    const member = list[at]
    if (member !== undefined && keyOf(member) === key) return at
  }
  const index = new Map(list.map((member, at) => [keyOf(member), at]))
  INDEXES.set(list, index)
  return index.get(key) ?? -1
}
