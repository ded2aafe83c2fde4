/** Counts live readers, and how late they are given events. */

import type { Instruments } from './instruments.ts'
import type { Clock } from '@tutti/core'
import { eventTime, type LoggedRunEvent } from '@tutti/protocol'

/** How events reach readers. */
export type Transport = 'sse' | 'websocket'

/** What a reader is counted with. */
export interface LiveReaderOptions {
  readonly instruments: Instruments
  readonly clock: Pick<Clock, 'now'>
  readonly transport: Transport
}

/** One reader, from when it came. */
export interface LiveReader {
  /**
   * It was given events. Of those given together only the newest counts, and only what happened after the reader came:
   * what was before is history.
   */
  recordDelivery(events: readonly LoggedRunEvent[]): void
  /** It was dropped, as it did not read. */
  recordDrop(): void
  /** It is there no more. */
  end(): void
}

/** Counts a reader that has come. */
export function trackReader({ instruments, clock, transport }: LiveReaderOptions): LiveReader {
  const { readers, readerDrops, readerLag } = instruments
  const cameAt = clock.now()
  readers.add({ transport }, 1)
  return {
    recordDelivery(events) {
      const instant = newestInstant(events)
      if (instant === undefined || instant < cameAt) return
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

/** Events that are looked at for their instant, from the newest on: the end of a run has none, its cause before has. */
const MAX_CHECKED = 4

function newestInstant(events: readonly LoggedRunEvent[]): number | undefined {
  for (const event of events.slice(-MAX_CHECKED).toReversed()) {
    const instant = eventTime(event)
    if (instant !== undefined) return instant
  }
  return undefined
}
