/**
 * The calls that are under way over one connection, and which of them a message belongs to.
 *
 * O1 Over HTTP a call has an exchange of its own: what comes over it is the call's, which is known by the
 *    context in which it is read. So it is for what is done on behalf of a call.
 * O2 What comes over a line that all calls share is the call's that alone is under way; with several, nobody's.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

import type { Elicited, ElicitedForm } from './elicitation.ts'
import type { AgentCall } from '@tutti/agent-call'

/** A call, for what comes from its server. */
export interface CallScope extends Pick<AgentCall, 'onBytes' | 'logger' | 'traceparent'> {
  /** Aborts when exchanges of the call are to be closed. */
  readonly wire: AbortSignal
  /** Brings a question to whoever answers; `signal` aborts when the server does not wait any more. */
  readonly ask: (form: ElicitedForm, signal: AbortSignal) => Promise<Elicited>
  /** Ends the call as a failure. */
  readonly fail: (error: unknown) => void
  /** Told of the message that says that the call is cancelled, while it is being sent. */
  readonly onCancelSent: (sending: Promise<void>) => void
}

/** The calls of one connection. */
export class OpenCalls {
  readonly #storage = new AsyncLocalStorage<CallScope>()
  readonly #open = new Set<CallScope>()
  readonly #onChange: (size: number) => void

  /** @param onChange told how many calls there are, whenever that changes */
  constructor(onChange: (size: number) => void = () => undefined) {
    this.#onChange = onChange
  }

  get size(): number {
    return this.#open.size
  }

  /** Does the work of a call, which is under way until it is done. */
  async run<T>(scope: CallScope, work: () => Promise<T>): Promise<T> {
    this.#open.add(scope)
    this.#onChange(this.#open.size)
    try {
      return await this.#storage.run(scope, work)
    } finally {
      this.#open.delete(scope)
      this.#onChange(this.#open.size)
    }
  }

  /** Does something on behalf of a call. */
  within<T>(scope: CallScope, work: () => T): T {
    return this.#storage.run(scope, work)
  }

  /** Does something that is for all calls. */
  outside<T>(work: () => T): T {
    return this.#storage.exit(work)
  }

  /** The call on whose behalf this runs. */
  get acting(): CallScope | undefined {
    return this.#storage.getStore()
  }

  /** The call that what came here is for. */
  get addressed(): CallScope | undefined {
    const [first] = this.#open
    return this.acting ?? (this.#open.size === 1 ? first : undefined)
  }

  /** All of them. */
  get all(): Iterable<CallScope> {
    return this.#open
  }
}
