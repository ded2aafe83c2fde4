/** Reads the events of a run on behalf of a request. */
import type { LoggedRunEvent } from '@tutti/protocol'
import type { EventBatches } from '@tutti/runs/internal'

/** Reads events until `take` returns true for one, the run has ended, or the signal aborts. */
export async function readEventsUntil(
  batches: EventBatches,
  signal: AbortSignal,
  take: (event: LoggedRunEvent) => boolean,
): Promise<void> {
  const stop = (): void => {
    batches.return?.().catch(() => undefined)
  }
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  try {
    for await (const events of batches) {
      if (events.some(take)) break
    }
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
