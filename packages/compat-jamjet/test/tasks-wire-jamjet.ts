/**
 * Imitates the client of JamJet's `agent_tool` byte for byte on a raw socket: its requests, and how it reads responses. It
 * ignores request ids, knows no state but `completed`, and accepts any 2xx status.
 */
import { connect, type Socket } from 'node:net'

/** A response that is being received. */
export interface RawResponse {
  readonly status: number
  readonly head: string
  /** Bytes of the body without chunk headers; ends when the body ends or breaks off. */
  readonly body: AsyncGenerator<Buffer>
  readonly socket: Socket
}

/** Sends bytes unchanged and reads the response. */
export async function rawRequest(url: string, bytes: string): Promise<RawResponse> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  socket.write(bytes)
  const chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let buffer = Buffer.alloc(0)
  const more = async (): Promise<boolean> => {
    const { done, value } = await chunks.next().catch(() => ({ done: true, value: undefined }))
    if (done === true || value === undefined) return false
    buffer = Buffer.concat([buffer, value])
    return true
  }
  while (!buffer.includes('\r\n\r\n') && (await more())) continue
  const end = buffer.indexOf('\r\n\r\n')
  const head = buffer.subarray(0, end).toString('latin1')
  buffer = buffer.subarray(end + 4)
  const take = async (size: number): Promise<Buffer | undefined> => {
    while (buffer.length < size && (await more())) continue
    if (buffer.length < size) return undefined
    const taken = buffer.subarray(0, size)
    buffer = buffer.subarray(size)
    return taken
  }
  async function* chunked(): AsyncGenerator<Buffer> {
    for (;;) {
      while (!buffer.includes('\r\n') && (await more())) continue
      const line = buffer.indexOf('\r\n')
      if (line < 0) return
      const size = Number.parseInt(buffer.subarray(0, line).toString('latin1'), 16)
      buffer = buffer.subarray(line + 2)
      const chunk = await take(size + 2)
      if (size === 0 || chunk === undefined) return
      yield chunk.subarray(0, size)
    }
  }
  async function* fixed(): AsyncGenerator<Buffer> {
    const body = await take(Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0))
    if (body !== undefined) yield body
  }
  const body = /transfer-encoding: chunked/i.test(head) ? chunked() : fixed()
  return { status: Number(head.split(' ')[1]), head, body, socket }
}

/** Returns the bytes of a request of JamJet's HTTP client. */
export function jamjetBytes(url: string, body: string): string {
  const { host, pathname } = new URL(url)
  const head = [
    `POST ${pathname} HTTP/1.1`,
    'content-type: application/json',
    'accept: */*',
    `host: ${host}`,
    `content-length: ${Buffer.byteLength(body)}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

/** Returns the body of a send: no id, no role, and the input as compact JSON with its keys in order. */
export function jamjetBody(method: string, input: unknown): string {
  const text = JSON.stringify(JSON.stringify(inOrder(input)))
  return `{"jsonrpc":"2.0","method":"${method}","params":{"message":{"parts":[{"text":${text}}]}}}`
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, part]) => [key, inOrder(part)]))
}

async function textOf({ body }: RawResponse): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/**
 * Sync mode, and one turn of a conversation: the output is the whole body.
 *
 * @throws {Error} when JamJet would fail its node.
 */
export async function jamjetSync(agent: string, input: unknown): Promise<Record<string, unknown>> {
  const url = `${agent.replace(/\/+$/, '')}/tasks/send`
  const response = await rawRequest(url, jamjetBytes(url, jamjetBody('tasks/send', input)))
  const text = await textOf(response)
  response.socket.destroy()
  if (response.status < 200 || response.status > 299) {
    throw new Error(`Agent returned error ${response.status}: ${text}`)
  }
  return JSON.parse(text)
}

/** Conversational mode: the number of turns, and the last body. */
export async function jamjetConversation(agent: string, input: unknown, maxTurns = 5) {
  let next = input
  for (let turn = 0; ; turn += 1) {
    const body = await jamjetSync(agent, next)
    if (body['status'] === 'completed' || turn === maxTurns - 1) return { turns: turn + 1, body }
    next = 'output' in body ? body['output'] : body
  }
}

/** Outcome of a stream. */
export interface JamjetStream {
  readonly chunks: readonly Record<string, unknown>[]
  readonly cost: number
  readonly id: string | undefined
  readonly reason?: 'budget_exceeded'
  /** Received lines, including empty ones. */
  readonly lines: readonly string[]
}

/** Streaming mode, with its budget and its cancel. */
export async function jamjetStream(
  agent: string,
  input: unknown,
  {
    maxCostUsd = Infinity,
    onChunk = () => undefined,
    onLine = () => undefined,
  }: {
    readonly maxCostUsd?: number
    readonly onChunk?: (chunk: Record<string, unknown>) => unknown
    readonly onLine?: (line: string) => unknown
  } = {},
): Promise<JamjetStream> {
  const url = `${agent}/tasks/sendSubscribe`
  const response = await rawRequest(url, jamjetBytes(url, jamjetBody('tasks/sendSubscribe', input)))
  if (response.status !== 200) throw new Error(`Agent returned error ${await textOf(response)}`)
  const chunks: Record<string, unknown>[] = []
  const lines: string[] = []
  let [cost, rest] = [0, '']
  const idOf = () => chunks.map(({ id }) => id).find((one) => typeof one === 'string')
  for await (const bytes of response.body) {
    const parts = (rest + bytes.toString()).split('\n')
    rest = parts.pop() ?? ''
    for (const line of parts) {
      lines.push(line)
      onLine(line)
      if (line.trim() === '') continue
      const chunk: Record<string, unknown> = JSON.parse(line)
      chunks.push(chunk)
      if (typeof chunk['cost_usd'] === 'number') cost += chunk['cost_usd']
      await onChunk(chunk)
      if (cost <= maxCostUsd) continue
      const id = idOf()
      await jamjetCancel(agent, id)
      response.socket.destroy()
      return { chunks, cost, id, reason: 'budget_exceeded', lines }
    }
  }
  response.socket.destroy()
  return { chunks, cost, id: idOf(), lines }
}

/** Sends the cancel: no envelope, on a separate connection. */
export async function jamjetCancel(agent: string, id: unknown) {
  const url = `${agent}/tasks/cancel`
  const response = await rawRequest(url, jamjetBytes(url, `{"id":${JSON.stringify(id)}}`))
  const body: Record<string, unknown> = JSON.parse(await textOf(response))
  response.socket.destroy()
  return { status: response.status, body }
}
