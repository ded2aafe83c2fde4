/**
 * Tracks the calls in flight over one connection, and finds the call that a message belongs to.
 *
 * MCP-O1 Over HTTP a call has its own exchange, whose messages belong to the call. The async context in which they are
 *    read identifies the call.
 * MCP-O2 On a channel that all calls share, a message belongs to the only call in flight. With several calls in
 *    flight, it belongs to none of them.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

import type { ElicitRequestFormParams, ElicitResult } from '@modelcontextprotocol/client'

/** A question of a server (elicitation): its text and the schema of the requested values. */
export type McpForm = Pick<ElicitRequestFormParams, 'message' | 'requestedSchema'>

/** The answer to a question of a server. */
export type McpFormAnswer = Pick<ElicitResult, 'action' | 'content'>

/** The state of one call that its connection uses. */
export interface McpCallScope {
  /** Aborts to close the exchanges of the call. */
  readonly closing: AbortSignal
  /** W3C trace context, sent in a header of each request. */
  readonly traceparent?: string | undefined
  /** Called when bytes arrive that may be for the call. */
  readonly onBytes: () => void
  /** Answers a question; `signal` aborts when the server no longer waits. */
  readonly ask: (form: McpForm, signal: AbortSignal) => Promise<McpFormAnswer>
  /** Called when a question that may belong to the call was declined. */
  readonly onDeclined: (form: McpForm, reason: string) => void
  /** Ends the call with an error. */
  readonly fail: (error: unknown) => void
  /** Called with a promise that resolves when the cancellation has been sent. */
  readonly onCancelSent: (sending: Promise<void>) => void
}

/** The calls of one connection. */
export class OpenCalls {
  readonly #storage = new AsyncLocalStorage<McpCallScope>()
  readonly #open = new Set<McpCallScope>()
  readonly #onChange: (size: number) => void

  /** @param onChange - called with the number of calls when it changes */
  constructor(onChange: (size: number) => void = () => undefined) {
    this.#onChange = onChange
  }

  get size(): number {
    return this.#open.size
  }

  /** Runs the work of a call, which is in flight until the work is done. */
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

  /** Runs `work` in the context of a call. */
  within<T>(scope: McpCallScope, work: () => T): T {
    return this.#storage.run(scope, work)
  }

  /** Runs `work` in the context of no call. */
  outside<T>(work: () => T): T {
    return this.#storage.exit(work)
  }

  /** The call that the current code belongs to. */
  get acting(): McpCallScope | undefined {
    return this.#storage.getStore()
  }

  /** The call that a message handled in the current context belongs to. */
  get addressed(): McpCallScope | undefined {
    const [first] = this.#open
    return this.acting ?? (this.#open.size === 1 ? first : undefined)
  }

  /** Answers a question of the server. */
  async answer(form: McpForm, signal: AbortSignal): Promise<McpFormAnswer> {
    const { addressed } = this
    if (addressed !== undefined) return addressed.ask(form, signal)
    const reason = 'several calls are in flight, and it does not name its call'
    for (const scope of this.#open) scope.onDeclined(form, reason)
    return { action: 'decline' }
  }
}
