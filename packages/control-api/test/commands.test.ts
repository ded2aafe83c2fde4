/** Commands over REST and WebSocket: the same for every command of the table, and replies by id. */
import { apiKey } from '@tutti/control-api'
import { decode, type ServerMessage } from '@tutti/protocol'
import { COMMANDS, type RunCommandKind } from '@tutti/protocol/internal'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { openServer, type Socket, type TestServer } from './open-server.ts'
import { reviewedTask } from './reviewed-ensembles.ts'

const ADMIN = 'admin-secret'
const HEADERS = { authorization: `Bearer ${ADMIN}` }

let api: TestServer

beforeAll(async () => {
  const apiKeys = [apiKey(ADMIN, { name: 'ops', scopes: ['admin'] })]
  api = await openServer({ ensembles: [reviewedTask()], apiKeys })
})

afterAll(() => api[Symbol.asyncDispose]())

/** A valid body of each command. */
const BODIES: Readonly<Record<RunCommandKind, object>> = {
  inject: { content: 'Softer' },
  switch_model: { tier: 'primary' },
  cancel: { mode: 'boundary' },
  decide: { decision: 'CONTINUE' },
}

/** Starts a run that waits for a review, and returns the target of a command. */
async function targetOf(kind: RunCommandKind): Promise<string> {
  const submitted = await api.post('/api/runs', { inputs: { song: 'Amen' } }, HEADERS)
  const { runId } = (await submitted.json()) as { runId: string }
  await expect.poll(async () => (await api.runs.reviews.open({ runId })).length).toBe(1)
  const [review] = await api.runs.reviews.open({ runId })
  return COMMANDS[kind].target === 'runId' ? runId : (review?.reviewId ?? '')
}

async function connect(): Promise<Socket> {
  const socket = api.connect('/ws', HEADERS)
  await socket.next('hello')
  return socket
}

/** Resolves with the reply to a message. */
async function replyTo({ received }: Socket, requestId: string): Promise<ServerMessage> {
  const find = () => received.find((one) => 'requestId' in one && one.requestId === requestId)
  await expect.poll(find).toBeDefined()
  return find() ?? expect.unreachable()
}

it.each(Object.entries(COMMANDS))(
  '[API-N2] %s has the same response and audit action over REST and WebSocket',
  async (name, { route, target: parameter, routeName }) => {
    // NOTE: the key of an entry is its kind.
    const kind = name as RunCommandKind
    const [first, second] = [await targetOf(kind), await targetOf(kind)]
    const path = route.path.replace(`{${parameter}}`, first)
    const response = await api.post(path, BODIES[kind], HEADERS)
    expect(response.status).toBe(200)
    await using socket = await connect()
    const message = { type: 'command', requestId: 'r-1', command: kind, target: second }
    socket.send({ ...message, body: BODIES[kind] })
    const ack = await socket.next('command_ack')
    expect(ack).toMatchObject({ requestId: 'r-1', command: kind })
    const answers = [await response.json(), ack.response]
    for (const answer of answers) expect(decode(route.response, answer)).toMatchObject({ ok: true })
    const [overRest, overSocket] = answers.map((answer) => Object.keys(answer as object).toSorted())
    expect(overSocket).toEqual(overRest)
    const audit = await api.get('/api/audit', { headers: HEADERS })
    const { entries } = (await audit.json()) as { entries: readonly { action: string }[] }
    expect(entries.filter(({ action }) => action === routeName)).toMatchObject([
      { via: 'websocket', outcome: 'DONE' },
      { via: 'http', outcome: 'DONE' },
    ])
  },
)

it('[API-N2] A refused command is answered by an error with its id and every problem', async () => {
  await using socket = await connect()
  const refusals = [
    [{ command: 'cancel', target: 'none' }, { error: 'RUN_NOT_FOUND' }],
    [{ command: 'decide', target: 'none', body: BODIES.decide }, { error: 'REVIEW_NOT_FOUND' }],
    [
      { command: 'cancel', target: 'none', body: { mode: 'gently' } },
      { error: 'BAD_REQUEST', problems: [{ path: '/body/mode' }] },
    ],
    [
      { command: 'switch_model', target: 'none' },
      { error: 'BAD_REQUEST', problems: [{ path: '/body' }] },
    ],
    [
      { command: 'puase', target: 'none' },
      { error: 'BAD_REQUEST', problems: [{ path: '/command' }] },
    ],
  ] as const
  for (const [index, [command, error]] of refusals.entries()) {
    const requestId = `r-${index}`
    socket.send({ type: 'command', requestId, ...command })
    expect(await replyTo(socket, requestId)).toMatchObject({ type: 'error', ...error })
  }
})

it('[API-N2] Acknowledgements of commands of other callers have no id', async () => {
  const target = await targetOf('cancel')
  await using mine = await connect()
  await using other = await connect()
  mine.send({ type: 'subscribe', requestId: 's-1', events: ['run_control_ack'] })
  expect(await mine.next('subscribe_ack')).toMatchObject({ requestId: 's-1' })
  const control = { type: 'run_control', runId: target, action: 'switch_model' }
  other.send({ ...control, requestId: 'r-1', tier: 'primary' })
  expect(await other.next('run_control_ack')).toMatchObject({ requestId: 'r-1', tier: 'PRIMARY' })
  expect(await mine.next('run_control_ack')).not.toHaveProperty('requestId')
  mine.send({ type: 'directive', requestId: 'r-2', runId: target, content: 'Softer' })
  expect(await mine.next('directive_ack')).toMatchObject({ requestId: 'r-2', status: 'accepted' })
  mine.send({ ...control, requestId: 'r-3', model: 'huge' })
  expect(await replyTo(mine, 'r-3')).toMatchObject({ status: 'INVALID_MODEL' })
})
