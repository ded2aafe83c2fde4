/**
 * Reads the events that a run has when its page opens, over one HTTP response: a socket has a message for each event,
 * which takes a browser ten times as long. Events that follow arrive over a socket, because browsers open only six HTTP
 * connections per server.
 */
import { appendEvents, createRunLog, type FollowedLog } from './run-log.ts'

import type { ConnectionState, TuttiClient } from '@tutti/client'
import type { LoggedRunEvent } from '@tutti/protocol'

/** Minimum number of events that are added to the log together, while the next ones arrive. */
const PIECE = 256

/** Minimum part of a long log that is added together. Each addition reads all tasks, so many small ones would be slow. */
const SHARE = 0.25

/**
 * Time after which an incomplete log is shown, in milliseconds. Most runs are complete sooner and are rendered once.
 */
const MAX_UNSEEN_MS = 1_000

/** Options of {@link readStoredEvents}. */
export interface StoredEventsOptions {
  readonly signal: AbortSignal
  readonly onConnection: (state: ConnectionState) => void
  /** Called with an incomplete log every `MAX_UNSEEN_MS`. */
  readonly onProgress: (log: FollowedLog) => void
}

/**
 * Returns the log of a run up to its end, or to its newest event when the page opened.
 *
 * @throws {TuttiClientError} when the run does not exist, and when `signal` aborts.
 */
export async function readStoredEvents(
  client: TuttiClient,
  runId: string,
  { signal, onConnection, onProgress }: StoredEventsOptions,
): Promise<FollowedLog> {
  const events = client.runs.events(runId, { signal, onConnection })[Symbol.asyncIterator]()
  let readSeq = -1
  let lastSeq = Infinity
  const findLastSeq = async (): Promise<void> => {
    for await (const newest of client.runs.events(runId, { from: -1, signal })) {
      lastSeq = newest.seq
      break
    }
    // The loop below would wait for the next event of an active run.
    if (readSeq >= lastSeq) await events.return?.()
  }
  // The stream below fails for the same reasons and reports them.
  findLastSeq().catch(() => undefined)
  let log = createRunLog()
  let piece: LoggedRunEvent[] = []
  let shownAt = performance.now()
  for await (const event of { [Symbol.asyncIterator]: () => events }) {
    piece.push(event)
    readSeq = event.seq
    if (readSeq >= lastSeq) break
    if (piece.length < Math.max(PIECE, SHARE * log.events.length)) continue
    log = appendEvents(log, piece)
    piece = []
    if (performance.now() - shownAt < MAX_UNSEEN_MS) continue
    onProgress(log)
    shownAt = performance.now()
  }
  return appendEvents(log, piece)
}
