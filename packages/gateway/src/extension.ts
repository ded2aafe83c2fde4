/**
 * Port of packages that add a protocol to a server: HTTP routes, WebSocket messages, and a dialect of its events.
 *
 * GW-EX1 A server without extensions serves only its own routes and messages. A message that only an extension answers is
 *    refused with NOT_CONFIGURED.
 */
import type { AddSubject } from './http/audited.ts'
import type { WireError } from './http/api-error.ts'
import type { HttpRoute } from './http/route.ts'
import type { Caller } from './caller.ts'
import type { GatewayOptions } from './gateway-options.ts'
import type {
  ClientMessage,
  LoggedRunEvent,
  RouteName,
  Scope,
  ServerMessage,
} from '@tutti/protocol'

/** Types of messages that the protocol defines and only extensions answer. */
export type ExtensionMessageType = 'task_request' | 'tool_request' | 'capability_query'

/** Client message of one type. */
export type MessageOf<Type extends ClientMessage['type']> = Extract<ClientMessage, { type: Type }>

/** Adds a protocol to a server. Every member is optional. */
export interface ServerExtension {
  /** Returns routes that are served in addition to those of the server. They never shadow one of them. */
  readonly routes?: (options: GatewayOptions) => readonly HttpRoute[]
  /** Routes that the OpenAPI document describes, below a topic of that document. */
  readonly documented?: readonly DocumentedRoutes[]
  /** Handlers of WebSocket messages. */
  readonly messages?: ExtensionMessages
  /** Creates the dialect of one WebSocket. Only one extension of a server can have a dialect. */
  readonly dialect?: (options: GatewayOptions, runId: string | undefined) => ConnectionDialect
}

/** Routes of the protocol that an extension serves. */
export interface DocumentedRoutes {
  /** Topic, such as `Runs`. */
  readonly area: string
  readonly routes: readonly RouteName[]
}

/** Handlers by message type. */
export type ExtensionMessages = {
  readonly [T in ExtensionMessageType]?: ExtensionMessage<T>
}

/** Handler of one type of WebSocket messages. */
export interface ExtensionMessage<T extends ClientMessage['type']> {
  /** Scope that the sender must have. */
  readonly scope: Scope
  /** Field that names the target in the audit trail. @default none */
  readonly target?: string
  /** Types of the replies, for the AsyncAPI document. Every message can also be refused with `error`. */
  readonly replies: readonly ServerMessage['type'][]
  /** Replies to a message. Rejects to refuse it; no reply was sent then. */
  readonly answer: (
    message: MessageOf<T>,
    connection: ExtensionConnection,
    addSubject: AddSubject,
  ) => Promise<void> | void
  /** Returns the reply to a refused message. @default an `error` */
  readonly toRefusal?: (error: WireError, message: MessageOf<T>) => ServerMessage
}

/** WebSocket on which a message arrived. */
export interface ExtensionConnection {
  readonly options: GatewayOptions
  readonly caller: Caller
  readonly send: (message: ServerMessage) => void
  /** Aborts when the connection is closed. */
  readonly gone: AbortSignal
}

/** First message of a WebSocket, and additions to the events that follow. */
export interface ConnectionDialect {
  /** Reads the first message and the events that follow it. */
  greet(signal: AbortSignal): Promise<Greeting>
  /** Returns the event to send after another one, at the same position of the log; undefined for most events. */
  followUp(event: LoggedRunEvent): LoggedRunEvent | undefined
  /** Returns the event to send again after a message was refused; undefined for most messages. */
  afterRefusal(message: ClientMessage): Promise<LoggedRunEvent | undefined>
}

/** The first message and the events that follow it. */
export interface Greeting {
  /** JSON in UTF-8. */
  readonly hello: Uint8Array
  /** Returns the events to send next, given those that were written while the greeting was read. */
  continueWith(early: readonly LoggedRunEvent[]): {
    /** Requests of open reviews, which may still be announced as new. */
    readonly reviews: readonly LoggedRunEvent[]
    /** Events that the first message does not include. */
    readonly fresh: readonly LoggedRunEvent[]
  }
}
