/** A JSON-RPC agent that sends scripted answers, valid or invalid. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'

import type { AddressInfo } from 'node:net'

/** One request, with methods to answer it. */
export interface RawExchange {
  /** JSON-RPC method, `card`, or HTTP method and path. */
  readonly name: string
  /** Number of earlier requests with this name. */
  readonly index: number
  readonly params: Readonly<Record<string, unknown>>
  readonly headers: IncomingHttpHeaders
  readonly response: ServerResponse
  /** Answers with JSON. */
  json(body: unknown, status?: number, headers?: Readonly<Record<string, string>>): void
  /** Answers with a JSON-RPC result. */
  result(result: unknown): void
  /** Answers with a JSON-RPC error. */
  error(code: number, message: string, status?: number): void
  /** Sends one object of a stream. */
  event(result: unknown): void
  /** Sends bytes of a stream. */
  bytes(text: string): void
  /** Resets the connection after the written bytes are sent. */
  reset(): void
}

export interface RawAgent {
  readonly url: string
  /** Names of the requests so far, except card requests. */
  readonly names: readonly string[]
  readonly exchanges: readonly RawExchange[]
  /** Resolves with the request of this name and index when it arrives. */
  requested(name: string, index?: number): Promise<RawExchange>
}

/** Differences from a default streaming agent. */
export interface RawAgentOptions {
  readonly streaming?: boolean
  readonly card?: (exchange: RawExchange, url: string) => void
  readonly extensions?: readonly string[]
  readonly inputModes?: readonly string[]
}

/** Creates the card of a JSON-RPC agent at `/rpc`. */
export function cardAt(
  url: string,
  { streaming = true, extensions = [], inputModes = [] }: RawAgentOptions = {},
) {
  return {
    name: 'Raw',
    supportedInterfaces: [
      { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ],
    capabilities: { streaming, extensions: extensions.map((uri) => ({ uri })) },
    defaultInputModes: inputModes,
  }
}

/** Starts an agent that stops with the test. */
export async function rawAgent(
  answer: (exchange: RawExchange) => void,
  options: RawAgentOptions = {},
): Promise<RawAgent> {
  const exchanges: RawExchange[] = []
  const waiting = new Set<() => void>()
  let url = ''
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const body = readJson(Buffer.concat(pieces).toString())
      const isCard = request.url?.split('?')[0]?.endsWith('.json') === true
      const place = `${request.method} ${request.url}`
      const { method } = body
      const name = isCard ? 'card' : typeof method === 'string' ? method : place
      const index = exchanges.filter((one) => one.name === name).length
      const exchange = createExchange(response, { name, index, body, headers: request.headers })
      exchanges.push(exchange)
      for (const check of waiting) check()
      if (!isCard) answer(exchange)
      else if (options.card === undefined) exchange.json(cardAt(url, options))
      else options.card(exchange, url)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  // NOTE: the address of a server that listens on a port has this type.
  const { port } = server.address() as AddressInfo
  url = `http://127.0.0.1:${port}`
  return {
    url,
    exchanges,
    get names() {
      return exchanges.flatMap(({ name }) => (name === 'card' ? [] : [name]))
    },
    requested: (name, index = 0) =>
      new Promise((resolve) => {
        const check = (): void => {
          const found = exchanges.find((one) => one.name === name && one.index === index)
          if (found !== undefined) resolve(found)
        }
        waiting.add(check)
        check()
      }),
  }
}

function createExchange(
  response: ServerResponse,
  request: Pick<RawExchange, 'name' | 'index' | 'headers'> & {
    readonly body: Readonly<Record<string, unknown>>
  },
): RawExchange {
  const { body, ...shown } = request
  const { id = null } = body
  const begin = (): void => {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' })
  }
  const json: RawExchange['json'] = (value, status = 200, headers = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(value))
  }
  return {
    ...shown,
    response,
    // NOTE: tests read `params` only where it is an object.
    params: (body['params'] ?? {}) as RawExchange['params'],
    json,
    result: (result) => {
      json({ jsonrpc: '2.0', id, result })
    },
    error: (code, message, status) => {
      json({ jsonrpc: '2.0', id, error: { code, message } }, status)
    },
    event(result) {
      begin()
      response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`)
    },
    bytes(text) {
      begin()
      response.write(text)
    },
    reset() {
      response.write('', () => {
        response.socket?.resetAndDestroy()
      })
    },
  }
}

function readJson(text: string): Readonly<Record<string, unknown>> {
  return text === '' ? {} : JSON.parse(text)
}

/** Creates a task snapshot. */
export function task(state: string, more: object = {}): object {
  return {
    task: {
      id: 'task-1',
      contextId: 'context-1',
      status: { state: `TASK_STATE_${state}` },
      ...more,
    },
  }
}

/** Creates a status update of the task. */
export function status(state: string, more: object = {}): object {
  return {
    statusUpdate: {
      taskId: 'task-1',
      contextId: 'context-1',
      status: { state: `TASK_STATE_${state}` },
      ...more,
    },
  }
}

/** Creates an artifact update with text. */
export function artifact(text: string, more: object = {}): object {
  return {
    artifactUpdate: {
      taskId: 'task-1',
      contextId: 'context-1',
      artifact: { artifactId: 'a', parts: [{ text }] },
      ...more,
    },
  }
}
