/**
 * Limits the bytes in flight of a process: bodies of requests and messages until they are answered, large answers until
 * they are sent, reads that wait or are built, and runs that execute. No I/O.
 *
 * RUNS-FL2 A reservation is refused with OVERLOADED if all of them would exceed the limit.
 * RUNS-FL3 A key gets at most as much as it leaves free, so that one key gets at most half, and of n keys each gets a
 *    share of 1/(n+1). A key that holds nothing can use everything that is free.
 * RUNS-FL4 Accepted work is held without being refused; it only makes others wait.
 *
 * @see https://doi.org/10.1109/90.664262 "Dynamic queue length thresholds for shared-memory packet switches", alpha = 1
 */
import { TuttiError } from '@tutti/core'

/** `Retry-After` of refused work, in milliseconds. Most reservations last for less. */
const RETRY_MS = 1_000

/** Limit on the bytes in flight, and the shares of the keys. */
export class ByteBudget {
  /** Maximum number of bytes in flight. */
  readonly limit: number
  readonly #used = new Map<string, number>()
  #total = 0

  /** @param limit in bytes */
  constructor(limit: number) {
    this.limit = limit
  }

  /** Bytes in flight. */
  get used(): number {
    return this.#total
  }

  /**
   * Reserves bytes for the work of a key.
   *
   * @throws {TuttiError} OVERLOADED when they exceed the limit or the share of the key.
   */
  reserve(key: string, bytes: number): Reservation {
    if (bytes > 0 && !this.fits(key, bytes)) throw overloaded(bytes, this.#total, this.limit)
    return this.hold(key, bytes)
  }

  /** Counts bytes of accepted work, also above the limit. */
  hold(key: string, bytes: number): Reservation {
    let held: number | undefined = 0
    const grow = (more: number): void => {
      if (held === undefined) return
      held += more
      this.#add(key, more)
    }
    grow(bytes)
    return {
      grow,
      release: () => {
        grow(-(held ?? 0))
        held = undefined
      },
    }
  }

  /** Whether a key may reserve bytes now. */
  fits(key: string, bytes: number): boolean {
    const own = this.#used.get(key) ?? 0
    const free = this.limit - this.#total - bytes
    return free >= 0 && (own === 0 || own + bytes <= free)
  }

  #add(key: string, bytes: number): void {
    const own = (this.#used.get(key) ?? 0) + bytes
    this.#total += bytes
    if (own === 0) this.#used.delete(key)
    else this.#used.set(key, own)
  }
}

/** Bytes that some work holds. */
export interface Reservation {
  /** Adds bytes, also above the limit. Has no effect after `release`. */
  readonly grow: (bytes: number) => void
  /** Returns all bytes. Later calls have no effect. */
  readonly release: () => void
}

function overloaded(bytes: number, total: number, limit: number): TuttiError {
  return new TuttiError(
    'OVERLOADED',
    `Cannot take ${bytes} bytes more: ${total} of ${limit} bytes are in flight (maxBytesInFlight), and one key ` +
      'gets at most as much as it leaves free. Try again later',
    { retryable: true, details: { retryAfterMs: RETRY_MS } },
  )
}
