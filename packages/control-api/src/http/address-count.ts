/** Counts the open connections of each address. */
export class AddressCount {
  readonly #limit: number
  readonly #counts = new Map<string, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Adds a connection; returns how many there are beyond the limit, 0 or less for none. */
  add(address: string): number {
    const count = (this.#counts.get(address) ?? 0) + 1
    this.#counts.set(address, count)
    return count - this.#limit
  }

  /** Removes a connection that has closed. */
  remove(address: string): void {
    const count = (this.#counts.get(address) ?? 1) - 1
    if (count === 0) this.#counts.delete(address)
    else this.#counts.set(address, count)
  }
}
