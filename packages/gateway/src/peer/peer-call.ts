/** A request of a peer over a WebSocket. */
import type { Caller } from '../caller.ts'
import type { GatewayOptions } from '../gateway-options.ts'
import type { ServerMessage } from '@tutti/protocol'

/** The connection of a peer. */
export interface PeerCall {
  readonly options: GatewayOptions
  readonly caller: Caller
  /** Sends a reply. */
  readonly send: (message: ServerMessage) => void
  /** Aborts when the connection is closed. */
  readonly gone: AbortSignal
}
