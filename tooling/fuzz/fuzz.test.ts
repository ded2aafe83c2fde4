import type { RequestListener } from 'node:http'

import { ClientMessage, decode, ROUTES, SubmitRunBody } from '@tutti/protocol'
import { TuttiError, Type } from '@tutti/core'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { listenLocally } from '../net/listen.ts'
import { exchange, MAX_ERROR_BYTES } from './lib/exchange.ts'
import { faultsOf, messageFaultsOf } from './lib/judge.ts'
import { attack } from './run-fuzz.ts'
import { nearValuesOf, valuesOf } from './lib/values.ts'
import { judgeRun, modelsTarget, type PlannedRun } from './targets/models.ts'
import { aguiTarget } from './targets/ag-ui.ts'
import { chatsTarget } from './targets/chats.ts'
import { openAiTarget } from './targets/openai.ts'
import { restTarget } from './targets/rest.ts'
import { FIRST_ID, followUpAttempt } from './targets/target.ts'
import { tasksTarget } from './targets/tasks.ts'

import type { AnswerPlan } from './lib/model-service.ts'
import type { Target } from './targets/target.ts'

const json = { contentType: 'application/json', isComplete: true, bytes: 100 }

describe('generated values', () => {
  it('Generated values match the schema that they are generated from', () => {
    const Shape = Type.Object({
      name: Type.String({ pattern: '^[a-z]{2,5}$' }),
      kind: Type.Enum(['a', 'b']),
      counts: Type.Array(Type.Integer({ minimum: 0, maximum: 9 }), { minItems: 2 }),
      at: Type.Optional(Type.String({ format: 'date-time' })),
      rest: Type.Record(Type.String(), Type.Union([Type.Boolean(), Type.Null()])),
    })
    fc.assert(fc.property(valuesOf(Shape), (value) => decode(Shape, value).ok))
  })

  it('Generated values match every body of the control API that has no conditional rules', () => {
    for (const { body } of [{ body: SubmitRunBody }, ROUTES.cancelRun, ROUTES.cancelRuns]) {
      const values = fc.sample(valuesOf(body), { numRuns: 50, seed: 1 })
      expect(values.map((value) => decode(body, value))).toEqual(
        values.map(() => expect.objectContaining({ ok: true })),
      )
    }
  })

  it('Generated values cover every kind of message, and mostly violate the schema when they should', () => {
    for (const schema of ClientMessage.anyOf) {
      const values = fc.sample(nearValuesOf(schema), { numRuns: 60, seed: 1 })
      expect(values.filter((value) => !decode(schema, value).ok).length).toBeGreaterThan(20)
    }
  })
})

describe('faults of an answer', () => {
  it('Faults of an answer are its status, its size, its form and an error code with another status', () => {
    const internal = '{"error":"INTERNAL","message":"x"}'
    expect(faultsOf({ ...json, status: 500, body: internal })).toHaveLength(1)
    expect(faultsOf({ ...json, status: 400, body: '{"error":"RUN_NOT_FOUND"}' })).toHaveLength(1)
    expect(faultsOf({ ...json, status: 400, body: '{', bytes: 1 })).toHaveLength(1)
    const large = { ...json, status: 400, body: '{}', bytes: MAX_ERROR_BYTES + 1 }
    expect(faultsOf(large)).toHaveLength(1)
    const rpc = '{"jsonrpc":"2.0","error":{"code":-32603}}'
    expect(faultsOf({ ...json, status: 200, body: rpc })).toHaveLength(1)
    expect(messageFaultsOf('{"type":"error","error":"INTERNAL"}')).toHaveLength(1)
  })

  it('Faults of an answer are internal errors in a stream, of every protocol', () => {
    const stream = { ...json, contentType: 'text/event-stream; charset=utf-8', status: 200 }
    for (const data of [
      '{"type":"RUN_ERROR","code":"INTERNAL"}',
      '{"type":"error","code":"internal","sequence_number":3}',
      '{"error":{"message":"x","code":"engine_failed"}}',
      '{"jsonrpc":"2.0","error":{"code":-32603}}',
    ]) {
      const body = `event: error\ndata: {"type":"start"}\n\ndata: ${data}\n\n`
      expect(faultsOf({ ...stream, body })).toHaveLength(1)
    }
    const lines = '{"status":"working"}\n{"id":"1","error":"INTERNAL"}\n'
    expect(faultsOf({ ...stream, contentType: 'application/x-ndjson', body: lines })).toHaveLength(
      1,
    )
    expect(faultsOf({ ...stream, body: 'data: {"code":"MODEL_FAILED"}\n\ndata: [DONE]' })).toEqual(
      [],
    )
  })

  it('Faults of an answer are failures of the server in the shape of OpenAI, but not those of a run', () => {
    const failed = (code: string) =>
      faultsOf({ ...json, status: 500, body: JSON.stringify({ error: { message: 'x', code } }) })
    expect(failed('internal')).toHaveLength(1)
    expect(failed('store_refused')).toHaveLength(1)
    expect(failed('output_invalid')).toEqual([])
  })

  it('Faults of an answer are none for a rejection, a success and a missing feature', () => {
    expect(faultsOf({ ...json, status: 404, body: '{"error":"RUN_NOT_FOUND"}' })).toEqual([])
    expect(faultsOf({ ...json, status: 200, body: '{"runs":[]}' })).toEqual([])
    expect(faultsOf({ ...json, status: 503, body: '{"error":"NOT_CONFIGURED"}' })).toEqual([])
    expect(messageFaultsOf('{"type":"pong"}')).toEqual([])
  })
})

