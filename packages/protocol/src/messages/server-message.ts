/** All messages that the server sends over a WebSocket. */
import Type from 'typebox'
import { LoggedRunEvent, RUN_EVENT_TYPES } from '../schemas/run-event.ts'
import { Heartbeat, Hello, Pong } from './connection-messages.ts'
import { DirectiveAck, ReviewDecisionAck, RunControlAck } from './control-messages.ts'
import {
  CapabilityResponse,
  CapacityUpdate,
  ProfileApplied,
  TaskAccepted,
  TaskProgress,
  TaskResponse,
  ToolResponse,
} from './peer-messages.ts'
import {
  CommandAck,
  ErrorMessage,
  ForkPreviewed,
  RunAck,
  RunMigrateAck,
  StateResponse,
  SubscribeAck,
} from './run-messages.ts'

import type { Static } from '../static.ts'

const replies = [
  Hello,
  Heartbeat,
  Pong,
  RunAck,
  ForkPreviewed,
  RunMigrateAck,
  CommandAck,
  RunControlAck,
  StateResponse,
  SubscribeAck,
  DirectiveAck,
  ReviewDecisionAck,
  TaskAccepted,
  TaskProgress,
  TaskResponse,
  ToolResponse,
  CapabilityResponse,
  CapacityUpdate,
  ProfileApplied,
  ErrorMessage,
] as const

/** Any message from server to client: replies, announcements, and every logged event. Narrows by `type`. */
export const ServerMessage = Type.Union([...replies, LoggedRunEvent])
export type ServerMessage = Static<typeof ServerMessage>

/** The `type` of every server message, in the order of the union. */
export const SERVER_MESSAGE_TYPES: readonly ServerMessage['type'][] = [
  ...replies.map((reply) => reply.properties.type.const),
  ...RUN_EVENT_TYPES,
]
