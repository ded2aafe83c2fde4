/** The check of answers must be able to fail. */
import { createServer, type Server } from 'node:http'

import { afterEach, describe, expect, it } from 'vitest'

import {
  AnswerMiss,
  checkedFetch,
  frameMisses,
  messageMisses,
  missesOf,
  type Answer,
} from './answers.ts'

const RUN = {
  runId: 'run-1',
  status: 'ACCEPTED',
  startedAt: '2025-03-15T10:30:00Z',
  durationMs: null,
  taskCount: 1,
  completedTasks: 0,
  workflow: 'SEQUENTIAL',
  tags: { any: 'word' },
  ensemble: 'band',
  totalTokens: 0,
  totalToolCalls: 0,
  openReviews: 0,
}

describe('an answer is a miss', () => {
  it.each<[string, Partial<Answer>, string]>([
    ['when its status is not listed', { status: 202 }, 'status 202 is not listed'],
    ['when it is of another media type', type('text/html'), 'content-type text/html is not'],
    ['when it is not JSON', { body: '{' }, 'not JSON'],
    ['when it lacks a field', json({ runs: [] }), "must have required property 'total'"],
    ['when a field is of another type', json({ runs: [], total: '1' }), '/total must be integer'],
    [
      'when it has a field that is not listed',
      json({ runs: [], total: 0, next: 1 }),
      '/next is not',
    ],
    ['however deep', json({ runs: [{ ...RUN, x: 1 }], total: 1 }), '/runs/0/x is not a field'],
    ['when its code is not of the route', error(404, 'RUN_NOT_FOUND'), 'status 404 is not listed'],
    ['when its code has another status', error(400, 'INTERNAL'), '/error must be equal to one of'],
    [
      'when an error says too little',
      { ...json({ error: 'BAD_REQUEST' }), status: 400 },
      'message',
    ],
    ['when it lacks a header', error(401, 'UNAUTHORIZED'), 'header WWW-Authenticate is missing'],
    [
      'when a header is no number',
      { ...error(429, 'RATE_LIMITED'), headers: headers({ 'retry-after': 'soon' }) },
      'header Retry-After',
    ],
    ['when its method is not taken', { method: 'PATCH' }, 'status 200 is not listed'],
    ['when nothing is there', { path: '/api/none', ...error(404, 'RUN_NOT_FOUND') }, '/error must'],
    [
      'when there is a body and none is listed',
      { method: 'DELETE', path: '/api/runs/run-1', status: 204 },
      'there is a body',
    ],
  ])('%s', (_, change, miss) => {
    expect(missesOf(answer(change)).join('\n')).toContain(miss)
  })
})

describe('an answer is as listed', () => {
  it.each<[string, Partial<Answer>]>([
    ['as the route says', {}],
    ['when a map has any keys', json({ runs: [RUN], total: 1 })],
    ['with an error of the route', error(400, 'BAD_REQUEST')],
    ['with an error that any route has', error(500, 'INTERNAL')],
    ['without a body for HEAD', { method: 'HEAD', body: '' }],
    ['with a method that the path does not take', { method: 'PATCH', ...notAllowed() }],
    ['when nothing is there', { path: '/api/none', ...error(404, 'NOT_FOUND') }],
    ['on a page that no route is', { path: '/', ...type('text/plain') }],
    ['with another good answer', { path: '/api/health/ready', status: 503, ...readiness() }],
  ])('%s', (_, change) => {
    expect(missesOf(answer(change))).toEqual([])
  })

  it('when a process that takes no runs has no such route', () => {
    const nothing = answer({ path: '/api/runs', ...error(404, 'NOT_FOUND') })
    expect(missesOf(nothing, 'health')).toEqual([])
    expect(missesOf(nothing)).not.toEqual([])
  })
})

describe('a frame of a stream', () => {
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

  it('is as listed with id, type and an event, or as a comment', () => {
    expect(frameMisses(frame(event))).toEqual([])
    expect(frameMisses(': still here')).toEqual([])
  })

  it.each([
    ['has another id', frame(event, { id: 'run-1:5' })],
    ['has another type', frame(event, { type: 'token' })],
    ['has an event without its place', frame({ ...event, seq: undefined })],
    ['has an event with a field that is not listed', frame({ ...event, more: 1 })],
    ['has no id', `data: ${JSON.stringify(event)}`],
  ])('is a miss when it %s', (_, text) => {
    expect(frameMisses(text)).not.toEqual([])
  })
})

describe('a message', () => {
  it('is as listed, or a miss that names the field', () => {
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

  it('gives an answer that is as listed, to be read as usual', async () => {
    const url = await serve('application/json', JSON.stringify({ runs: [], total: 0 }))
    expect(await (await checkedFetch(`${url}/api/runs?limit=1`)).json()).toEqual({
      runs: [],
      total: 0,
    })
  })

  it('fails the request whose answer is not', async () => {
    const url = await serve('application/json', '{}')
    await expect(checkedFetch(`${url}/api/runs`)).rejects.toThrow(AnswerMiss)
  })

  it('fails the reader of a stream at the first frame that is not', async () => {
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
