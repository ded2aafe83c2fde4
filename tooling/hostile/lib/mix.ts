/** The requests of a hostile caller: the largest and most expensive ones that the limits allow. */
import type { HostileConnection, HostileRequest } from './connection.ts'

/** Runs that requests read, fork, replay and compare. */
export interface KnownRuns {
  /** Runs with long outputs. */
  readonly loud: readonly string[]
}

/** Names of the kinds of requests; `socket` is a WebSocket with many. */
export type Kind = keyof typeof REQUESTS | 'socket'

/** Size of the largest input, in bytes. A body has at most 1,000,000. */
const LARGEST = 980_000

const INPUT = 'x'.repeat(LARGEST)
const INPUT_JSON = JSON.stringify(INPUT)
const SUBMISSION = JSON.stringify({ ensemble: 'echo', inputs: { topic: INPUT } })

/** Maximum number of tasks of a request. */
const TASKS = 1_000

/** Builds a submission with as many tasks as a request may have. */
const submitTasks = (toTask: (index: number) => object): HostileRequest => ({
  method: 'POST',
  path: '/api/runs',
  body: JSON.stringify({
    options: { workflow: 'PARALLEL' },
    tasks: Array.from({ length: TASKS }, (_, index) => ({
      name: `t${index}`,
      description: 'Repeat it',
      ...toTask(index),
    })),
  }),
})

/** All conditions of a request have at most 100,000 characters. */
const CONDITION = "outputs.t0.contains('x') || outputs.t0 == 'y' || outputs.t0.size() > 40"

const CONDITIONS = submitTasks((index) => (index === 0 ? {} : { when: CONDITION }))

const SWITCHES = submitTasks((index) => ({
  switch: `s${index >> 1}`,
  ...(index % 2 === 0 ? { when: 'false' } : {}),
}))

const LOOPS = submitTasks(() => ({ loop: { max: 2, until: "round == 2 || output == 'x'" } }))

const ENSEMBLES = submitTasks(() => ({
  description: undefined,
  ensemble: 'echo',
  inputs: { topic: 'tea' },
}))

const WAITS = submitTasks((index) => ({
  waitFor: { event: { name: 'paid', key: `k${index % 10}` }, timeoutMs: 5_000 },
}))

const ITEMS = JSON.stringify({
  inputs: { items: JSON.stringify(Array.from({ length: 2_000 }, (_, index) => index)) },
  tasks: [{ name: 'each', description: '{item}', forEach: { over: 'items', maxItems: 10_000 } }],
})

/** Data of an event has at most 262,144 bytes. */
const EVENT = JSON.stringify({ key: 'k1', data: 'x'.repeat(262_000) })

const SCHEDULE = JSON.stringify({
  cron: '0 0 29 2 MON',
  run: { ensemble: 'echo', inputs: { topic: 'x'.repeat(63_000) } },
})

/** Number of queries that one WebSocket sends at once; the server handles as many at a time. */
const QUERIES = 64

/** Time after which a WebSocket is left, in milliseconds. */
const SOCKET_MS = 20_000

const rpc = (method: string, params: object): HostileRequest => ({
  method: 'POST',
  path: '/a2a',
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
})

const MCP_VERSION = '2026-07-28'
const MCP_META = {
  'io.modelcontextprotocol/protocolVersion': MCP_VERSION,
  'io.modelcontextprotocol/clientInfo': { name: 'hostile', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** Builds a request of MCP without a session. */
const mcp = (method: string, params: Readonly<Record<string, unknown>>): HostileRequest => ({
  method: 'POST',
  path: '/mcp',
  headers: {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': MCP_VERSION,
    'mcp-method': method,
    ...(typeof params['name'] === 'string' ? { 'mcp-name': params['name'] } : {}),
  },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: MCP_META } }),
})

