/** A clock that moves only when it is told to. */
import type { Clock } from '@tutti/core'
/** A clock for tests. */
export interface FakeClock extends Clock {
  /**
   * Moves time on by `ms` and calls what is due, in order; promises that this settles have run when
   * it resolves.
   */
  advance(ms: number): Promise<void>
  /** Timers that are waiting. */
  readonly pending: number
}
/** Makes a clock that stands at `startMs`, milliseconds since 1970. */
export declare function fakeClock(startMs?: number): FakeClock
