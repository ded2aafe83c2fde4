/**
 * Scopes that each route and each message requires, for the caller's own run, for the run of another caller, and for an
 * unknown run. The rows are compared with the tables of routes and messages, so a new one without a row fails.
 *
 * A row is tested with a key that has exactly its scopes, and with one key per scope that has all others.
 */
import { apiKey } from '@tutti/control-api'
import { ensemble, task } from '@tutti/ensemble'
import { gatewayRoutes } from '@tutti/gateway/internal'
import { ROUTES, type ClientMessage, type RouteName, type Scope } from '@tutti/protocol'
import { CLIENT_MESSAGE_TYPES } from '@tutti/protocol/internal'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { jamJet } from '../../compat-jamjet/src/index.ts'
import { openGateway } from '../../gateway/test/open-gateway.ts'
import { openServer, type TestServer } from './open-server.ts'

const SCOPES = [
  'runs:read',
  'runs:write',
  'runs:control',
  'reviews:decide',
  'events:send',
  'tools:invoke',
] as const
const [READ, WRITE, CONTROL, DECIDE, SEND, INVOKE] = SCOPES

/** Scopes that a caller needs. */
interface Row {
  readonly own: readonly Scope[]
  /** For the run of another caller. @default as for its own */
  readonly foreign?: readonly Scope[]
  /** For an id that does not exist. @default as for its own */
  readonly unknown?: readonly Scope[]
  /** Scope that replaces `runs:write` for its own. @default none */
  readonly orElse?: Scope
  /** Requests, each with these rights. @default one without a body */
  readonly bodies?: readonly ((things: Things) => object)[]
  /** Query of the request. */
  readonly query?: (things: Things) => string
  /** Path that replaces that of the route. */
  readonly path?: (things: Things) => string
  /** Whether requests with the scopes are not sent, because the server could not answer others after them. */
  readonly isFinal?: true
}

/** Ids of the objects of one caller. */
interface Things {
  readonly runId: string
  readonly threadId: string
  /** Run that waits for the result of a client tool. */
  readonly askingId: string
  /** Review of a client tool. */
  readonly reviewId: string
}

const needs = (...own: readonly Scope[]): Row => ({ own })

const RUN_BODY = { ensemble: 'echo', inputs: { what: 'x' } }

/** Scopes of a response to the run of another caller, and of data derived from it. */
const DERIVED = { own: [WRITE], foreign: [READ, WRITE] } as const

