/** Tests that the check of responses can fail. */
import { createServer, type Server } from 'node:http'

import { afterEach, describe, expect, it } from 'vitest'

import {
  AnswerMiss,
  checkedFetch,
  frameMisses,
  messageMisses,
  findMisses,
  type Answer,
} from './answers.ts'

const RUN = {
  runId: 'run-1',
  status: 'ACCEPTED',
  startedAt: '2025-03-15T10:30:00Z',
  durationMs: null,
  taskCount: 1,
  completedTasks: 0,
  skippedTasks: 0,
  workflow: 'SEQUENTIAL',
  tags: { any: 'word' },
  ensemble: 'band',
  totalTokens: 0,
  totalToolCalls: 0,
  openReviews: 0,
}

describe('findMisses finds a problem', () => {
  it.each<[string, Partial<Answer>, string]>([
    ['when its status is not listed', { status: 202 }, 'status 202 is not listed'],
    ['when the media type differs', type('text/html'), 'content-type text/html is not'],
    ['when it is not JSON', { body: '{' }, 'not JSON'],
    ['when a field is missing', json({ runs: [] }), "must have required property 'total'"],
    ['when a field has another type', json({ runs: [], total: '1' }), '/total must be integer'],
    ['when a field is not listed', json({ runs: [], total: 0, next: 1 }), '/next is not'],
    [
      'when a nested field is not listed',
      json({ runs: [{ ...RUN, x: 1 }], total: 1 }),
      '/runs/0/x is not a field',
    ],
    [
      'when the route does not list the error code',
      error(404, 'RUN_NOT_FOUND'),
      'status 404 is not listed',
    ],
    [
      'when the error code belongs to another status',
      error(400, 'INTERNAL'),
      '/error must be equal to one of',
    ],
    ['when an error has no message', { ...json({ error: 'BAD_REQUEST' }), status: 400 }, 'message'],
    ['when a header is missing', error(401, 'UNAUTHORIZED'), 'header WWW-Authenticate is missing'],
    [
      'when a header is not a number',
      { ...error(429, 'RATE_LIMITED'), headers: headers({ 'retry-after': 'soon' }) },
      'header Retry-After',
    ],
    ['when the path does not allow the method', { method: 'PATCH' }, 'status 200 is not listed'],
    [
      'when the path does not exist',
      { path: '/api/none', ...error(404, 'RUN_NOT_FOUND') },
      '/error must',
    ],
    [
      'when there is a body and none is listed',
      { method: 'DELETE', path: '/api/runs/run-1', status: 204 },
      'there is a body',
    ],
  ])('findMisses finds a problem %s', (_, change, miss) => {
    expect(findMisses(answer(change)).join('\n')).toContain(miss)
  })
})

describe('findMisses finds no problem', () => {
  it.each<[string, Partial<Answer>]>([
    ['for the listed response', {}],
    ['when a map has any keys', json({ runs: [RUN], total: 1 })],
    ['for an error of the route', error(400, 'BAD_REQUEST')],
    ['for an error that every route can return', error(500, 'INTERNAL')],
    ['for HEAD without a body', { method: 'HEAD', body: '' }],
    ['for a method that the path does not allow', { method: 'PATCH', ...notAllowed() }],
    ['when the path does not exist', { path: '/api/none', ...error(404, 'NOT_FOUND') }],
    ['for a page outside of the route table', { path: '/', ...type('text/plain') }],
    ['for another successful status', { path: '/api/health/ready', status: 503, ...readiness() }],
  ])('findMisses finds no problem %s', (_, change) => {
    expect(findMisses(answer(change))).toEqual([])
  })

  it('findMisses finds no problem when a process without run routes returns 404', () => {
    const nothing = answer({ path: '/api/runs', ...error(404, 'NOT_FOUND') })
    expect(findMisses(nothing, 'health')).toEqual([])
    expect(findMisses(nothing)).not.toEqual([])
  })
})

