/** Agents that others could have made: real servers of the SDK, with an executor that a test writes. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import {
  Artifact,
  Message,
  Part,
  SendMessageRequest,
  Task,
  TaskStatus,
  type AgentCard,
} from '@a2a-js/sdk'
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  type ExecutionEventBus,
  type RequestContext,
} from '@a2a-js/sdk/server'
import {
  agentCardHandler,
  jsonRpcHandler,
  restHandler,
  UserBuilder,
} from '@a2a-js/sdk/server/express'
import express from 'express'
import { onTestFinished } from 'vitest'

import type { AddressInfo } from 'node:net'

/** A way in which an agent is spoken to. */
export interface AgentWay {
  readonly binding: 'JSONRPC' | 'HTTP+JSON'
  readonly version: '1.0' | '0.3'
}

/** All of them. */
export const WAYS: readonly AgentWay[] = [
  { binding: 'JSONRPC', version: '1.0' },
  { binding: 'HTTP+JSON', version: '1.0' },
  { binding: 'JSONRPC', version: '0.3' },
  { binding: 'HTTP+JSON', version: '0.3' },
]

/** What an executor works with. */
export interface Work {
  readonly context: RequestContext
  /** The message, as the JSON of 1.0. */
  readonly message: Readonly<Record<string, unknown>>
  /** What was sent with the message, as the JSON of 1.0. */
  readonly request: Readonly<Record<string, unknown>>
  readonly text: string
  /** Aborts when the task is cancelled. */
  readonly cancelled: AbortSignal
  readonly bus: ExecutionEventBus
  /** Tells of the task: the first that every execution does. */
  task(state?: string, more?: object): void
  status(state: string, text?: string, metadata?: object): void
  artifact(artifactId: string, parts: readonly object[], more?: object): void
  /** Answers without a task. */
  reply(parts: readonly object[], metadata?: object): void
}

/** An agent of the SDK. */
export interface SdkAgent {
  readonly url: string
  /** Requests so far, such as `POST /rpc SendMessage`. */
  readonly requests: readonly string[]
  readonly headers: readonly IncomingHttpHeaders[]
  /** Ids of the tasks that were cancelled. */
  readonly cancelled: readonly string[]
  /** Resolves when a request has come that has this in its name, in whatever case. */
  requested(name: string): Promise<void>
}

/** How an agent differs from one that streams over JSON-RPC of 1.0. */
export interface SdkAgentOptions {
  readonly way?: AgentWay
  readonly streaming?: boolean
  readonly extensions?: readonly string[]
  readonly inputModes?: readonly string[]
  /** Sees each request first; true when it has answered. */
  readonly before?: express.RequestHandler
  readonly card?: Partial<AgentCard>
}

/** Starts an agent that ends with its test. */
export async function sdkAgent(
  execute: (work: Work) => void | Promise<void>,
  options: SdkAgentOptions = {},
): Promise<SdkAgent> {
  const { way = { binding: 'JSONRPC', version: '1.0' } } = options
  const requests: string[] = []
  const headers: IncomingHttpHeaders[] = []
  const cancelled: string[] = []
  const waiting = new Set<() => void>()
  const app = express()
  app.use(express.json())
  app.use((request, _response, next) => {
    requests.push(`${request.method} ${request.path} ${request.body?.method ?? ''}`.trim())
    headers.push(request.headers)
    for (const look of waiting) look()
    next()
  })
  if (options.before !== undefined) app.use(options.before)
  const server = createServer(app)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  // NOTE: a server that listens on a port has an address of this kind.
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const handler = handlerOf(execute, { card: cardOf(url, way, options), cancelled })
  const common = {
    requestHandler: handler,
    userBuilder: UserBuilder.noAuthentication,
    legacyCompat: { enabled: way.version === '0.3' },
  }
  app.use(
    '/.well-known/agent-card.json',
    agentCardHandler({ agentCardProvider: handler, legacyCompat: common.legacyCompat }),
  )
  app.use('/rpc', jsonRpcHandler(common))
  app.use('/rest', restHandler(common))
  return {
    url,
    requests,
    headers,
    cancelled,
    requested: (name) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (requests.some((one) => one.toLowerCase().includes(name.toLowerCase()))) resolve()
        }
        waiting.add(look)
        look()
      }),
  }
}

