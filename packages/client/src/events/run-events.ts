/** The events of a run as something to loop over. */
import { routePath, type LoggedRunEvent, type RunEvent } from '@tutti/protocol'

import { followRun, type FollowRequest } from './follow-run.ts'

import type { CallOptions } from '../http/exchange.ts'
import type { ResolvedClientOptions } from '../options.ts'
import type { ConnectionState } from './connection-state.ts'

/** The event with this `type` and its place in the log. */
export type LoggedRunEventOf<T extends RunEvent['type']> = Extract<LoggedRunEvent, { type: T }>

/** Settings of a stream that waits for a run. */
export interface FollowOptions extends Pick<CallOptions, 'signal'> {
  /** Time for all of it, in milliseconds; it fails with TIMED_OUT then. @default no limit */
  readonly timeoutMs?: number | undefined
  /**
   * Told when the connection opens, is lost, and is closed for good. What it throws ends the stream
   * like an error of its own.
   */
  readonly onConnection?: ((state: ConnectionState) => void) | undefined
}

/** Settings of an event stream. */
export interface RunEventsOptions<
  T extends RunEvent['type'] = RunEvent['type'],
> extends FollowOptions {
  /** First `seq` to get; negative counts from the end, so that -1 is the last event. @default 0 */
  readonly from?: number | undefined
  /** Types to get. @default all */
  readonly events?: readonly T[] | undefined
}

/**
 * The events of a run; each loop over it is a stream of its own, which connects when its first event is
 * asked for.
 *
 * @throws {RangeError} when `from` is no whole number, or `timeoutMs` no number above 0.
 * @throws {TypeError} when `events` or `runId` is empty.
 */
export function runEvents<T extends RunEvent['type']>(
  settings: ResolvedClientOptions,
  runId: string,
  { from, events, signal, timeoutMs, onConnection }: RunEventsOptions<T>,
): AsyncIterable<LoggedRunEventOf<T>> {
  if (from !== undefined && !Number.isSafeInteger(from)) {
    throw new RangeError(`Cannot follow run "${runId}": from must be a whole number, got ${from}`)
  }
  if (events?.length === 0) {
    throw new TypeError(`Cannot follow run "${runId}": events must name a type, or be left out`)
  }
  if (timeoutMs !== undefined && !(timeoutMs > 0)) {
    throw new RangeError(
      `Cannot follow run "${runId}": timeoutMs must be a number above 0, got ${timeoutMs}`,
    )
  }
  const request: FollowRequest<LoggedRunEventOf<T>> = {
    runId,
    path: routePath('streamRunEvents', { runId }),
    from,
    // The terminal event tells that nothing more will come; without it a stream would wait for ever.
    types: events && [...new Set<string>([...events, 'run_result'])],
    isWanted: (event): event is LoggedRunEventOf<T> =>
      events === undefined || events.some((type) => type === event.type),
    signal,
    timeoutMs: timeoutMs ?? Infinity,
    onConnection,
  }
  return { [Symbol.asyncIterator]: () => iterate(settings, request) }
}

/** A generator's `return` waits for the event that is being waited for; this one ends the wait. */
function iterate<Wanted extends LoggedRunEvent>(
  settings: ResolvedClientOptions,
  request: FollowRequest<Wanted>,
): AsyncIterator<Wanted, void> {
  const leaving = new AbortController()
  const events = followRun(settings, request, leaving.signal)
  return {
    next: () => events.next(),
    return() {
      leaving.abort()
      return events.return()
    },
  }
}
