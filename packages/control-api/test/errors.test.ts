/** Every error code: its request, its status and its message. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { TuttiError } from '@tutti/core'
import { decode, ERROR_CODES, ErrorBody, type ErrorCode } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { eventsOf, type TestServer, type TestServerOptions } from './open-server.ts'
import { exchange, head } from './raw-exchange.ts'
import { openRecordedServer } from './recorded-server.ts'

const GOOD = { inputs: { topic: 'AI' } }

const DAILY = { name: 'mine', cron: '@daily', run: GOOD }

/** A request that returns an error code. */
interface Answered {
  readonly with?: TestServerOptions
  readonly request: (api: TestServer) => Promise<Response>
  readonly message: string | RegExp
  readonly retryAfterMs?: number
}

/** A code that another file tests, or that this server never returns. */
interface Elsewhere {
  readonly file: string | undefined
  readonly why?: string
}

const post =
  (body: unknown, headers: Record<string, string> = {}, path = '/api/runs') =>
  (api: TestServer) =>
    api.post(path, body, headers)

const get =
  (path: string, init: RequestInit = {}) =>
  (api: TestServer) =>
    api.get(path, init)

const task = (fields: object) => ({ tasks: [{ name: 'a', description: 'A', ...fields }] })

/** Starts a server with the key `secret` and `settings`. */
const keyed = (settings: object): TestServerOptions => ({
  apiKeys: [
    { name: 'ci', sha256: createHash('sha256').update('secret').digest('hex'), ...settings },
  ],
})

const SECRET = { authorization: 'Bearer secret' }

async function runToEnd(api: TestServer): Promise<string> {
  const { runId } = (await (await api.post('/api/runs', GOOD)).json()) as { runId: string }
  await eventsOf(await api.get(`/api/runs/${runId}/events`))
  return runId
}