const REST = {
  getStatus: needs(READ),
  getLiveness: needs(),
  getReadiness: needs(),
  getMetrics: needs(READ),
  drain: { own: ['admin'], isFinal: true },
  listWorkspaceFiles: needs(READ),
  readWorkspaceFile: needs(READ),
  submitRun: { ...DERIVED, bodies: [({ threadId }) => ({ ...RUN_BODY, threadId })] },
  listRuns: needs(READ),
  compareRuns: { own: [READ], query: ({ runId }) => `?a=${runId}&b=${runId}` },
  getRun: needs(READ),
  deleteRun: needs(CONTROL),
  createThread: {
    ...DERIVED,
    bodies: [
      ({ threadId }) => ({ threadId, tags: { about: 'x' } }),
      ({ threadId }) => ({ threadId, tags: { about: 'guess' } }),
    ],
  },
  listThreads: needs(READ),
  getThread: needs(READ),
  deleteThread: needs(CONTROL),
  listThreadRuns: needs(READ),
  createSchedule: {
    ...DERIVED,
    bodies: [
      ({ threadId }) => ({
        name: 'a',
        cron: '@yearly',
        run: { ensemble: 'echo', inputs: { what: 'x' }, threadId },
      }),
    ],
  },
  listSchedules: needs(READ),
  getSchedule: needs(READ),
  replaceSchedule: {
    own: [WRITE, CONTROL],
    bodies: [() => ({ cron: '@yearly', run: { ensemble: 'echo', inputs: { what: 'x' } } })],
  },
  deleteSchedule: needs(CONTROL),
  pauseSchedule: needs(CONTROL),
  resumeSchedule: needs(CONTROL),
  runSchedule: needs(WRITE),
  cancelRun: needs(CONTROL),
  cancelRuns: { own: [CONTROL], bodies: [() => ({ tag: 'none' })] },
  forkRun: { ...DERIVED, bodies: [() => ({ at: 1 }), () => ({ at: 1, preview: true })] },
  replayRun: { ...DERIVED, bodies: [() => ({ mode: 'frozen' }), () => ({ mode: 'models' })] },
  migrateRun: { own: [CONTROL], bodies: [() => ({ preview: true })] },
  listBuilds: needs(READ),
  setBuildShare: { own: ['admin'], bodies: [() => ({ share: 1 })] },
  getRunTrace: needs(READ),
  getRunDag: needs(READ),
  switchModel: { own: [CONTROL], bodies: [() => ({ model: 'small' })] },
  injectDirective: { own: [CONTROL], bodies: [() => ({ content: 'x' })] },
  streamRunEvents: needs(READ),
  listReviews: { own: [READ], query: ({ runId }) => `?runId=${runId}` },
  decideReview: {
    own: [WRITE],
    foreign: [CONTROL],
    unknown: [DECIDE],
    orElse: CONTROL,
    bodies: [() => ({ decision: 'EDIT', revisedOutput: 'x' })],
  },
  sendEvent: { own: [SEND], bodies: [() => ({ key: 'k' }), () => ({ runId: 'none' })] },
  createEventLink: { own: [SEND], bodies: [() => ({ key: 'k' })] },
  sendLinkedEvent: needs(),
  getCapabilities: needs(READ),
  invokeTool: { own: [INVOKE], bodies: [() => ({ input: {} })] },
  createTicket: needs(READ),
  getIdentity: needs(READ),
  listAudit: needs('admin'),
  getOpenApi: needs(),
  getAsyncApi: needs(),
  getDocs: needs(),
  getDocsScript: needs(),
  openSocket: needs(READ),
  openRunSocket: needs(READ),
  listRunWorkspaceFiles: needs(READ),
  readRunWorkspaceFile: needs(READ),
} as const satisfies Record<RouteName, Row>

/** Sends a message of A2A by JSON-RPC. */
const rpc =
  (method: string, params: (things: Things) => object) =>
  (things: Things): object => ({ jsonrpc: '2.0', id: 1, method, params: params(things) })

const A2A_MESSAGE = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] }

const A2A_READS = [
  rpc('GetTask', ({ runId }) => ({ id: runId })),
  rpc('SubscribeToTask', ({ runId }) => ({ id: runId })),
  rpc('ListTasks', () => ({ pageSize: 1 })),
]

const MCP_READS = [
  rpc('resources/read', ({ runId }) => ({ uri: `tutti://runs/${runId}` })),
  rpc('resources/read', ({ runId }) => ({ uri: `tutti://runs/${runId}/output` })),
  rpc('resources/list', () => ({})),
]

const AGUI = { messages: [], tools: [], context: [], state: {}, forwardedProps: {}, threadId: 't' }

const text = (message: string) => ({ parts: [{ type: 'text', text: message }] })

const a2aReads = { own: [READ], bodies: A2A_READS } as const

/** Routes of one agent, which are also those of each ensemble below `/agents/{ensemble}`. */
const AGENT: Readonly<Record<string, Row>> = {
  'GET /.well-known/agent-card.json': needs(),
  'GET /.well-known/agent.json': needs(),
  'POST /a2a': a2aReads,
  'POST /a2a/': a2aReads,
  'POST /': a2aReads,
  'GET /a2a/v1/{first}': { own: [READ], path: () => '/a2a/v1/tasks' },
  'POST /a2a/v1/{first}': {
    own: [READ, WRITE],
    path: () => '/a2a/v1/message:send',
    bodies: [() => ({ message: A2A_MESSAGE })],
  },
  'GET /a2a/v1/{first}/{second}': { own: [READ], path: ({ runId }) => `/a2a/v1/tasks/${runId}` },
  'POST /a2a/v1/{first}/{second}': {
    own: [READ, CONTROL],
    unknown: [READ],
    path: ({ runId }) => `/a2a/v1/tasks/${runId}:cancel`,
    bodies: [() => ({})],
  },
  'GET /a2a/v1/{first}/{second}/{third}': needs(READ),
  'POST /a2a/v1/{first}/{second}/{third}': needs(READ),
  'GET /a2a/v1/{first}/{second}/{third}/{fourth}': needs(READ),
  'DELETE /a2a/v1/{first}/{second}/{third}/{fourth}': needs(READ),
  'POST /tasks/send': { ...DERIVED, bodies: [({ runId }) => ({ params: { id: runId } })] },
  'POST /tasks/sendSubscribe': { ...DERIVED, bodies: [({ runId }) => ({ params: { id: runId } })] },
  'POST /tasks/cancel': { own: [CONTROL], bodies: [({ runId }) => ({ params: { id: runId } })] },
}