const REQUESTS = {
  submit: () => ({ method: 'POST', path: '/api/runs', body: SUBMISSION }),
  list: () => ({ path: '/api/runs?limit=1000' }),
  fork: ([run]) => ({ method: 'POST', path: `/api/runs/${run}/fork`, body: '{"at":2}' }),
  replay: ([run]) => ({
    method: 'POST',
    path: `/api/runs/${run}/replay`,
    body: '{"mode":"frozen"}',
  }),
  compare: ([a, b]) => ({ path: `/api/runs/compare?a=${a}&b=${b}` }),
  detail: ([run]) => ({ path: `/api/runs/${run}` }),
  trace: ([run]) => ({ path: `/api/runs/${run}/trace` }),
  events: ([run]) => ({
    path: `/api/runs/${run}/events`,
    headers: { accept: 'text/event-stream' },
  }),
  tasks: () => rpc('ListTasks', { pageSize: 100, includeArtifacts: true }),
  task: ([id]) => rpc('GetTask', { id }),
  message: () =>
    rpc('SendMessage', {
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: INPUT }] },
      configuration: { returnImmediately: true },
    }),
  mcpTools: () => mcp('tools/list', {}),
  mcpCall: () => mcp('tools/call', { name: 'echo', arguments: { topic: INPUT } }),
  chat: () => ({
    method: 'POST',
    path: '/v1/chat/completions',
    body: JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: INPUT }] }),
  }),
  conditions: () => CONDITIONS,
  switches: () => SWITCHES,
  loops: () => LOOPS,
  ensembles: () => ENSEMBLES,
  items: () => ({ method: 'POST', path: '/api/runs', body: ITEMS }),
  waits: () => WAITS,
  event: () => ({ method: 'POST', path: '/api/events/paid', body: EVENT }),
  link: () => ({ method: 'POST', path: '/api/events/paid/links', body: '{"key":"k1"}' }),
  linkForged: () => ({
    method: 'POST',
    path: `/api/event-links/${'x'.repeat(4_000)}.x`,
    body: INPUT_JSON,
  }),
  schedule: () => ({
    method: 'POST',
    path: '/api/schedules',
    body: `{"name":"s-${crypto.randomUUID()}",${SCHEDULE.slice(1)}`,
  }),
  schedules: () => ({ path: '/api/schedules' }),
} satisfies Record<string, (runs: readonly string[]) => HostileRequest>

/** Kinds of requests, in the order in which a connection sends them. */
export const KINDS: readonly Kind[] = [
  ...(Object.keys(REQUESTS) as (keyof typeof REQUESTS)[]),
  'socket',
]

/** Builds request number `turn` of its kind. */
export function buildRequest(
  kind: Exclude<Kind, 'socket'>,
  { loud }: KnownRuns,
  turn: number,
): HostileRequest {
  const at = turn % loud.length
  return REQUESTS[kind]([...loud.slice(at), ...loud.slice(0, at)])
}

/** Results of a WebSocket: replies, and refusals because of the load. */
export interface SocketAnswers {
  readonly replies: number
  readonly overloaded: number
  /** Refusals that do not say when to try again. */
  readonly withoutRetry: number
}

/** Opens a WebSocket, sends as many queries as are handled at a time and the largest submission, and awaits the replies. */
export async function querySocket(
  connection: HostileConnection,
  url: string,
  { loud: [a = '', b = ''] }: KnownRuns,
): Promise<SocketAnswers> {
  const { text } = await connection.send({ method: 'POST', path: '/api/tickets', body: '{}' })
  const ticket = /"ticket":"([^"]+)"/.exec(text)?.[1] ?? ''
  const address = `${url.replace('http', 'ws')}/ws?snapshot=none&ticket=${encodeURIComponent(ticket)}`
  const socket = new WebSocket(address)
  const result = { replies: 0, overloaded: 0, withoutRetry: 0 }
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, SOCKET_MS)
  socket.addEventListener('open', () => {
    for (let index = 0; index < QUERIES; index += 1) {
      const query = [
        { query: 'runs', filter: { limit: 1_000 } },
        { query: 'run_detail', runId: a },
        { query: 'comparison', compare: { a, b } },
      ][index % 3]
      socket.send(JSON.stringify({ type: 'state_query', requestId: `q${index}`, ...query }))
    }
    socket.send(JSON.stringify({ type: 'run_request', ...JSON.parse(SUBMISSION) }))
  })
  socket.addEventListener('message', ({ data }) => {
    const reply = String(data)
    if (reply.startsWith('{"type":"hello"')) return
    result.replies += 1
    if (reply.length < 10_000 && reply.includes('"OVERLOADED"')) {
      result.overloaded += 1
      if (!reply.includes('"retryAfterMs"')) result.withoutRetry += 1
    }
    if (result.replies > QUERIES) resolve()
  })
  socket.addEventListener('close', () => {
    resolve()
  })
  socket.addEventListener('error', () => {
    resolve()
  })
  await promise
  clearTimeout(timer)
  socket.close()
  return result
}