function cardOf(url: string, { binding, version }: AgentWay, options: SdkAgentOptions): AgentCard {
  const { streaming = true, extensions = [], inputModes = ['text/plain'] } = options
  return {
    name: 'Foreign',
    description: 'An agent for tests',
    version: '1.0.0',
    provider: undefined,
    supportedInterfaces: [
      {
        url: `${url}${binding === 'JSONRPC' ? '/rpc' : '/rest'}`,
        protocolBinding: binding,
        protocolVersion: version,
        tenant: '',
      },
    ],
    capabilities: {
      streaming,
      pushNotifications: false,
      extensions: extensions.map((uri) => ({
        uri,
        description: '',
        required: false,
        params: undefined,
      })),
    },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: [...inputModes],
    defaultOutputModes: ['text/plain'],
    skills: [],
    signatures: [],
    ...options.card,
  }
}

function handlerOf(
  execute: (work: Work) => void | Promise<void>,
  { card, cancelled }: { readonly card: AgentCard; readonly cancelled: string[] },
): DefaultRequestHandler {
  const running = new Map<string, AbortController>()
  return new DefaultRequestHandler(card, new InMemoryTaskStore(), {
    async execute(context, bus) {
      const controller = new AbortController()
      running.set(context.taskId, controller)
      await execute(workOf(context, bus, controller.signal))
    },
    async cancelTask(taskId, bus) {
      cancelled.push(taskId)
      running.get(taskId)?.abort()
      const status = TaskStatus.fromJSON({ state: 'TASK_STATE_CANCELED' })
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId: '', status, metadata: undefined }))
      bus.finished()
    },
  })
}

function workOf(context: RequestContext, bus: ExecutionEventBus, cancelled: AbortSignal): Work {
  const { taskId, contextId, userMessage, request } = context
  const place = { taskId, contextId }
  const messageOf = (text: string, metadata?: object): object => ({
    ...place,
    messageId: crypto.randomUUID(),
    role: 'ROLE_AGENT',
    parts: [{ text }],
    metadata,
  })
  // NOTE: the codecs write JSON objects.
  const jsonOf = (value: unknown) => value as Readonly<Record<string, unknown>>
  return {
    context,
    bus,
    cancelled,
    message: jsonOf(Message.toJSON(userMessage)),
    request: jsonOf(SendMessageRequest.toJSON(request)),
    text: userMessage.parts
      .map(({ content }) => (content?.$case === 'text' ? content.value : ''))
      .join(''),
    task(state = 'TASK_STATE_SUBMITTED', more = {}) {
      const before = context.task === undefined ? {} : jsonOf(Task.toJSON(context.task))
      const task = { ...before, id: taskId, contextId, status: { state }, ...more }
      bus.publish(AgentEvent.task(Task.fromJSON(task)))
    },
    status(state, text, metadata) {
      const message = text === undefined ? undefined : messageOf(text)
      bus.publish(
        AgentEvent.statusUpdate({
          ...place,
          status: TaskStatus.fromJSON({ state, message }),
          metadata: metadata === undefined ? undefined : { ...metadata },
        }),
      )
    },
    artifact(artifactId, parts, more = {}) {
      bus.publish(
        AgentEvent.artifactUpdate({
          ...place,
          artifact: Artifact.fromJSON({
            artifactId,
            parts: parts.map((part) => Part.toJSON(Part.fromJSON(part))),
          }),
          append: false,
          lastChunk: false,
          metadata: undefined,
          ...more,
        }),
      )
    },
    reply(parts, metadata) {
      const message = {
        messageId: crypto.randomUUID(),
        contextId,
        role: 'ROLE_AGENT',
        parts,
        metadata,
      }
      bus.publish(AgentEvent.message(Message.fromJSON(message)))
    },
  }
}