const PROTOCOLS: Readonly<Record<string, Row>> = {
  ...AGENT,
  ...Object.fromEntries(
    Object.entries(AGENT).map(([name, row]) => {
      const { path } = row
      const below = name.replace(' ', ' /agents/{ensemble}')
      const moved = path === undefined ? {} : { path: (of: Things) => `/agents/echo${path(of)}` }
      return [below, { ...row, ...moved }]
    }),
  ),
  'POST /agents/{ensemble}': a2aReads,
  'POST /agui/{ensemble}': {
    own: [READ],
    unknown: [READ, WRITE],
    bodies: [({ runId }) => ({ ...AGUI, runId })],
  },
  'POST /api/chat': {
    own: [WRITE],
    bodies: [({ threadId: id }) => ({ id, messages: [{ id: 'm', role: 'user', ...text('x') }] })],
  },
  'GET /api/chat/{chatId}/stream': needs(READ),
  'POST /api/chat/{chatId}/stop': needs(CONTROL),
  'POST /v1/chat/completions': {
    own: [WRITE],
    bodies: [() => ({ model: 'echo', messages: [{ role: 'user', content: 'x' }] })],
  },
  'GET /v1/models': needs(READ),
  'GET /v1/models/{name}': needs(READ),
  'POST /v1/conversations': { own: [WRITE], bodies: [() => ({})] },
  'GET /v1/conversations/{id}': needs(READ),
  'POST /v1/conversations/{id}': { own: [CONTROL], bodies: [() => ({ metadata: { about: 'x' } })] },
  'DELETE /v1/conversations/{id}': needs(CONTROL),
  'GET /v1/conversations/{id}/items': needs(READ),
  'GET /v1/conversations/{id}/items/{item}': needs(READ),
  'POST /v1/responses': {
    ...DERIVED,
    bodies: [
      ({ runId }) => ({ model: 'echo', input: 'x', previous_response_id: `resp_${runId}` }),
      ({ threadId }) => ({ model: 'echo', input: 'x', conversation: `conv_${threadId}` }),
      ({ runId }) => ({
        model: 'echo',
        input: [
          { type: 'item_reference', id: `msg_${runId}_0_0` },
          { role: 'user', content: 'x' },
        ],
      }),
    ],
  },
  'GET /v1/responses/{id}': needs(READ),
  'DELETE /v1/responses/{id}': needs(CONTROL),
  'POST /v1/responses/{id}/cancel': { own: [CONTROL], foreign: [READ, CONTROL] },
  'GET /v1/responses/{id}/input_items': needs(READ),
  'POST /mcp': { own: [READ], bodies: MCP_READS },
  'GET /mcp': needs(READ),
  'DELETE /mcp': needs(READ),
}

/** Requests whose rights differ from those of the other requests of their route. */
const VARIANTS: Readonly<Record<string, Row>> = {
  'POST /a2a (SendMessage)': {
    own: [READ, WRITE],
    bodies: [rpc('SendMessage', () => ({ message: A2A_MESSAGE }))],
  },
  'POST /a2a (CancelTask)': {
    own: [READ, CONTROL],
    unknown: [READ],
    bodies: [rpc('CancelTask', ({ runId }) => ({ id: runId }))],
  },
  'POST /agui/{ensemble} (onDisconnect=cancel)': {
    own: [READ],
    foreign: [READ, CONTROL],
    unknown: [READ, WRITE],
    query: () => '?onDisconnect=cancel',
    bodies: [({ runId }) => ({ ...AGUI, runId })],
  },
  'POST /tasks/send (result of a client tool)': {
    own: [WRITE],
    foreign: [READ, WRITE, CONTROL],
    bodies: [
      ({ askingId }) => ({ params: { message: { taskId: askingId, role: 'user', ...text('x') } } }),
    ],
  },
  'POST /tasks/send (guidance)': {
    own: [WRITE, CONTROL],
    foreign: [READ, WRITE, CONTROL],
    unknown: [WRITE],
    bodies: [
      ({ runId }) => ({ params: { message: { taskId: runId, role: 'user', ...text('x') } } }),
    ],
  },
  'POST /api/reviews/{reviewId} (of a person)': {
    own: [DECIDE],
    path: () => '/api/reviews/none',
    bodies: [() => ({ decision: 'CONTINUE' })],
  },
}

