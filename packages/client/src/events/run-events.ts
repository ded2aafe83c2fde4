/** The events of a run as an async iterable. */
import { routePath, type LoggedRunEvent, type RunEvent } from '@tutti/protocol'
import { findExcessProblems } from '@tutti/protocol/internal'

import { followRun, type FollowRequest, type StreamedSubmission } from './follow-run.ts'
import { isLogPosition, WANTED_POSITION } from './log-position.ts'

import type { CallOptions } from '../http/exchange.ts'
import type { ResolvedClientOptions } from '../options.ts'
import type { ConnectionState } from './connection-state.ts'

/** The event with this `type`, with its position in the log. */
export type LoggedRunEventOf<T extends RunEvent['type']> = Extract<LoggedRunEvent, { type: T }>

/** Options of calls that follow a run. */
export interface FollowOptions extends Pick<CallOptions, 'signal'> {
  /** Time limit of the whole stream, in milliseconds; fails with TIMED_OUT. @default no limit */
  readonly timeoutMs?: number | undefined
  /**
   * Called when the connection opens, is lost, and is closed finally. An exception that it throws ends the stream with
   * that error.
   */
  readonly onConnection?: ((state: ConnectionState) => void) | undefined
}

export interface RunEventsOptions<
  T extends RunEvent['type'] = RunEvent['type'],
> extends FollowOptions {
  /** First `seq` to yield; a negative one counts from the end, so -1 is the last event. @default 0 */
  readonly from?: number | undefined
  /** Types to yield. @default all */
  readonly events?: readonly T[] | undefined
}

/**
 * Returns the events of a run. Each loop over them is a separate stream, which connects when its first event is
 * requested.
 *
 * @throws {RangeError} when `from` is not an integer, or `timeoutMs` is not above 0.
 * @throws {TypeError} when `events` or `runId` is empty.
 */
export function runEvents<T extends RunEvent['type']>(
  settings: ResolvedClientOptions,
  runId: string,
  options: RunEventsOptions<T>,
): AsyncIterable<LoggedRunEventOf<T>> {
  const { from, events } = options
  if (from !== undefined && !isLogPosition(from)) {
    throw new RangeError(`Cannot follow run "${runId}": ${WANTED_POSITION}, got ${from}`)
  }
  if (events?.length === 0) {
    throw new TypeError(`Cannot follow run "${runId}": events must contain at least one type`)
  }
  assertTimeout(`run "${runId}"`, options)
  const path = routePath('streamRunEvents', { runId })
  const request = buildFollowRequest({ runId, path }, options)
  return { [Symbol.asyncIterator]: () => iterate(settings, request) }
}

/**
 * Submits a run and returns its events from the same request. The run is submitted when the first event is requested.
 *
 * @throws {RangeError} when `timeoutMs` is not above 0.
 */
export function submittedRunEvents<T extends RunEvent['type']>(
  settings: ResolvedClientOptions,
  submission: StreamedSubmission,
  options: Omit<RunEventsOptions<T>, 'from'>,
): AsyncIterable<LoggedRunEventOf<T>> {
  assertTimeout('the submitted run', options)
  const request = buildFollowRequest(submission, options)
  return { [Symbol.asyncIterator]: () => iterate(settings, request) }
}

function assertTimeout(what: string, { timeoutMs }: FollowOptions): void {
  const [excess] = findExcessProblems({ timeoutMs })
  if (excess !== undefined) throw new RangeError(`Cannot follow ${what}: ${excess}`)
  if (timeoutMs === undefined || timeoutMs > 0) return
  throw new RangeError(`Cannot follow ${what}: timeoutMs must be above 0, got ${timeoutMs}`)
}

function buildFollowRequest<T extends RunEvent['type']>(
  target: FollowRequest<LoggedRunEvent>['target'],
  { from, events, signal, timeoutMs, onConnection }: RunEventsOptions<T>,
): FollowRequest<LoggedRunEventOf<T>> {
  return {
    target,
    from,
    // The terminal event marks the end; without it a stream would wait without end.
    types: events && [...new Set<string>([...events, 'run_result'])],
    isWanted: (event): event is LoggedRunEventOf<T> =>
      events === undefined || events.some((type) => type === event.type),
    signal,
    timeoutMs: timeoutMs ?? Infinity,
    onConnection,
  }
}

/** Returns an iterator whose `return` ends a pending wait; that of a generator would wait for the next event. */
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
