/** The ends of runs that were submitted over a connection, for those who wait for them. */
import { resultEvent } from '../runs/run-end.ts'

import type { LoggedRunEventOf } from '../events/run-events.ts'
import type { ResolvedClientOptions } from '../options.ts'

type RunResultEvent = LoggedRunEventOf<'run_result'>

interface Awaited {
  readonly result: Promise<RunResultEvent>
  readonly resolve: (event: RunResultEvent) => void
  readonly reject: (error: unknown) => void
  /** Whether it is read from the run's log, as its socket was lost. */
  isRead: boolean
}

/** The results that are waited for. */
export class RunResults {
  readonly #settings: ResolvedClientOptions
  readonly #life: AbortSignal
  readonly #awaited = new Map<string, Awaited>()

  /** `life` ends with the connection. */
  constructor(settings: ResolvedClientOptions, life: AbortSignal) {
    this.#settings = settings
    this.#life = life
    life.addEventListener('abort', () => {
      for (const { reject } of this.#awaited.values()) reject(life.reason)
      this.#awaited.clear()
    })
  }

  /** The end of a run that the server will tell on this connection. */
  expect(runId: string): Promise<RunResultEvent> {
    const known = this.#awaited.get(runId)
    if (known !== undefined) return known.result
    const { promise: result, resolve, reject } = withResolvers<RunResultEvent>()
    // Nobody has to wait for it.
    result.catch(() => undefined)
    if (this.#life.aborted) reject(this.#life.reason)
    else this.#awaited.set(runId, { result, resolve, reject, isRead: false })
    return result
  }

  /** A run has ended. */
  settle(event: RunResultEvent): void {
    this.#awaited.get(event.runId)?.resolve(event)
    this.#awaited.delete(event.runId)
  }

  /** There is another socket, which does not know what was submitted on the one before. */
  reconnected(): void {
    for (const [runId, awaited] of this.#awaited) {
      if (awaited.isRead) continue
      awaited.isRead = true
      resultEvent(this.#settings, runId, { signal: this.#life }).then(
        (event) => {
          this.settle(event)
        },
        (error: unknown) => {
          awaited.reject(error)
          this.#awaited.delete(runId)
        },
      )
    }
  }
}

function withResolvers<T>() {
  let resolve: (value: T) => void = () => undefined
  let reject: (error: unknown) => void = () => undefined
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue
    reject = onError
  })
  return { promise, resolve, reject }
}
