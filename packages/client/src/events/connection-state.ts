/** States of the connection of an event stream or a WebSocket. */
import type { TuttiClientError } from '../errors.ts'

interface ConnectionProgress {
  /** Number of consecutive attempts that received nothing, including this one; 0 while events arrive. */
  readonly attempt: number
  /** Id of the last received event, after which the stream continues. */
  readonly lastEventId?: string
}

/**
 * State of a connection. `open`: the server sends events. `reconnecting`: the connection was lost, and the next attempt
 * follows after `delayMs`. `closed`: the stream has ended, with an `error` if it failed or was aborted, without one if
 * the run ended or the reader left.
 */
export type ConnectionState =
  | (ConnectionProgress & { readonly status: 'open' })
  | (ConnectionProgress & {
      readonly status: 'reconnecting'
      readonly delayMs: number
      readonly error: TuttiClientError
    })
  | (ConnectionProgress & { readonly status: 'closed'; readonly error?: unknown })
