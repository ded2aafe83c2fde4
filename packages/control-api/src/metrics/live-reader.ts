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
  given(events: readonly LoggedRunEvent[]): void
  /** It was dropped, as it did not read. */
  dropped(): void
  /** It is there no more. */
  gone(): void
}

/** Counts a reader that has come. */
export function liveReader({ instruments, clock, transport }: LiveReaderOptions): LiveReader {
  const { readers, readerDrops, readerLag } = instruments
  const cameAt = clock.now()
  readers.add({ transport }, 1)
  return {
    given(events) {
      const instant = newestInstant(events)
      if (instant === undefined || instant < cameAt) return
      readerLag.observe({ transport }, Math.max(0, clock.now() - instant) / 1_000)
    },
    dropped() {
      readerDrops.add({ transport })
    },
    gone() {
      readers.add({ transport }, -1)
    },
  }
}

/** Events that are looked at for their instant, from the newest on: the end of a run has none, its cause before has. */
const LOOKED_AT = 4

function newestInstant(events: readonly LoggedRunEvent[]): number | undefined {
  for (const event of events.slice(-LOOKED_AT).toReversed()) {
    const instant = eventTime(event)
    if (instant !== undefined) return instant
  }
  return undefined
}
