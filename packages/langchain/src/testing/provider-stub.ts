/**
 * A model service on loopback for tests: real HTTP, real server-sent events, answers from a script.
 * `openai-stub.ts` and `anthropic-stub.ts` define the formats of providers; this file listens, records, and
 * sends bytes in pieces that split even characters.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'

import type { ModelReply, ModelUsage } from '@tutti/ensemble/adapter'

/** An answer: text, tool calls, or both, as in a `ScriptedReply`, and how its stream ends. */
export interface StubReply {
  /** @default '' */
  readonly text?: string
  readonly toolCalls?: readonly StubToolCall[]
  /** @default counted from the lengths of the texts, four characters a token */
  readonly usage?: ModelUsage
  /** Thinking before the answer, which is not part of the text. @default '' */
  readonly reasoning?: string
  /** A thought that Anthropic returns encrypted, after the readable ones. @default none */
  readonly redactedReasoning?: string
  /**
   * Finish reason; with `length` the last tool call is sent unchanged, so it may be incomplete.
   * @default 'tool_calls' when there are any, else 'stop'
   */
  readonly finishReason?: NonNullable<ModelReply['finishReason']>
  /** Text of the provider about a refusal. */
  readonly refusal?: string
  /**
   * End of the stream: `complete` as the provider ends it, `drop` with a reset connection, `truncate` with a
   * clean end in the middle, `error` with the provider's overload event, `hang` never. All but the first apply
   * after the text. @default 'complete'
   */
  readonly ending?: 'complete' | 'drop' | 'truncate' | 'error' | 'hang'
}

/** A tool call of an answer. */
export interface StubToolCall {
  readonly name: string
  /** Arguments as a value; text is sent unchanged, also when it is not JSON. */
  readonly arguments: object | string
  /** @default an id in the provider's form, unique in a stub */
  readonly id?: string
}

/** A response that is not a stream; with status 200 it is an error that its server did not mark as one. */
export interface StubFailure {
  readonly status: number
  /** The provider's message. @default 'Stubbed failure' */
  readonly message?: string
  /** The provider's error type. @default the provider's type for the status */
  readonly type?: string
  readonly code?: string
  /** Wait that Gemini requests, such as `34s`. */
  readonly retryDelay?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Whole body instead of the provider's form. */
  readonly body?: string
}

/** An entry of a script; a text is an answer with that text, an error a status 500. */
export type StubAnswer = string | StubReply | StubFailure | Error

/** Answers in order, one for each call, or a function that answers every call. */
export type StubScript =
  | readonly StubAnswer[]
  | ((request: StubRequest, call: number) => StubAnswer)

/** A received request. */
export interface StubRequest {
  readonly method: string
  /** Path with the query, as sent. */
  readonly path: string
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** The JSON body; empty when it was not JSON. */
  readonly body: Readonly<Record<string, unknown>>
  /** Settles when the response has ended: complete, or closed by the client. */
  readonly ended: Promise<'sent' | 'client_closed'>
}

/** A running stub. */
export interface ProviderStub extends AsyncDisposable {
  /** Base URL for clients. */
  readonly baseUrl: string
  /** The requests so far, including rejected ones. */
  readonly requests: readonly StubRequest[]
  /** Waits for the request with this 0-based index. */
  request(index: number): Promise<StubRequest>
  /** Stops listening and closes open connections. */
  close(): Promise<void>
}

/** Settings of a stub's output. */
export interface StubOptions {
  /** Maximum number of bytes per write. @default 29, so that events and characters are split */
  readonly bytesPerWrite?: number
}

/** The format of one provider. */
export interface ProviderWire {
  /** Path of the base URL, such as `/v1`. */
  readonly basePath: string
  /** Returns the provider's error for an invalid request. */
  check(request: StubRequest): StubFailure | undefined
  /** Returns the body of a failure. */
  failureBody(failure: StubFailure): string
  /** Returns the events of an answer as text: up to the end of its text, and the rest. */
  events(reply: StubReply, context: WireContext): { readonly head: string; readonly tail: string }
  /** Returns the overload event in the middle of a stream. */
  overloadEvent(request: StubRequest): string
}