describe('an attack', () => {
  it('A fuzz attack names the object that an earlier request of the same attempt has created', async () => {
    const seen: string[] = []
    await using server = await listening((request, response) => {
      let body = ''
      request.on('data', (data: Buffer) => (body += data.toString()))
      request.on('end', () => {
        seen.push(`${request.method} ${request.url} ${body}`)
        const status = request.url === '/v1/responses' ? 200 : 500
        response.writeHead(status, { 'content-type': 'application/json' }).end('{"id":"resp_7"}')
      })
    })
    const post = { method: 'POST', path: '/v1/responses', body: '{}' }
    const cancel = {
      method: 'POST',
      path: `/v1/responses/${FIRST_ID}/cancel`,
      body: `{"id":"${FIRST_ID}"}`,
    }
    const faults = await followUpAttempt(post, cancel).make(server.url)
    expect(seen).toEqual([
      'POST /v1/responses {}',
      'POST /v1/responses/resp_7/cancel {"id":"resp_7"}',
    ])
    expect(faults).toEqual([expect.stringContaining('Status 500')])
  })

  it.each<readonly [paths: readonly string[], target: Target]>([
    [['/v1/chat/completions', '/v1/responses', '/v1/conversations', '/v1/models'], openAiTarget()],
    [['/api/chat', '/stream', '/stop'], chatsTarget()],
    [['/agui/write', '/agui/reviewed'], aguiTarget()],
    [['/tasks/send', '/tasks/sendSubscribe', '/tasks/cancel'], tasksTarget()],
  ])('A fuzz attack reaches %j', async (paths, target) => {
    const seen = new Set<string>()
    await using server = await listening(({ url = '' }, response) => {
      seen.add(url.split('?', 1).join(''))
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"resp_7"}')
    })
    for (const { make } of fc.sample(target.attempts, { numRuns: 100, seed: 1 })) {
      expect(await make(server.url)).toEqual([])
    }
    const reached = paths.filter((path) => [...seen].some((url) => url.includes(path)))
    expect(reached).toEqual(paths)
  })

  it('A fuzz attack finds a server that fails on a long key, and shows the request', async () => {
    await using server = await listening((request, response) => {
      let body = ''
      request.on('data', (data: Buffer) => (body += data.toString()))
      request.on('end', () => {
        const isBad = body.includes('"__proto__"') || body.includes('toString')
        response.writeHead(isBad ? 500 : 200, { 'content-type': 'application/json' })
        response.end(isBad ? '{"error":"INTERNAL"}' : '{}')
      })
    })
    const found = await attack(server, restTarget(), attackFor(20))
    expect(found).toEqual([expect.stringMatching(/^rest: Status 500: [^]*sent: POST \/api\//)])
  })

  it('A fuzz attack finds no fault in a server that rejects every request correctly', async () => {
    await using server = await listening((_request, response) => {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"NOT_FOUND"}')
    })
    expect(await attack(server, restTarget(), attackFor(1))).toEqual([])
  })
})

describe('a run against a generated model stream', () => {
  const plan: AnswerPlan = {
    wire: 'completions',
    texts: ['one'],
    calls: [],
    usage: {},
    ending: 'whole',
    reason: 'stop',
    error: {},
    extras: [],
    cutAfter: undefined,
    style: {
      hasRole: true,
      hasIndex: true,
      repeatsName: false,
      changesId: false,
      hasObjects: false,
      hasListContent: false,
      isReversed: false,
      lineEnd: '\n',
    },
    bytesPerWrite: 64,
  }
  const metrics = { totalTokens: 7 } as PlannedRun['result']['metrics']
  const completed = (output: string, more: object = {}): PlannedRun => ({
    result: { status: 'COMPLETED', output, metrics: { ...metrics, ...more } },
    inputs: [],
  })

  it('A run against a generated model stream has no fault when it completes with the text of a whole answer', () => {
    expect(judgeRun(plan, completed('one'))).toEqual([])
  })

  it('A run against a generated model stream has a fault when a cut answer is a success', () => {
    const faults = judgeRun({ ...plan, ending: 'none' }, completed('one'))
    expect(faults).toEqual([expect.stringContaining('not whole')])
  })

  it('A run against a generated model stream may fail as empty only after an answer without text and calls', () => {
    const error = new TuttiError('OUTPUT_EMPTY', 'The last answer was empty')
    const failed: PlannedRun = {
      result: { status: 'FAILED', output: '', error, metrics },
      inputs: [],
    }
    expect(judgeRun({ ...plan, texts: [] }, failed)).toEqual([])
    expect(judgeRun(plan, failed)).toEqual([
      expect.stringContaining('OUTPUT_EMPTY'),
      expect.stringContaining('Expected "one"'),
    ])
  })

  it('A run against a generated model stream has a fault when text is lost, and when an announced call is missing', () => {
    expect(judgeRun(plan, completed(''))).toEqual([expect.stringContaining('Expected "one"')])
    const faults = judgeRun({ ...plan, reason: 'tool_calls' }, completed('one'))
    expect(faults).toEqual([expect.stringContaining('contradictory')])
  })

  it('A run against a generated model stream has a fault when a total is not an integer, and when a tool gets an input that was not sent', () => {
    for (const totalTokens of [Number.NaN, 1.5, -2]) {
      expect(judgeRun(plan, completed('one', { totalTokens }))).toHaveLength(1)
    }
    const run = { ...completed('one'), inputs: [{}] }
    expect(judgeRun(plan, run)).toEqual([expect.stringContaining('was not sent')])
  })

  it('A run against a generated model stream has no faults for the first generated streams', async () => {
    const attempts = fc.sample(modelsTarget().attempts, { numRuns: 10, seed: 1 })
    for (const { make } of attempts) expect(await make('')).toEqual([])
  })
})

describe('a request', () => {
  it('A fuzz request is repeated on a new connection when a reused one was closed while idle', async () => {
    const seen = new WeakSet<object>()
    await using server = await listening(({ socket }, response) => {
      if (seen.has(socket)) socket.destroy()
      seen.add(socket)
      response.end('ok')
    })
    const get = { method: 'GET', path: '/' }
    await exchange(server.url, get)
    expect(await exchange(server.url, get)).toMatchObject({ status: 200, body: 'ok' })
  })

  it('A fuzz request fails when its own connection is closed without an answer', async () => {
    await using server = await listening(({ socket }) => socket.destroy())
    await expect(exchange(server.url, { method: 'GET', path: '/' })).rejects.toThrow('hang up')
  })
})

/** More than the longest request line and headers that are generated, in bytes. */
const MAX_HEAD_BYTES = 8_000_000

function attackFor(seconds: number) {
  return { seconds, seed: 1, made: [], count: () => undefined }
}

async function listening(answer: RequestListener) {
  // A server that closes the connection during a long request line may reset it before its refusal is read.
  return { ...(await listenLocally(answer, { maxHeaderSize: MAX_HEAD_BYTES })), hasEnded: false }
}
