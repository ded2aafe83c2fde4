/** A received message, and the connection that it came from. */
import type { Caller, MessageOf } from '@tutti/gateway/internal'
import type { ServerMessage } from '@tutti/protocol'
import type { ResolvedControlApiOptions } from '../options.ts'

/** Connection that sent a message. */
export interface MessageContext {
  readonly options: ResolvedControlApiOptions
  readonly caller: Caller
  /** Run of the connection; undefined for all runs. */
  readonly runId: string | undefined
  /** Sends a reply: an object, or JSON in UTF-8. */
  readonly send: (message: ServerMessage | Uint8Array) => void
  /** Changes the subscription of the connection. */
  readonly subscribe: (message: MessageOf<'subscribe'>) => Promise<void>
  /**
   * Sends the result of a run to the connection regardless of its subscription. The returned function undoes that; it
   * returns whether the result had not been sent yet.
   */
  readonly own: (runId: string) => () => boolean
  /** Aborts when the connection has closed. */
  readonly gone: AbortSignal
}