const EDIT = { decision: 'EDIT', revisedOutput: 'x' }

/** Returns the row of a message that answers the call of a client tool. */
function ofReview(body: (things: Things) => object): Row {
  return {
    own: [READ, WRITE],
    foreign: [READ, CONTROL],
    unknown: [READ, DECIDE],
    orElse: CONTROL,
    bodies: [body],
  }
}

/** A message over a WebSocket, which `runs:read` opens. */
const MESSAGES: Readonly<Record<ClientMessage['type'], Row>> = {
  ping: needs(READ),
  subscribe: {
    own: [READ],
    bodies: [({ runId }) => ({ type: 'subscribe', events: ['*'], runId, from: 0 })],
  },
  state_query: {
    own: [READ],
    bodies: [
      ({ runId }) => ({ type: 'state_query', requestId: '1', query: 'run', runId }),
      ({ runId: a }) => ({
        type: 'state_query',
        requestId: '1',
        query: 'comparison',
        compare: { a, b: a },
      }),
    ],
  },
  capability_query: {
    own: [READ],
    bodies: [() => ({ type: 'capability_query', requestId: '1' })],
  },
  run_request: {
    own: [READ, WRITE],
    bodies: [({ threadId }) => ({ type: 'run_request', ...RUN_BODY, threadId })],
  },
  run_fork: {
    own: [READ, WRITE],
    bodies: [({ runId: parentRunId }) => ({ type: 'run_fork', parentRunId, at: 1 })],
  },
  run_replay: {
    own: [READ, WRITE],
    bodies: [({ runId: parentRunId }) => ({ type: 'run_replay', parentRunId, mode: 'frozen' })],
  },
  run_migrate: {
    own: [READ, CONTROL],
    bodies: [({ runId }) => ({ type: 'run_migrate', runId, preview: true })],
  },
  command: {
    own: [READ, CONTROL],
    bodies: [
      ({ runId: target }) => ({ type: 'command', requestId: '1', command: 'cancel', target }),
    ],
  },
  run_control: {
    own: [READ, CONTROL],
    bodies: [({ runId }) => ({ type: 'run_control', runId, action: 'cancel' })],
  },
  directive: {
    own: [READ, CONTROL],
    bodies: [({ runId }) => ({ type: 'directive', runId, content: 'x' })],
  },
  review_decision: ofReview(({ reviewId }) => ({ type: 'review_decision', reviewId, ...EDIT })),
  task_request: {
    own: [READ, WRITE],
    bodies: [() => ({ type: 'task_request', requestId: '1', from: 'x', task: 'echo' })],
  },
  tool_request: {
    own: [READ, INVOKE],
    bodies: [() => ({ type: 'tool_request', requestId: '1', from: 'x', tool: 'wait' })],
  },
}

/** Messages whose scopes depend on more than their type. */
const MESSAGE_VARIANTS: Readonly<Record<string, Row>> = {
  'command (of a review)': ofReview(({ reviewId: target }) => ({
    type: 'command',
    requestId: '1',
    command: 'decide',
    target,
    body: EDIT,
  })),
}

await using parts = await openGateway()
const GATEWAY = [
  ...gatewayRoutes(parts.options, {
    signer: { signingKey: () => Buffer.alloc(32) },
    reader: { detail: () => Promise.reject(new Error('unused')) },
  }),
  ...(jamJet().routes?.(parts.options) ?? []),
]

const addressOf = ({ method, path }: { readonly method: string; readonly path: string }): string =>
  `${method} ${path}`

