/** Clients of the API processes. Each call is repeated until it gets a reply. */
import { setTimeout as sleep } from 'node:timers/promises'

import { builtPackage } from '../../bench/lib/built.ts'

import type { TuttiClient } from '../../../packages/client/src/index.ts'

type ClientDoor = typeof import('../../../packages/client/src/index.ts')

const { createClient, TuttiClientError } = await builtPackage<ClientDoor>('client')

/** A period, in milliseconds since 1970. */
export interface Interval {
  readonly from: number
  readonly to: number
}

/** Outcome of a call, and the time of its last try. */
export type CallEnd<T> = Interval & Outcome<T>

type Outcome<T> =
  | { readonly kind: 'answered'; readonly value: T }
  /** A retry would fail again. */
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  /** There was no reply until the end. */
  | { readonly kind: 'given_up'; readonly message: string }

/** Timeout of one attempt, in milliseconds: a slower submit is sent again to another process. */
const TRY_MS = 5_000

/** Delays between attempts, in milliseconds: doubled up to the maximum. */
const FIRST_WAIT_MS = 100
const MAX_WAIT_MS = 2_000

/** Clients of several processes with the same runs. */
export class ApiClients {
  /** Addresses of the processes. */
  readonly urls: readonly string[]
  readonly #clients: readonly TuttiClient[]
  readonly #signal: AbortSignal
  #tries = 0

  /** `signal` aborts calls in flight and all later ones. */
  constructor(urls: readonly string[], signal: AbortSignal) {
    this.urls = urls
    this.#clients = urls.map((baseUrl) =>
      createClient({
        baseUrl,
        timeoutMs: TRY_MS,
        reconnect: { baseDelayMs: 50, maxDelayMs: 1_000 },
      }),
    )
    this.#signal = signal
  }

  /** Number of requests sent. */
  get tries(): number {
    return this.#tries
  }

  /** Returns one of the clients. */
  client(number: number): TuttiClient {
    const client = this.#clients[number % this.#clients.length]
    if (client === undefined) throw new RangeError('Cannot make a call: no process was added')
    return client
  }

  /** Makes a call with one client after another until it gets a reply; never rejects. */
  async untilAnswered<T>(
    first: number,
    call: (client: TuttiClient, signal: AbortSignal) => Promise<T>,
    { patienceMs }: { readonly patienceMs?: number | undefined } = {},
  ): Promise<CallEnd<T>> {
    for (let number = first; ; number += 1) {
      this.#tries += 1
      const from = Date.now()
      try {
        const isImpatient = number === first && patienceMs !== undefined
        const signal = isImpatient
          ? AbortSignal.any([this.#signal, AbortSignal.timeout(Math.ceil(patienceMs))])
          : this.#signal
        const value = await call(this.client(number), signal)
        return { kind: 'answered', value, from, to: Date.now() }
      } catch (error) {
        if (!TuttiClientError.isInstance(error)) throw error
        const { code, message } = error
        const tried = { from, to: Date.now() }
        if (this.#signal.aborted) {
          return { ...tried, kind: 'given_up', message: `${code}: ${message}` }
        }
        // An abort by this class is a timeout.
        if (!error.retryable && code !== 'ABORTED') {
          return { ...tried, kind: 'refused', code, message }
        }
      }
      const waitMs = Math.min(FIRST_WAIT_MS * 2 ** (number - first), MAX_WAIT_MS)
      await sleep(waitMs, undefined, { signal: this.#signal }).catch(() => undefined)
    }
  }
}
