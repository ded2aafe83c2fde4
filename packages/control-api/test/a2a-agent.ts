/** Serves an A2A agent, with a JSON-RPC client that checks the shape of all responses. */
import { defineTool, Type } from '@tutti/core'
import { ensemble, task, type Ensemble } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { expect } from 'vitest'

import { findMisfits, PageShape, SentShape, StreamShape, TaskShape } from './a2a-shapes.ts'
import { openServer, type TestServer, type TestServerOptions } from './open-server.ts'

/** Response of a foreign protocol. Schemas check its shape and tests its content. */
// oxlint-disable-next-line typescript/no-explicit-any -- casts at every field would say the same again
export type Untyped = any

/** Response of JSON-RPC. */
export interface RpcAnswer {
  readonly jsonrpc: string
  readonly id: unknown
  readonly result?: Untyped
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Untyped }
}

/** An agent and the actions of tests. */
export interface A2aAgent extends TestServer {
  /** URL of the JSON-RPC endpoint. */
  readonly rpc: string
  /** Calls a method and checks the shape of a 1.0 result. */
  call(method: string, params: unknown, headers?: Record<string, string>): Promise<RpcAnswer>
  /** Calls a streaming method, and returns its checked results. */
  stream(method: string, params: unknown, headers?: Record<string, string>): AsyncGenerator<Untyped>
  /** Sends text as a new message and returns the task. */
  send(text: string, more?: object, configuration?: object): Promise<Untyped>
}

/** Headers of a 1.0 client. */
export const CLIENT = { 'content-type': 'application/json', 'a2a-version': '1.0' }

let count = 0

/** Returns a message of a user. */
export function userMessage(text: string, more: object = {}) {
  count += 1
  return { messageId: `m-${count}`, role: 'ROLE_USER', parts: [{ text }], ...more }
}

/** Ensemble of one task with one variable, which repeats its input in several pieces. */
export function singer(name = 'singer'): Ensemble {
  const model = scriptedModel(({ messages }) => {
    const asked = /Sing (.*)/.exec(messages.findLast(({ role }) => role === 'user')?.content ?? '')
    return `La la la, here comes ${asked?.[1] ?? 'nothing'}, la la la`
  })
  const sing = task({ name: 'sing', description: 'Sing {song}' })
  return ensemble({ name, description: 'Sings a song', tasks: [sing], model })
}

/** Tool that waits until it is released or aborted. */
export function createWaitingTool() {
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const tool = defineTool({
    name: 'wait',
    description: 'Waits for the test',
    input: Type.Object({}),
    async execute(_input, { signal }) {
      begun.resolve()
      const aborted = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve())
      })
      await Promise.race([gate.promise, aborted])
      return 'waited'
    },
  })
  return { tool, release: gate.resolve, begun: begun.promise }
}

const SHAPES: Readonly<Record<string, Parameters<typeof findMisfits>[0]>> = {
  SendMessage: SentShape,
  GetTask: TaskShape,
  CancelTask: TaskShape,
  ListTasks: PageShape,
}

/** Serves ensembles as an agent, `singer` by default. */
export async function a2aAgent({
  path = '',
  ...options
}: TestServerOptions & { readonly path?: string } = {}): Promise<A2aAgent> {
  const api = await openServer({ ensembles: [singer()], ...options })
  const rpc = `${api.url}${path}/a2a`
  let requests = 0
  const ask = (
    { id, method, params }: { id: number; method: string; params: unknown },
    headers: Record<string, string>,
  ) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
    return fetch(rpc, { method: 'POST', headers: { ...CLIENT, ...headers }, body })
  }
  const call: A2aAgent['call'] = async (method, params, headers = {}) => {
    requests += 1
    const id = requests
    const response = await ask({ id, method, params }, headers)
    expect(response.headers.get('content-type')).toContain('application/json')
    const answer: RpcAnswer = await response.json()
    expect(answer).toMatchObject({ jsonrpc: '2.0', id })
    const shape = SHAPES[method]
    if (answer.error === undefined && shape !== undefined) {
      expect(findMisfits(shape, answer.result)).toEqual([])
    }
    return answer
  }
  return {
    ...api,
    rpc,
    call,
    async *stream(method, params, headers = {}) {
      requests += 1
      const id = requests
      const response = await ask({ id, method, params }, headers)
      const type = response.headers.get('content-type') ?? ''
      if (!type.startsWith('text/event-stream')) {
        throw new Error(`No stream: ${await response.text()}`)
      }
      for await (const answer of messagesOf(response)) {
        expect(answer).toMatchObject({ jsonrpc: '2.0', id })
        if (!method.includes('/')) expect(findMisfits(StreamShape, answer.result)).toEqual([])
        yield answer.result
      }
    },
    async send(text, more = {}, configuration = {}) {
      const { result, error } = await call('SendMessage', {
        message: userMessage(text, more),
        configuration,
      })
      if (error !== undefined) throw new Error(`${error.code} ${error.message}`)
      return result.task
    },
    async [Symbol.asyncDispose]() {
      // Runs that wait for a person would be handed over, which is slow.
      const open = await api.runs.reviews.open()
      const runIds = [...new Set(open.map(({ runId }) => runId))]
      await Promise.allSettled(runIds.map((runId) => api.runs.send(runId, { kind: 'cancel' })))
      await api[Symbol.asyncDispose]()
    },
  }
}

/** Parses the messages of an event stream, without comments. */
export async function* messagesOf(response: Response): AsyncGenerator<Untyped> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    const parts = text.split('\n\n')
    text = parts.pop() ?? ''
    for (const part of parts) {
      if (part.startsWith('data: ')) yield JSON.parse(part.slice('data: '.length))
    }
  }
}

/** Returns all messages of a stream until it ends. */
export async function all(stream: AsyncIterable<Untyped>): Promise<Untyped[]> {
  const items: Untyped[] = []
  for await (const item of stream) items.push(item)
  return items
}