it('Every route of every protocol and every message has a row', () => {
  expect(Object.keys(REST).toSorted()).toEqual(Object.keys(ROUTES).toSorted())
  expect(Object.keys(PROTOCOLS).toSorted()).toEqual(GATEWAY.map(addressOf).toSorted())
  expect(Object.keys(MESSAGES).toSorted()).toEqual(CLIENT_MESSAGE_TYPES.toSorted())
})

const ROWS: readonly (readonly [string, Row])[] = [
  ...Object.entries(REST).flatMap(([name, row]) => {
    // NOTE: `REST` has the names of routes.
    const address = addressOf(ROUTES[name as RouteName])
    return address.endsWith('/ws') ? [] : ([[address, row]] as const)
  }),
  ...Object.entries(PROTOCOLS),
  ...Object.entries(VARIANTS),
]

const KINDS = ['own', 'foreign', 'unknown'] as const
type Kind = (typeof KINDS)[number]

/** Name of the key with some scopes. */
const keyName = (scopes: readonly Scope[]): string => `key of ${[...scopes].toSorted().join(' ')}`
const secretOf = (scopes: readonly Scope[]): string => keyName(scopes).replaceAll(/\W/g, '-')

const without = (scope: Scope): readonly Scope[] => SCOPES.filter((other) => other !== scope)

/** Every set of scopes of a key. */
const KEYS: readonly (readonly Scope[])[] = [
  ...new Map(
    [...Object.values(MESSAGES), ...ROWS.map(([, row]) => row)]
      .flatMap((row) => KINDS.flatMap((kind) => keysOf(row, kind)))
      .map(([scopes]) => [keyName(scopes), scopes] as const),
  ).values(),
]

const UNKNOWN: Things = {
  runId: 'run-none',
  threadId: 'thread-none',
  askingId: 'run-none',
  reviewId: 'none',
}

let api: TestServer

beforeAll(async () => {
  const model = scriptedModel(
    ({ tools }) => (tools.length === 0 ? 'ok' : { toolCalls: [{ name: 'ask', arguments: {} }] }),
    { maxRequests: 0 },
  )
  const echo = ensemble({
    name: 'echo',
    model,
    tasks: [task({ name: 'one', description: 'Do {what}' })],
  })
  api = await openServer({
    ensembles: [echo],
    apiKeys: KEYS.map((scopes) => apiKey(secretOf(scopes), { name: keyName(scopes), scopes })),
  })
  // A tool call would wait for the test.
  api.play()
})

afterAll(async () => {
  for (const { runId } of await api.runs.reviews.open()) {
    await api.runs.send(runId, { kind: 'cancel' }).catch(() => undefined)
  }
  await api[Symbol.asyncDispose]()
})

const CLIENT_TOOL = { name: 'ask', description: 'Asks', inputSchema: { type: 'object' } }

const known = new Map<string, Promise<Things>>()

/** Returns the objects of a caller: an ended run in a thread, and a review of a client tool. */
async function createThings(actor: string): Promise<Things> {
  const { thread } = await api.runs.threads.create({ tags: { about: 'x' }, actor })
  const { threadId } = thread
  const run = { ensemble: 'echo', inputs: { what: 'x' }, actor }
  const memo = { openaiResponses: { model: 'echo', input: 'x' }, openaiQuestion: 'x' }
  const ended = await api.runs.submit({ ...run, threadId, memo })
  const asking = await api.runs.submit({ ...run, clientTools: [CLIENT_TOOL] })
  const open = () => api.runs.reviews.open({ runId: asking.runId })
  await expect.poll(async () => (await open()).length, POLL).toBe(1)
  const statusOf = async () => (await api.runs.record(ended.runId))?.status
  await expect.poll(statusOf, POLL).toBe('COMPLETED')
  const [review] = await open()
  return {
    runId: ended.runId,
    threadId,
    askingId: asking.runId,
    reviewId: review?.reviewId ?? '',
  }
}

const POLL = { timeout: 60_000 }

