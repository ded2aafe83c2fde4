/**
 * Builds the AsyncAPI document of the WebSockets from the protocol's messages.
 *
 * The document takes the perspective of the server, which receives the messages of clients and sends all others.
 *
 * @see https://www.asyncapi.com/docs/reference/specification/v3.0.0
 */
import { API_VERSION } from '@tutti/gateway/internal'
import { ClientMessage, LoggedRunEvent, ROUTES, ServerMessage } from '@tutti/protocol'
import { RepeatedTexts } from '@tutti/protocol/internal'
import { CLIENT_MESSAGE_TYPES, RUN_EVENT_TYPES } from '@tutti/protocol/internal'

import { SOCKET_INTRODUCTION } from './introduction.ts'
import {
  addDescriptions,
  findDescription,
  schemaComponents,
  type JsonSchema,
  type SchemaComponents,
} from './schema-components.ts'
import { KEY_SCHEME, TICKET_IN_QUERY } from './security-schemes.ts'

import type { ServerExtension } from '@tutti/gateway/internal'

type Replies = Readonly<Partial<Record<ClientMessage['type'], readonly ServerMessage['type'][]>>>

/**
 * Types of the replies to each type of client message that every server answers. Every message can be refused with `error`. The
 * reply to a submitted run also includes its `run_result`, when it ends.
 */
const REPLIES: Replies = {
  ping: ['pong', 'error'],
  run_request: ['run_ack', 'run_result', 'error'],
  run_fork: ['run_ack', 'fork_previewed', 'run_result', 'error'],
  run_replay: ['run_ack', 'run_result', 'error'],
  run_migrate: ['run_migrate_ack', 'error'],
  command: ['command_ack', 'error'],
  run_control: ['run_control_ack', 'error'],
  state_query: ['state_response', 'error'],
  subscribe: ['subscribe_ack', 'error'],
  directive: ['directive_ack', 'error'],
  review_decision: ['review_decision_ack', 'error'],
}

/** An AsyncAPI document. */
export interface AsyncApiDocument {
  readonly asyncapi: string
  readonly info: Readonly<Record<string, unknown>>
  readonly defaultContentType: string
  readonly servers: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly channels: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly operations: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly components: {
    readonly messages: Readonly<Record<string, AsyncApiMessage>>
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly securitySchemes: Readonly<Record<string, Readonly<Record<string, string>>>>
  }
}

/** A message type. */
export interface AsyncApiMessage {
  readonly name: string
  readonly title: string
  readonly summary?: string
  readonly payload: JsonSchema
}

/** Paths at which clients can open a WebSocket, by channel name. */
const CHANNELS = {
  everything: { route: ROUTES.openSocket, about: 'Every run' },
  oneRun: { route: ROUTES.openRunSocket, about: 'One run' },
} as const

/** Types of the messages that are not replies. */
const SERVER_MESSAGES: readonly string[] = [
  'hello',
  'heartbeat',
  'capacity_update',
  'profile_applied',
  ...RUN_EVENT_TYPES,
]

/** Builds the document of a server with some extensions. */
export function buildAsyncApiDocument(extensions: readonly ServerExtension[]): AsyncApiDocument {
  const replies = listReplies(extensions)
  const components = schemaComponents()
  const messages = buildMessages(components, replies)
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Tutti control API over WebSockets',
      version: API_VERSION,
      description: SOCKET_INTRODUCTION,
      license: { name: 'Apache 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    servers: { here: buildServer() },
    channels: Object.fromEntries(
      Object.entries(CHANNELS).map(([name, { route, about }]) => [
        name,
        buildChannel(
          { address: route.path, title: about },
          {
            query: addDescriptions('SocketQuery', { ...route.query }),
            names: Object.keys(messages),
          },
        ),
      ]),
    ),
    operations: buildOperations(replies),
    components: {
      messages,
      schemas: components.all(),
      securitySchemes: { key: KEY_SCHEME, ticket: TICKET_IN_QUERY },
    },
  }
}

function buildServer(): Readonly<Record<string, unknown>> {
  return {
    host: '{address}',
    protocol: 'ws',
    description: 'The server that sent this document; `wss` behind TLS',
    variables: { address: { default: '127.0.0.1:7329', description: 'Host and port' } },
    security: [
      { $ref: '#/components/securitySchemes/key' },
      { $ref: '#/components/securitySchemes/ticket' },
    ],
  }
}

/** Returns the types of the replies to each type of client message that the server answers. */
function listReplies(extensions: readonly ServerExtension[]): Replies {
  const added = extensions.flatMap(({ messages = {} }) =>
    Object.entries(messages).map(([type, { replies }]) => [type, [...replies, 'error']]),
  )
  return { ...REPLIES, ...Object.fromEntries(added) }
}

/** Returns all messages of both directions by `type`, which is unique. */
function buildMessages(
  components: SchemaComponents,
  replies: Replies,
): Readonly<Record<string, AsyncApiMessage>> {
  const sent = new Set<string>([...SERVER_MESSAGES, ...Object.values(replies).flat()])
  const answers = ServerMessage.anyOf
    .filter((member) => 'properties' in member)
    .filter(({ properties }) => sent.has(properties.type.const))
  const requests = ClientMessage.anyOf.filter(({ properties }) => properties.type.const in replies)
  const [, position] = LoggedRunEvent.allOf
  const parts = [components.refer(position), components.refer(RepeatedTexts)]
  const members = [...requests, ...answers].map((member) => ({
    type: member.properties.type.const,
    summary: findDescription(member),
    payload: components.refer(member),
  }))
  const events = LoggedRunEvent.allOf[0].anyOf.map((member) => ({
    type: member.properties.type.const,
    summary: findDescription(member),
    payload: { allOf: [components.refer(member), ...parts] },
  }))
  return Object.fromEntries(
    [...members, ...events].map(({ type, summary, payload }) => [
      type,
      { name: type, title: type, ...(summary === undefined ? {} : { summary }), payload },
    ]),
  )
}

function buildChannel(
  head: { readonly address: string; readonly title: string },
  { query, names }: { readonly query: JsonSchema; readonly names: readonly string[] },
): Readonly<Record<string, unknown>> {
  const parameters = [...head.address.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [
    name,
    { description: 'Id of the run' },
  ])
  return {
    ...head,
    ...(parameters.length === 0 ? {} : { parameters: Object.fromEntries(parameters) }),
    messages: Object.fromEntries(
      names.map((name) => [name, { $ref: `#/components/messages/${name}` }]),
    ),
    bindings: { ws: { method: 'GET', query, bindingVersion: '0.1.0' } },
  }
}

/** Returns the operations of each channel: one per type of client message, and one for all other messages. */
function buildOperations(replies: Replies): AsyncApiDocument['operations'] {
  const perChannel = Object.keys(CHANNELS).map((channel) => [
    ...CLIENT_MESSAGE_TYPES.filter((type) => type in replies).map((type) => [
      `${channel}.${type}`,
      {
        action: 'receive',
        channel: { $ref: `#/channels/${channel}` },
        messages: references(channel, [type]),
        reply: {
          channel: { $ref: `#/channels/${channel}` },
          messages: references(channel, replies[type] ?? []),
        },
      },
    ]),
    [
      `${channel}.tell`,
      {
        action: 'send',
        channel: { $ref: `#/channels/${channel}` },
        messages: references(channel, SERVER_MESSAGES),
      },
    ],
  ])
  return Object.fromEntries(perChannel.flat())
}

function references(channel: string, types: readonly string[]): readonly { $ref: string }[] {
  return types.map((type) => ({ $ref: `#/channels/${channel}/messages/${type}` }))
}
