/** Waits for a run to end, for callers that want its result in the response. */
import { isTerminalRunStatus, type LoggedRunEvent } from '@tutti/protocol'

import type { GatewayOptions } from '../gateway-options.ts'
import type { RunRecord } from '@tutti/runs/adapter'
import type { EventBatches } from '@tutti/runs/internal'

/** Limits of a wait. */
export interface WaitOptions {
  readonly timeoutMs: number
  /** Aborts when the caller disconnects; the run continues. */
  readonly signal?: AbortSignal
  /** Events of the run, if the caller follows it already; they are closed. @default follows the run */
  readonly events?: EventBatches | undefined
  /** Called with the events that arrive, in order. */
  readonly onEvents?: (events: readonly LoggedRunEvent[]) => void
}

/**
 * Returns whether a run ends within a time. A run that is deleted meanwhile does not.
 *
 * @throws {TuttiError} STORE_UNAVAILABLE when its events cannot be read.
 */
export async function waitForEnd(
  { runs, clock }: Pick<GatewayOptions, 'runs' | 'clock'>,
  { runId, status, lastSeq }: Pick<RunRecord, 'runId' | 'status' | 'lastSeq'>,
  { timeoutMs, signal: gone, events: followed, onEvents }: WaitOptions,
): Promise<boolean> {
  if (isTerminalRunStatus(status)) return true
  const batches = followed ?? runs.follow({ runId, from: lastSeq + 1 })
  const stopWaiting = (): void => {
    batches.return?.().catch(() => undefined)
  }
  const stopTimer = clock.after(timeoutMs, stopWaiting)
  gone?.addEventListener('abort', stopWaiting)
  try {
    // The log of a run ends with its result.
    for await (const events of batches) {
      onEvents?.(events)
      if (events.some(({ type }) => type === 'run_result')) return true
    }
    return false
  } finally {
    stopTimer()
    gone?.removeEventListener('abort', stopWaiting)
  }
}
