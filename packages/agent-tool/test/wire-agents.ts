/** Scripted agents for each wire, which count the cancels that they receive. */
import { createServer, type ServerResponse } from 'node:http'

import {
  localConnector,
  type AgentConnector,
  type LocalAgentRequest,
} from '@tutti/agent-call/internal'

import { peerConnector } from '../../compat-agentensemble/src/connector/index.ts'
import { rawServer, type RawConnection } from '../../compat-agentensemble/test/peer-raw.ts'
import { tasksConnector } from '../../compat-jamjet/src/connector/index.ts'

/** A running agent with its connector. */
export interface WireAgent extends AsyncDisposable {
  readonly connector: AgentConnector
  /** Resolves when the agent has received the first request. */
  readonly asked: Promise<void>
  /** Returns the number of cancels that arrived before the answer. */
  readonly cancels: () => number
}

/** Behavior of an agent on each wire; `turn` counts the requests from 0. */
export type Agent =
  | {
      readonly wire: 'local'
      readonly answer: (request: LocalAgentRequest, turn: number) => unknown
    }
  | { readonly wire: 'tasks'; readonly answer: (response: ServerResponse, turn: number) => void }
  | { readonly wire: 'task' | 'tool'; readonly answer: (asked: PeerRequest) => void }

/** A request to an agent behind a WebSocket. */
export interface PeerRequest {
  readonly connection: RawConnection
  readonly requestId: string | undefined
  /** Number of earlier requests. */
  readonly turn: number
}

/** Starts an agent on its wire. */
export function openWireAgent(agent: Agent): Promise<WireAgent> {
  if (agent.wire === 'local') return Promise.resolve(startLocalAgent(agent.answer))
  if (agent.wire === 'tasks') return startTasksAgent(agent.answer)
  return startPeerAgent(agent.wire, agent.answer)
}

function startLocalAgent(answer: Extract<Agent, { wire: 'local' }>['answer']): WireAgent {
  const asked = Promise.withResolvers<void>()
  let [turns, cancels] = [0, 0]
  const watched = async function* (request: LocalAgentRequest) {
    let isAnswering = true
    request.signal.addEventListener('abort', () => {
      if (isAnswering) cancels += 1
    })
    asked.resolve()
    turns += 1
    try {
      const answered = answer(request, turns - 1)
      if (isGenerator(answered)) return yield* answered
      return await answered
    } finally {
      isAnswering = false
    }
  }
  return {
    connector: localConnector({ answer: watched }, 'tutti://agent'),
    asked: asked.promise,
    cancels: () => cancels,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}

function isGenerator(value: unknown): value is AsyncGenerator<never, unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

async function startTasksAgent(
  answer: Extract<Agent, { wire: 'tasks' }>['answer'],
): Promise<WireAgent> {
  const asked = Promise.withResolvers<void>()
  let [turns, cancels] = [0, 0]
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      if (request.url === '/tasks/cancel') {
        cancels += 1
        response.end('{}')
        return
      }
      asked.resolve()
      turns += 1
      answer(response, turns - 1)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const connector = tasksConnector({ url: `http://127.0.0.1:${port}` })
  return {
    connector,
    asked: asked.promise,
    cancels: () => cancels,
    async [Symbol.asyncDispose]() {
      await connector.close?.()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function startPeerAgent(
  kind: 'task' | 'tool',
  answer: Extract<Agent, { wire: 'task' | 'tool' }>['answer'],
): Promise<WireAgent> {
  const asked = Promise.withResolvers<void>()
  let [turns, cancels] = [0, 0]
  const server = await rawServer((connection) => {
    let open = 0
    connection.on(`${kind}_request`, ({ requestId }) => {
      turns += 1
      open += 1
      asked.resolve()
      answer({ connection, requestId, turn: turns - 1 })
    })
    connection.on('run_control', ({ runId, action }) => {
      cancels += 1
      connection.send({ type: 'run_control_ack', runId, action, status: 'CANCELLING' })
    })
    connection.socket.on('close', () => {
      if (kind === 'tool' && open > 0) cancels += 1
    })
  })
  const connector = peerConnector({ url: `${server.url}#${kind}:agent` })
  return {
    connector,
    asked: asked.promise,
    cancels: () => cancels,
    async [Symbol.asyncDispose]() {
      await connector.close?.()
      await server[Symbol.asyncDispose]()
    },
  }
}
