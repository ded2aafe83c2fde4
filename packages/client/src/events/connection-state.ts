/** What an event stream tells of its connection. */
import type { TuttiClientError } from '../errors.ts'

interface ConnectionProgress {
  /** Tries in a row that brought nothing, this one included; 0 while all is well. */
  readonly attempt: number
  /** Id of the last event that came: where the stream goes on. */
  readonly lastEventId?: string
}

/**
 * `open`: the server answers with events. `reconnecting`: the connection is lost, the next try follows
 * after `delayMs`. `closed`: the stream is over; with an `error` when it failed or was aborted, without
 * when the run ended or the reader left.
 */
export type ConnectionState =
  | (ConnectionProgress & { readonly status: 'open' })
  | (ConnectionProgress & {
      readonly status: 'reconnecting'
      readonly delayMs: number
      readonly error: TuttiClientError
    })
  | (ConnectionProgress & { readonly status: 'closed'; readonly error?: unknown })
