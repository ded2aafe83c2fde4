/** Third-party agents for tests: servers of the A2A SDK whose executor a test provides. */
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

/** Binding and version of the protocol that an agent uses. */
export interface ProtocolVariant {
  readonly binding: 'JSONRPC' | 'HTTP+JSON'
  readonly version: '1.0' | '0.3'
}

/** All supported bindings and versions. */
export const VARIANTS: readonly ProtocolVariant[] = [
  { binding: 'JSONRPC', version: '1.0' },
  { binding: 'HTTP+JSON', version: '1.0' },
  { binding: 'JSONRPC', version: '0.3' },
  { binding: 'HTTP+JSON', version: '0.3' },
]

/** Context of an executor, with methods that publish events. */
export interface Work {
  readonly context: RequestContext
  /** The message as JSON of A2A 1.0. */
  readonly message: Readonly<Record<string, unknown>>
  /** The whole request as JSON of A2A 1.0. */
  readonly request: Readonly<Record<string, unknown>>
  readonly text: string
  /** Aborts when the task is cancelled. */
  readonly cancelled: AbortSignal
  readonly bus: ExecutionEventBus
  /** Publishes the task. Every execution that has a task does this first. */
  task(state?: string, more?: object): void
  status(state: string, text?: string, metadata?: object): void
  artifact(artifactId: string, parts: readonly object[], more?: object): void
  /** Answers without a task. */
  reply(parts: readonly object[], metadata?: object): void
}

/** A running agent of the SDK. */
export interface SdkAgent {
  readonly url: string
  /** Requests so far, such as `POST /rpc SendMessage`. */
  readonly requests: readonly string[]
  readonly headers: readonly IncomingHttpHeaders[]
  /** Ids of the tasks that were cancelled. */
  readonly cancelled: readonly string[]
  /** Resolves when a request has arrived whose name contains `name`, ignoring case. */
  requested(name: string): Promise<void>
}

/** Differences from an agent that streams over JSON-RPC 1.0. */
export interface SdkAgentOptions {
  readonly variant?: ProtocolVariant
  readonly streaming?: boolean
  readonly extensions?: readonly string[]
  readonly inputModes?: readonly string[]
  /** Express middleware that runs before the handlers of the agent. */
  readonly before?: express.RequestHandler
  readonly card?: Partial<AgentCard>
}

/** Starts an agent that stops with the test. */
export async function sdkAgent(
  execute: (work: Work) => void | Promise<void>,
  options: SdkAgentOptions = {},
): Promise<SdkAgent> {
  const { variant = { binding: 'JSONRPC', version: '1.0' } } = options
  const requests: string[] = []
  const headers: IncomingHttpHeaders[] = []
  const cancelled: string[] = []
  const waiting = new Set<() => void>()
  const app = express()
  app.use(express.json())
  app.use((request, _response, next) => {
    requests.push(`${request.method} ${request.path} ${request.body?.method ?? ''}`.trim())
    headers.push(request.headers)
    for (const check of waiting) check()
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
  // NOTE: the address of a server that listens on a port has this type.
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const handler = createHandler(execute, { card: createCard(url, variant, options), cancelled })
  const common = {
    requestHandler: handler,
    userBuilder: UserBuilder.noAuthentication,
    legacyCompat: { enabled: variant.version === '0.3' },
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
        const check = (): void => {
          if (requests.some((one) => one.toLowerCase().includes(name.toLowerCase()))) resolve()
        }
        waiting.add(check)
        check()
      }),
  }
}

function createCard(
  url: string,
  { binding, version }: ProtocolVariant,
  options: SdkAgentOptions,
): AgentCard {
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

function createHandler(
  execute: (work: Work) => void | Promise<void>,
  { card, cancelled }: { readonly card: AgentCard; readonly cancelled: string[] },
): DefaultRequestHandler {
  const running = new Map<string, AbortController>()
  return new DefaultRequestHandler(card, new InMemoryTaskStore(), {
    async execute(context, bus) {
      const controller = new AbortController()
      running.set(context.taskId, controller)
      await execute(createWork(context, bus, controller.signal))
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

function createWork(context: RequestContext, bus: ExecutionEventBus, cancelled: AbortSignal): Work {
  const { taskId, contextId, userMessage, request } = context
  const place = { taskId, contextId }
  const createMessage = (text: string, metadata?: object): object => ({
    ...place,
    messageId: crypto.randomUUID(),
    role: 'ROLE_AGENT',
    parts: [{ text }],
    metadata,
  })
  // NOTE: the codecs return JSON objects.
  const toJson = (value: unknown) => value as Readonly<Record<string, unknown>>
  return {
    context,
    bus,
    cancelled,
    message: toJson(Message.toJSON(userMessage)),
    request: toJson(SendMessageRequest.toJSON(request)),
    text: userMessage.parts
      .map(({ content }) => (content?.$case === 'text' ? content.value : ''))
      .join(''),
    task(state = 'TASK_STATE_SUBMITTED', more = {}) {
      const before = context.task === undefined ? {} : toJson(Task.toJSON(context.task))
      const task = { ...before, id: taskId, contextId, status: { state }, ...more }
      bus.publish(AgentEvent.task(Task.fromJSON(task)))
    },
    status(state, text, metadata) {
      const message = text === undefined ? undefined : createMessage(text)
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