/** Some requests consume the objects, so that each of these has its own. */
function findThings(kind: Kind, scopes: readonly Scope[], address: string): Promise<Things> {
  if (kind === 'unknown') return Promise.resolve(UNKNOWN)
  const actor = kind === 'own' ? keyName(scopes) : 'another caller'
  const isConsuming = /^DELETE|result of/.test(address)
  const about = isConsuming ? `${actor} ${address}` : actor
  const things = known.get(about) ?? createThings(actor)
  known.set(about, things)
  return things
}

const REFUSED = /lacks the scope ([\w:]+)/

/** Returns the scopes of a row for a kind of run. */
function scopesOf({ own, foreign = own, unknown = own }: Row, kind: Kind): readonly Scope[] {
  return { own, foreign, unknown }[kind]
}

/** Returns the keys of a row, with the scope that each lacks. */
function keysOf(row: Row, kind: Kind): readonly (readonly [readonly Scope[], Scope | undefined])[] {
  const needed = scopesOf(row, kind)
  if (needed.length === 0) return []
  const isUsable = (scope: Scope): boolean => scope !== row.orElse || needed.includes(scope)
  const lacking = needed.map((scope) => [without(scope).filter(isUsable), scope] as const)
  return row.isFinal === true ? lacking : [[needed, undefined], ...lacking]
}

describe.each(KINDS)('with an id of a run that is %s', (kind) => {
  it.each(ROWS)(
    '[GW-A4] [GW-A7] [GW-A8] %s requires its scopes, and no others',
    async (address, row) => {
      for (const [scopes, lacking] of keysOf(row, kind)) {
        const things = await findThings(kind, scopes, address)
        for (const body of row.bodies ?? [undefined]) {
          const answer = await send(address, row, { scopes, things, body: body?.(things) })
          expect([answer.status, answer.text]).not.toContain(401)
          expect([body?.(things), answer.text, REFUSED.exec(answer.text)?.[1]]).toEqual([
            body?.(things),
            answer.text,
            lacking,
          ])
        }
      }
    },
  )

  it.each(Object.entries({ ...MESSAGES, ...MESSAGE_VARIANTS }))(
    'The message %s requires its scopes, and no others',
    async (type, row) => {
      for (const [scopes, lacking] of keysOf(row, kind)) {
        const things = await findThings(kind, scopes, type)
        await using socket = api.connect('/ws?snapshot=none', {
          authorization: `Bearer ${secretOf(scopes)}`,
        })
        if (lacking === READ) {
          expect(await socket.refused()).toBe(403)
          continue
        }
        await socket.next('hello')
        for (const body of row.bodies ?? [() => ({ type })]) socket.send(body(things))
        socket.send({ type: 'ping' })
        await socket.next('pong')
        expect(REFUSED.exec(JSON.stringify(socket.received))?.[1]).toBe(lacking)
      }
    },
  )
})

interface Sent {
  readonly scopes: readonly Scope[]
  readonly things: Things
  readonly body: object | undefined
}

async function send(
  address: string,
  row: Row,
  { scopes, things, body }: Sent,
): Promise<{ readonly status: number; readonly text: string }> {
  const [method = '', template = ''] = address.split(' ')
  const { runId, threadId, reviewId } = things
  const isConversation = template.startsWith('/v1/conversations')
  const path =
    row.path?.(things) ??
    template
      .replace('{runId}', runId)
      .replace('{threadId}', threadId)
      .replace('{chatId}', threadId)
      .replace('{reviewId}', reviewId)
      .replace('{ensemble}', 'echo')
      .replace('{id}', isConversation ? `conv_${threadId}` : `resp_${runId}`)
      .replaceAll(/\{\w+\}/g, 'wait')
  const gone = new AbortController()
  const response = await fetch(`${api.url}${path}${row.query?.(things) ?? ''}`, {
    method,
    headers: {
      authorization: `Bearer ${secretOf(scopes)}`,
      accept: path === '/mcp' ? 'application/json, text/event-stream' : '*/*',
      ...(path.includes('a2a') ? { 'a2a-version': '1.0' } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(path === '/mcp' ? { 'mcp-protocol-version': '2025-11-25' } : {}),
    },
    signal: gone.signal,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const { status } = response
  // A stream of an unfinished run would not end.
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  const isLive = isStream && path !== '/mcp'
  const text = isLive ? '' : await response.text()
  if (isLive) gone.abort()
  return { status, text }
}
