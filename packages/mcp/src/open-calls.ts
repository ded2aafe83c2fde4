/**
 * The calls in flight over one connection, and which of them a message belongs to.
 *
 * O1 Over HTTP a call has its own exchange. Messages of the exchange belong to the call, which is known by the async
 *    context in which they are read.
 * O2 On a line that all calls share, a message belongs to the only call in flight; with several, to none.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

import type { ElicitRequestFormParams, ElicitResult } from '@modelcontextprotocol/client'

/** A question of a server (elicitation): its text and the schema of the values that it asks for. */
export type McpForm = Pick<ElicitRequestFormParams, 'message' | 'requestedSchema'>

/** The answer that the server gets. */
export type McpFormAnswer = Pick<ElicitResult, 'action' | 'content'>

/** One call, as its connection knows it. */
export interface McpCallScope {
  /** Aborts to close the exchanges of the call. */
  readonly closing: AbortSignal
  /** W3C trace context, which requests carry in a header. */
  readonly traceparent?: string | undefined
  /** Called when bytes arrive that may be for the call. */
  readonly onBytes: () => void
  /** Answers a question; `signal` aborts when the server no longer waits. */
  readonly ask: (form: McpForm, signal: AbortSignal) => Promise<McpFormAnswer>
  /** Called when a question was declined that may have been for the call. */
  readonly onDeclined: (form: McpForm, reason: string) => void
  /** Ends the call with an error. */
  readonly fail: (error: unknown) => void
  /** Called with the sending of the message that cancels the call. */
  readonly onCancelSent: (sending: Promise<void>) => void
}

/** The calls of one connection. */
export class OpenCalls {
  readonly #storage = new AsyncLocalStorage<McpCallScope>()
  readonly #open = new Set<McpCallScope>()
  readonly #onChange: (size: number) => void

  /** @param onChange - called with the number of calls whenever it changes */
  constructor(onChange: (size: number) => void = () => undefined) {
    this.#onChange = onChange
  }

  get size(): number {
    return this.#open.size
  }

  /** Does the work of a call, which is in flight until the work is done. */
  async run<T>(scope: McpCallScope, work: () => Promise<T>): Promise<T> {
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
  within<T>(scope: McpCallScope, work: () => T): T {
    return this.#storage.run(scope, work)
  }

  /** Does something on behalf of all calls. */
  outside<T>(work: () => T): T {
    return this.#storage.exit(work)
  }

  /** The call on whose behalf the current code runs. */
  get acting(): McpCallScope | undefined {
    return this.#storage.getStore()
  }

  /** The call that a message belongs to, when it is handled in the current context. */
  get addressed(): McpCallScope | undefined {
    const [first] = this.#open
    return this.acting ?? (this.#open.size === 1 ? first : undefined)
  }

  /** Answers a question of the server. */
  async answer(form: McpForm, signal: AbortSignal): Promise<McpFormAnswer> {
    const { addressed } = this
    if (addressed !== undefined) return addressed.ask(form, signal)
    const reason = 'several calls are under way, and it does not name its call'
    for (const scope of this.#open) scope.onDeclined(form, reason)
    return { action: 'decline' }
  }
}
