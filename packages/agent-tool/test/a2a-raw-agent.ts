/** An agent over JSON-RPC that says whatever it is told, right or wrong. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'

import type { AddressInfo } from 'node:net'

/** One request, and what can be done with it. */
export interface RawExchange {
  /** The method of JSON-RPC, or `card`, or the method of HTTP with the path. */
  readonly name: string
  /** How many requests of this name there were before. */
  readonly index: number
  readonly params: Readonly<Record<string, unknown>>
  readonly headers: IncomingHttpHeaders
  readonly response: ServerResponse
  /** Answers with JSON. */
  json(body: unknown, status?: number, headers?: Readonly<Record<string, string>>): void
  /** Answers with a result of JSON-RPC. */
  result(result: unknown): void
  /** Answers with an error of JSON-RPC. */
  error(code: number, message: string, status?: number): void
  /** Sends one object of a stream. */
  event(result: unknown): void
  /** Sends bytes of a stream. */
  bytes(text: string): void
  /** Breaks the connection off, when what was written has been sent. */
  reset(): void
}

/** The agent. */
export interface RawAgent {
  readonly url: string
  /** Names of the requests so far, without those for the card. */
  readonly names: readonly string[]
  readonly exchanges: readonly RawExchange[]
  /** The request of this name and number, when it is there. */
  requested(name: string, index?: number): Promise<RawExchange>
}

/** What is different from an agent that streams. */
export interface RawAgentOptions {
  readonly streaming?: boolean
  readonly card?: (exchange: RawExchange, url: string) => void
  readonly extensions?: readonly string[]
  readonly inputModes?: readonly string[]
}

/** A card of an agent over JSON-RPC at `/rpc`. */
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

/** Starts an agent that ends with its test. */
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
      const exchange = exchangeOf(response, { name, index, body, headers: request.headers })
      exchanges.push(exchange)
      for (const look of waiting) look()
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
  // NOTE: a server that listens on a port has an address of this kind.
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
        const look = (): void => {
          const found = exchanges.find((one) => one.name === name && one.index === index)
          if (found !== undefined) resolve(found)
        }
        waiting.add(look)
        look()
      }),
  }
}

function exchangeOf(
  response: ServerResponse,
  facts: Pick<RawExchange, 'name' | 'index' | 'headers'> & {
    readonly body: Readonly<Record<string, unknown>>
  },
): RawExchange {
  const { body, ...shown } = facts
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
    // NOTE: what is no object is not looked into by any test.
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

/** A task as it stands. */
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

/** A new status of that task. */
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

/** Text that the task has made. */
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
