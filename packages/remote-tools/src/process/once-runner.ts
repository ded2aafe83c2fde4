/** The calls of a tool that starts its program for each. */
import { ToolResult } from '@tutti/core'

import { runOnce, type Call } from './run-once.ts'

import type { ResolvedProgramOptions } from './options.ts'

/** Runs calls, and ends those in flight when it is closed. */
export class OnceRunner {
  readonly #options: ResolvedProgramOptions
  readonly #closing = new AbortController()
  readonly #inFlight = new Set<Promise<ToolResult>>()

  constructor(options: ResolvedProgramOptions) {
    this.#options = options
  }

  async run(call: Call): Promise<ToolResult> {
    const closing = this.#closing.signal
    if (closing.aborted) return ToolResult.failure('Tool is closed')
    const running = runOnce(call, this.#options, { closing })
    this.#inFlight.add(running)
    try {
      return await running
    } finally {
      this.#inFlight.delete(running)
    }
  }

  /** Ends the calls in flight; resolves when they have ended. Never rejects. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('Tool is closed'))
    await Promise.allSettled(this.#inFlight)
  }
}