const TABLE: Readonly<Record<ErrorCode, Answered | Elsewhere>> = {
  BAD_REQUEST: {
    request: post({ input: {} }),
    message: /^Invalid request body: \/input .*"inputs"/,
  },
  INVALID_TOOL: {
    request: post(task({ tools: ['foobar'] })),
    message: "Unknown tool 'foobar'. Available: [search, calculator]",
  },
  INVALID_MODEL: {
    request: post(task({ model: 'gpt-4' })),
    message: "Unknown model 'gpt-4'. Available: [main, opus]",
  },
  INVALID_TASK_OVERRIDE: {
    request: post({ ...GOOD, taskOverrides: { foobar: {} } }),
    message: "No task matching 'foobar'. Available: [researcher, writer]",
  },
  CIRCULAR_DEPENDENCY: {
    request: post(task({ context: ['$0'] })),
    message: 'Tasks form a cycle: a → a',
  },
  INVALID_ENSEMBLE: {
    request: post({ ensemble: 'duo' }),
    message: "Unknown ensemble 'duo'. Available: [studio, archive]",
  },
  INVALID_WEBHOOK: {
    request: post({ ...GOOD, webhooks: ['crm', 'erp'] }),
    message: "Unknown webhook 'crm', 'erp'. Available: []",
  },
  UNAUTHORIZED: { with: keyed({}), request: post(GOOD), message: /^A key is required/ },
  FORBIDDEN: {
    with: keyed({ scopes: ['runs:read'] }),
    request: post(GOOD, SECRET),
    message: 'Key "ci" lacks the scope runs:write; it has: runs:read',
  },
  ORIGIN_NOT_ALLOWED: {
    request: post(GOOD, { origin: 'https://evil.example' }),
    message: 'Origin "https://evil.example" is not allowed; allowedOrigins adds origins',
  },
  HOST_NOT_ALLOWED: { file: 'guard.test.ts' },
  NOT_FOUND: {
    request: get('/api/nothing'),
    message: 'No route matches GET /api/nothing; GET /docs lists all routes',
  },
  RUN_NOT_FOUND: { request: get('/api/runs/run-none'), message: 'No run with ID run-none' },
  THREAD_NOT_FOUND: {
    request: post({ ...GOOD, threadId: 'thread-none' }),
    message: 'No thread with ID thread-none',
  },
  THREAD_EXISTS: {
    async request(api) {
      await api.post('/api/threads', { threadId: 'mine', title: 'One' })
      return api.post('/api/threads', { threadId: 'mine', title: 'Two' })
    },
    message: 'Thread mine already exists with another title or other tags',
  },
  THREAD_BUSY: { file: 'threads.test.ts' },
  SCHEDULE_NOT_FOUND: {
    request: get('/api/schedules/none'),
    message: 'No schedule named "none"',
  },
  SCHEDULE_EXISTS: {
    async request(api) {
      await api.post('/api/schedules', DAILY)
      return api.post('/api/schedules', DAILY)
    },
    message: 'A schedule named "mine" already exists',
  },
  SCHEDULE_READ_ONLY: {
    with: { limits: { schedules: [DAILY] } },
    request: post({ cron: '@hourly', run: GOOD }, {}, '/api/schedules/mine'),
    message: 'Schedule "mine" is defined by the configuration of the server: change it there',
  },
  SCHEDULE_LIMIT: { file: '../../runs/test/schedules.test.ts' },
  BUILD_NOT_FOUND: {
    request: post({ share: 5 }, {}, '/api/builds/v9/share'),
    message: 'No build with ID v9',
  },
  REVIEW_NOT_FOUND: {
    request: post({ decision: 'CONTINUE' }, {}, '/api/reviews/rev-1'),
    message: 'No review has the id "rev-1"',
  },
  TOOL_NOT_FOUND: { file: 'tools.test.ts' },
  METHOD_NOT_ALLOWED: {
    request: get('/api/runs', { method: 'PUT' }),
    message: /^\/api\/runs allows .*, got PUT$/,
  },
  NOT_ACCEPTABLE: {
    request: get('/api/runs', { headers: { accept: 'image/png' } }),
    message: 'Accept must allow application/json, got "image/png"',
  },
  REQUEST_TIMEOUT: { file: 'security-limits.test.ts' },
  RUN_COMPLETED: {
    request: async (api) => api.post(`/api/runs/${await runToEnd(api)}/cancel`, {}),
    message: /^Run run-\w+ already completed with status COMPLETED$/,
  },
  ENSEMBLE_UNAVAILABLE: { file: 'undeployed.test.ts' },
  RUN_NOT_RUNNING: { file: 'errors.test.ts', why: 'It is an answer of the WebSocket, below' },
  RUN_EXISTS: {
    async request(api) {
      await api.post('/api/runs', { ...GOOD, runId: 'mine' })
      return api.post('/api/runs', { ...GOOD, runId: 'mine' })
    },
    message: /mine/,
  },
  SIDE_EFFECTS: { file: 'forks.test.ts' },
  RUN_NOT_REPLAYABLE: { file: 'replays.test.ts' },
  STEPS_NOT_RETAINED: { file: 'forks.test.ts' },
  REVIEW_RESOLVED: { file: 'reviews.test.ts' },
  EVENT_REFUSED: { file: 'external-events.test.ts' },
  EVENTS_FULL: { file: 'external-events.test.ts' },
  IDEMPOTENCY_CONFLICT: {
    async request(api) {
      await api.post('/api/runs', GOOD, { 'idempotency-key': 'order-7' })
      return api.post('/api/runs', { inputs: { topic: 'B' } }, { 'idempotency-key': 'order-7' })
    },
    message: /"order-7"/,
  },
  CURSOR_PAST_END: {
    request: async (api) => api.get(`/api/runs/${await runToEnd(api)}/events?from=999`),
    message: /has events up to \d+; cannot begin at 999$/,
  },
  PAYLOAD_TOO_LARGE: {
    with: { maxBodyBytes: 2_000 },
    request: post({ inputs: { topic: 'A'.repeat(3_000) } }),
    message: 'Request body must be at most 2000 bytes',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    request: post(JSON.stringify(GOOD), { 'content-type': 'text/csv' }),
    message: 'Content-Type must be application/json, got "text/csv"',
  },
  SPEND_LIMIT: {
    with: keyed({ limits: { maxCostUsdPerDay: 0 } }),
    request: post(GOOD, SECRET),
    message: /\b0\b/,
  },
  HEADERS_TOO_LARGE: { file: 'security-limits.test.ts' },
  CONCURRENCY_LIMIT: {
    with: { limits: { maxConcurrentRuns: 1, maxQueuedRuns: 0 } },
    async request(api) {
      await api.post('/api/runs', { ...GOOD, options: { reviewPolicy: 'AFTER_EVERY_TASK' } })
      return api.post('/api/runs', GOOD)
    },
    message: /Retry later/,
    retryAfterMs: 5_000,
  },
  RATE_LIMITED: { file: 'security-access.test.ts' },
  INTERNAL: {
    async request(api) {
      api.runs.get = () => Promise.reject(new TypeError('A secret of ours'))
      return api.get('/api/runs/mine')
    },
    message: /^Internal server error; the server log has the cause under [\w-]{36}$/,
  },
  TOOL_EXECUTION_FAILED: { file: 'tools.test.ts' },
  NOT_CONFIGURED: {
    with: { limits: { tools: undefined } as TestServerOptions['limits'] & object },
    request: post(task({ tools: ['search'] })),
    message: "This server offers no tools, got 'search'",
  },
  DRAINING: {
    async request(api) {
      await api.runs.close({ drainTimeoutMs: 0 })
      return api.post('/api/runs', GOOD)
    },
    message: 'This server is shutting down and does not accept new runs',
    retryAfterMs: 5_000,
  },
  STORE_UNAVAILABLE: { file: 'store-lost.test.ts' },
  OVERLOADED: { file: 'overload.test.ts' },
  QUERY_TOO_SLOW: {
    request(api) {
      api.runs.list = () => Promise.reject(new TuttiError('QUERY_TOO_SLOW', 'Reading took long'))
      return api.get('/api/runs')
    },
    message: 'Reading took long',
    retryAfterMs: 5_000,
  },
  NOT_CONFIRMED: {
    async request(api) {
      const runId = await runToEnd(api)
      api.runs.delete = async () => 'unfinished'
      return api.get(`/api/runs/${runId}`, { method: 'DELETE' })
    },
    message: /is being cancelled but has not stopped within 10000 ms; retry the deletion$/,
  },
}