/** Inputs of an answer's events. */
export interface WireContext {
  readonly request: StubRequest
  /** Number of the answer in this stub, from 1. */
  readonly call: number
}

/** Starts a stub that uses `wire`. */
export async function startStub(
  wire: ProviderWire,
  script: StubScript,
  { bytesPerWrite = 29 }: StubOptions = {},
): Promise<ProviderStub> {
  const log = createRequestLog()
  let calls = 0
  const server = createServer((incoming, response) => {
    void receive(incoming, response).then(async (request) => {
      log.add(request)
      const refused = wire.check(request)
      if (refused === undefined) calls += 1
      const answer = refused ?? nextAnswer(script, request, calls)
      await (isFailure(answer)
        ? sendFailure(response, answer, wire)
        : sendReply(response, answer, { wire, bytesPerWrite, request, call: calls }))
    })
  })
  const close = (): Promise<void> => closeServer(server)
  return {
    baseUrl: `${await listen(server)}${wire.basePath}`,
    requests: log.requests,
    request: log.request,
    close,
    [Symbol.asyncDispose]: close,
  }
}

function createRequestLog(): Pick<ProviderStub, 'requests' | 'request'> & {
  add(request: StubRequest): void
} {
  const requests: StubRequest[] = []
  const waiting = new Map<number, (request: StubRequest) => void>()
  return {
    requests,
    add(request) {
      waiting.get(requests.push(request) - 1)?.(request)
    },
    request(index) {
      const known = requests[index]
      if (known !== undefined) return Promise.resolve(known)
      return new Promise((resolve) => waiting.set(index, resolve))
    },
  }
}

async function receive(incoming: IncomingMessage, response: ServerResponse): Promise<StubRequest> {
  const ended = new Promise<'sent' | 'client_closed'>((resolve) => {
    response.on('close', () => {
      resolve(response.writableFinished ? 'sent' : 'client_closed')
    })
  })
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: Object.fromEntries(headers),
    body: parseObject(Buffer.concat(chunks).toString()),
    ended,
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

function nextAnswer(
  script: StubScript,
  request: StubRequest,
  call: number,
): StubReply | StubFailure {
  const answer = typeof script === 'function' ? script(request, call) : script[call - 1]
  if (answer === undefined) {
    return { status: 500, message: `The script of this stub has no answer to call ${call}` }
  }
  if (typeof answer === 'string') return { text: answer }
  return answer instanceof Error ? { status: 500, message: answer.message } : answer
}

function isFailure(answer: StubReply | StubFailure): answer is StubFailure {
  return 'status' in answer
}

function sendFailure(response: ServerResponse, failure: StubFailure, wire: ProviderWire): void {
  response.writeHead(failure.status, { 'content-type': 'application/json', ...failure.headers })
  response.end(failure.body ?? wire.failureBody(failure))
}

async function sendReply(
  response: ServerResponse,
  reply: StubReply,
  context: WireContext & { readonly wire: ProviderWire; readonly bytesPerWrite: number },
): Promise<void> {
  const { wire, bytesPerWrite } = context
  const { ending = 'complete' } = reply
  const { head, tail } = wire.events(reply, context)
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  const end =
    ending === 'complete' ? tail : ending === 'error' ? wire.overloadEvent(context.request) : ''
  await write(response, Buffer.from(head + end), bytesPerWrite)
  if (ending === 'drop') response.destroy()
  else if (ending !== 'hang') response.end()
}

/** Writes `bytes` piece by piece, each in a separate turn of the event loop, so that they are not joined again. */
async function write(
  response: ServerResponse,
  bytes: Buffer,
  bytesPerWrite: number,
): Promise<void> {
  for (let start = 0; start < bytes.length; start += bytesPerWrite) {
    if (response.destroyed) return
    response.write(bytes.subarray(start, start + bytesPerWrite))
    await nextTurn()
  }
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      resolve(`http://127.0.0.1:${port}`)
    })
  })
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      resolve()
    })
    server.closeAllConnections()
  })
}