describe('findMisses with a frame of a stream', () => {
  const event = {
    type: 'review_timed_out',
    reviewId: 'rev-1',
    action: 'FAIL',
    runId: 'run-1',
    seq: 4,
    id: 'run-1:4',
  }
  const frame = (data: object, { id = 'run-1:4', type: name = 'review_timed_out' } = {}): string =>
    `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}`

  it('findMisses accepts a frame of a stream with id, type and an event, or a comment', () => {
    expect(frameMisses(frame(event))).toEqual([])
    expect(frameMisses(': still here')).toEqual([])
  })

  it.each([
    ['has another id', frame(event, { id: 'run-1:5' })],
    ['has another type', frame(event, { type: 'token' })],
    ['has an event without its position', frame({ ...event, seq: undefined })],
    ['has an event with a field that is not listed', frame({ ...event, more: 1 })],
    ['has no id', `data: ${JSON.stringify(event)}`],
  ])('findMisses reports a frame that %s', (_, text) => {
    expect(frameMisses(text)).not.toEqual([])
  })
})

describe('messageMisses', () => {
  it('messageMisses accepts a valid message, and names the invalid field of others', () => {
    expect(messageMisses({ type: 'pong' })).toEqual([])
    expect(messageMisses({ type: 'pong', at: 1 })).toEqual([
      'message pong: /at is not a field of its schema',
    ])
    expect(messageMisses({ type: 'heartbeat' }).join()).toContain('serverTimeMs')
    expect(messageMisses({ type: 'pang' }).join()).toContain('no message has the type "pang"')
    expect(messageMisses('pong')).not.toEqual([])
  })
})

describe('checkedFetch', () => {
  let server: Server | undefined
  afterEach(() => server?.close())

  it('checkedFetch returns a valid response, whose body can be read as usual', async () => {
    const url = await serve('application/json', JSON.stringify({ runs: [], total: 0 }))
    expect(await (await checkedFetch(`${url}/api/runs?limit=1`)).json()).toEqual({
      runs: [],
      total: 0,
    })
  })

  it('checkedFetch rejects when a response is invalid', async () => {
    const url = await serve('application/json', '{}')
    await expect(checkedFetch(`${url}/api/runs`)).rejects.toThrow(AnswerMiss)
  })

  it('checkedFetch fails the reader of a stream at the first invalid frame', async () => {
    const url = await serve('text/event-stream', ': events follow\n\ndata: {}\n\n')
    const response = await checkedFetch(`${url}/api/runs/run-1/events`)
    await expect(response.text()).rejects.toThrow('a frame is not id, event and data')
  })

  async function serve(contentType: string, body: string): Promise<string> {
    const made = createServer((_, response) => {
      response.writeHead(200, { 'content-type': contentType }).end(body)
    })
    server = made
    await new Promise<void>((resolve) => {
      made.listen(0, '127.0.0.1', resolve)
    })
    const address = made.address()
    if (address === null || typeof address === 'string') throw new Error('Listens on no port')
    return `http://127.0.0.1:${address.port}`
  }
})

function answer(change: Partial<Answer>): Answer {
  return {
    method: 'GET',
    path: '/api/runs',
    status: 200,
    ...json({ runs: [], total: 0 }),
    ...change,
  }
}

function json(body: object): Pick<Answer, 'body' | 'headers'> {
  return { body: JSON.stringify(body), headers: headers() }
}

function error(status: number, code: string): Pick<Answer, 'body' | 'headers' | 'status'> {
  return { status, ...json({ error: code, message: 'For a reason' }) }
}

function notAllowed(): Partial<Answer> {
  return { ...error(405, 'METHOD_NOT_ALLOWED'), headers: headers({ allow: 'GET' }) }
}

function readiness(): Partial<Answer> {
  return json({ status: 'NOT_READY', lifecycleState: 'DRAINING' })
}

function type(contentType: string): Partial<Answer> {
  return { headers: headers({ 'content-type': contentType }) }
}

function headers(more: Record<string, string> = {}): Headers {
  return new Headers({ 'content-type': 'application/json', ...more })
}