const answered = Object.entries(TABLE).flatMap(([code, entry]) =>
  'request' in entry ? [{ code: code as ErrorCode, ...entry }] : [],
)
const elsewhere = Object.entries(TABLE).flatMap(([code, entry]) =>
  'file' in entry ? [{ code, ...entry }] : [],
)

describe('error code', () => {
  it.each(answered)('$code has its status, message and form', async (entry) => {
    const { code, request, message, retryAfterMs } = entry
    await using api = await openRecordedServer(entry.with)
    const response = await request(api)
    const body = (await response.json()) as ErrorBody
    expect([response.status, body.error]).toEqual([ERROR_CODES[code].status, code])
    expect(decode(ErrorBody, body)).toMatchObject({ ok: true })
    if (typeof message === 'string') expect(body.message).toBe(message)
    else expect(body.message).toMatch(message)
    expect(body.message).toMatch(/^\S.*\S$/)
    expect(body.retryAfterMs).toBe(retryAfterMs)
    const retryAfter = retryAfterMs === undefined ? null : String(retryAfterMs / 1_000)
    expect(response.headers.get('retry-after')).toBe(retryAfter)
    expect(api.errors).toEqual(code === 'INTERNAL' ? ['Request failed'] : [])
    expect(JSON.stringify(body)).not.toContain('secret of ours')
  })

  it.each(elsewhere)('$code is tested in $file', ({ code, file, why }) => {
    if (file === undefined) {
      expect(why).toMatch(/\w/)
      return
    }
    expect(readFileSync(join(import.meta.dirname, file), 'utf8')).toContain(code)
  })
})

describe('a path', () => {
  it.each(['/chat/completions', '/responses', '/models'])(
    'A path without the /v1 of OpenAI clients is refused with a hint: %s',
    async (path) => {
      await using api = await openRecordedServer()
      const response = await api.post(path, {})
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({
        message: `No route matches POST ${path}. Did you mean /v1${path}? The base URL of OpenAI clients ends with /v1`,
      })
    },
  )

  it.each([
    ['/api/runs/', 308, '/api/runs'],
    ['/api/runs/?limit=1&tag=a%2Fb', 308, '/api/runs?limit=1&tag=a%2Fb'],
    ['/api/runs/run-1/cancel/', 308, '/api/runs/run-1/cancel'],
    ['/api/runs//', 404, undefined],
    ['//evil.example/', 404, undefined],
    ['/api/nothing/', 404, undefined],
    ['/docs/', 404, undefined],
  ])(
    'A path with a slash at its end is redirected if it is of the API: %s',
    async (path, status, to) => {
      await using api = await openRecordedServer()
      for (const method of ['GET', 'POST']) {
        const line = head(`${method} ${path} HTTP/1.1`, 'Content-Length: 0')
        const [answer] = await exchange(api.url, line)
        expect([answer?.status, answer?.headers['location']]).toEqual([status, to])
      }
    },
  )
})

describe('over WebSocket', () => {
  it.each([
    ['RUN_NOT_RUNNING', { content: 'x' }, 'No run is active'],
    ['BAD_REQUEST', { action: 'SET_MODEL_TEIR', value: 'FALLBACK' }, /SET_MODEL_TIER/],
  ])(
    'The server refuses a directive over WebSocket with %s and its reason',
    async (_, directive, message) => {
      await using api = await openRecordedServer()
      await using socket = api.connect()
      await socket.next('hello')
      socket.send({ type: 'directive', ...directive })
      const answer = await Promise.race([socket.next('directive_ack'), socket.next('error')])
      expect(answer).toMatchObject({ message: expect.stringMatching(message) })
      expect(api.errors).toEqual([])
    },
  )
})
