/** Counts live readers and measures the delay of their events. */
import type { Instruments } from './instruments.ts'
import type { Clock } from '@tutti/core'
import type { LoggedRunEvent } from '@tutti/protocol'
import { eventTime } from '@tutti/protocol/internal'

/** Protocol over which a reader gets events. */
export type Transport = 'sse' | 'websocket'

/** Options of {@link trackReader}. */
export interface LiveReaderOptions {
  readonly instruments: Instruments
  readonly clock: Pick<Clock, 'now'>
  readonly transport: Transport
}

/** A live reader of events. */
export interface LiveReader {
  /**
   * Records the delivery of a batch of events. Only the newest one is measured, and only if it happened after the reader
   * connected.
   */
  recordDelivery(events: readonly LoggedRunEvent[]): void
  /** Records that the server dropped the reader because it did not read. */
  recordDrop(): void
  /** Removes the reader from the count of live readers. */
  end(): void
}

/** Counts a reader that has connected. */
export function trackReader({ instruments, clock, transport }: LiveReaderOptions): LiveReader {
  const { readers, readerDrops, readerLag } = instruments
  const connectedAt = clock.now()
  readers.add({ transport }, 1)
  return {
    recordDelivery(events) {
      const instant = newestInstant(events)
      if (instant === undefined || instant < connectedAt) return
      readerLag.observe({ transport }, Math.max(0, clock.now() - instant) / 1_000)
    },
    recordDrop() {
      readerDrops.add({ transport })
    },
    end() {
      readers.add({ transport }, -1)
    },
  }
}

/** Number of events to check for a timestamp, newest first. The end of a run has none, but the event before it does. */
const MAX_CHECKED = 4

function newestInstant(events: readonly LoggedRunEvent[]): number | undefined {
  for (const event of events.slice(-MAX_CHECKED).toReversed()) {
    const instant = eventTime(event)
    if (instant !== undefined) return instant
  }
  return undefined
}
