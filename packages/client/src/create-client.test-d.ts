import { expectTypeOf, it } from 'vitest'

import { createClient, TuttiClientError, UnfinishedRunError } from './index.ts'

import type { EndedRun, LoggedRunEventOf, RunEnd, RunSubscription, TuttiClient } from './index.ts'
import type { Clock, Fetch, LocalErrorCode, SocketLike } from './internal.ts'
import type {
  Capabilities,
  ErrorCode,
  ListRunsQuery,
  LoggedRunEvent,
  Thread,
  RunAccepted,
  RunDetail,
  RunList,
  RunStatus,
  ServerStatus,
  SubmitRunBody,
} from '@tutti/protocol'
import type {
  CancelAccepted,
  InjectAccepted,
  ListReviewsQuery,
  ModelSwitched,
  Problem,
  ReviewDecisionApplied,
  ReviewList,
  ThreadList,
  ThreadRunList,
} from '@tutti/protocol/internal'

const client = createClient({ baseUrl: 'http://127.0.0.1:7329' })

it('Answers have the types of the protocol', () => {
  expectTypeOf(client).toEqualTypeOf<TuttiClient>()
  expectTypeOf(client.runs.submit).parameter(0).toEqualTypeOf<SubmitRunBody>()
  expectTypeOf(client.runs.get).returns.resolves.toEqualTypeOf<RunDetail>()
  expectTypeOf(client.runs.list).parameter(0).toEqualTypeOf<ListRunsQuery | undefined>()
  expectTypeOf(client.runs.list).returns.resolves.toEqualTypeOf<RunList>()
  expectTypeOf(client.runs.cancel).returns.resolves.toEqualTypeOf<CancelAccepted>()
  expectTypeOf(client.runs.switchModel).returns.resolves.toEqualTypeOf<ModelSwitched>()
  expectTypeOf(client.runs.inject).returns.resolves.toEqualTypeOf<InjectAccepted>()
  expectTypeOf(client.threads.create).returns.resolves.toEqualTypeOf<Thread>()
  expectTypeOf(client.threads.list).returns.resolves.toEqualTypeOf<ThreadList>()
  expectTypeOf(client.threads.runs).returns.resolves.toEqualTypeOf<ThreadRunList>()
  expectTypeOf(client.reviews.list).parameter(0).toEqualTypeOf<ListReviewsQuery | undefined>()
  expectTypeOf(client.reviews.list).returns.resolves.toEqualTypeOf<ReviewList>()
  expectTypeOf(client.reviews.decide).returns.resolves.toEqualTypeOf<ReviewDecisionApplied>()
  expectTypeOf(client.capabilities).returns.resolves.toEqualTypeOf<Capabilities>()
  expectTypeOf(client.status).returns.resolves.toEqualTypeOf<ServerStatus>()
})

it('Commands have the bodies and responses of their routes', () => {
  const cancel = { kind: 'cancel', target: 'run-1', body: undefined } as const
  expectTypeOf(client.send(cancel)).resolves.toEqualTypeOf<CancelAccepted>()
  expectTypeOf(client.connect().send(cancel)).resolves.toEqualTypeOf<CancelAccepted>()
  // @ts-expect-error a decision has a body
  void client.send({ kind: 'decide', target: 'review-1', body: undefined })
  // @ts-expect-error no such mode
  void client.send({ kind: 'cancel', target: 'run-1', body: { mode: 'gently' } })
})

it('A list accepts one status, or several separated by commas', () => {
  const [first, rest]: [RunStatus, readonly RunStatus[]] = ['RUNNING', ['FAILED']]
  void client.runs.list({ status: 'RUNNING', ensemble: 'band', q: 'bach' })
  void client.runs.list({ status: first })
  void client.runs.list({ status: 'RUNNING,WAITING_REVIEW' })
  void client.runs.listAll({ status: `${first},${rest.join(',')}` })
  // @ts-expect-error not a status
  void client.runs.list({ status: 'BUSY' })
  // @ts-expect-error not a status either
  void client.runs.list({ status: 'BUSY,RUNNING' })
  // @ts-expect-error not a snapshot
  void client.connect({ snapshot: 'some' })
})

it('`submit` accepts only the fields of the protocol', () => {
  expectTypeOf(
    client.runs.submit({ inputs: { topic: 'tea' }, tags: { by: 'me' } }),
  ).resolves.toHaveProperty('runId')
  // @ts-expect-error inputs must be text
  void client.runs.submit({ inputs: { year: 2026 } })
  // @ts-expect-error not a field
  void client.runs.submit({ input: {} })
  // @ts-expect-error not a mode
  void client.runs.cancel('run-1', { mode: 'gently' })
  // @ts-expect-error not a priority
  void client.runs.inject('run-1', 'Faster', { priority: 'URGENT' })
  // @ts-expect-error not a decision
  void client.reviews.decide('review-1', { decision: 'APPROVE' })
})

it('Events narrow by type', async () => {
  const events = client.runs.events('run-1')
  expectTypeOf(events).toEqualTypeOf<AsyncIterable<LoggedRunEvent>>()
  for await (const event of events) {
    expectTypeOf(event.seq).toBeNumber()
    if (event.type === 'token') expectTypeOf(event.token).toBeString()
    if (event.type === 'run_result') {
      expectTypeOf(event.status).toEqualTypeOf<'COMPLETED' | 'FAILED' | 'CANCELLED'>()
    }
  }
})

it('A filter narrows the events of the loop', async () => {
  const events = client.runs.events('run-1', { events: ['token', 'task_completed'] })
  expectTypeOf(events).toEqualTypeOf<AsyncIterable<LoggedRunEventOf<'token' | 'task_completed'>>>()
  for await (const event of events) {
    expectTypeOf(event.type).toEqualTypeOf<'token' | 'task_completed'>()
    expectTypeOf(event.type === 'token' ? event.token : event.output).toBeString()
  }
  // @ts-expect-error no such type
  client.runs.events('run-1', { events: ['tokens'] })
})

it('`submit` accepts tasks for each item of a list', () => {
  const each = { description: 'Write {item}' }
  void client.runs.submit({ tasks: [{ ...each, forEach: { over: 'topics', maxItems: 3 } }] })
  const reduce = { description: 'Join {items}' }
  const collect = { reduce, maxTokens: 100 }
  void client.runs.submit({ tasks: [{ ...each, forEach: { over: '$topics', collect } }] })
  const outputs = { over: '$topics', key: 'id', collect: 'outputs' } as const
  void client.runs.submit({ tasks: [{ ...each, forEach: outputs }] })
  // @ts-expect-error the list is missing
  void client.runs.submit({ tasks: [{ ...each, forEach: { maxItems: 3 } }] })
  // @ts-expect-error not a reaction
  void client.runs.submit({ tasks: [{ ...each, forEach: { over: 'topics', onError: 'ignore' } }] })
})

it('`submit` accepts ensembles as tasks, without fields for an agent', () => {
  const inputs = { city: '$pick.name', reader: '{age}' }
  void client.runs.submit({ tasks: [{ ensemble: 'trip', inputs, context: ['$pick'] }] })
  void client.runs.submit({ tasks: [{ ensemble: 'trip', forEach: { over: 'cities' } }] })
  // @ts-expect-error a task needs a description or an ensemble
  void client.runs.submit({ tasks: [{ name: 'plan' }] })
  // @ts-expect-error an ensemble has its own models
  void client.runs.submit({ tasks: [{ ensemble: 'trip', model: 'large' }] })
  // @ts-expect-error only an ensemble has inputs
  void client.runs.submit({ tasks: [{ description: 'Plan', inputs }] })
  // @ts-expect-error inputs are texts
  void client.runs.submit({ tasks: [{ ensemble: 'trip', inputs: { city: 5 } }] })
})

it('`submit` accepts tasks that are repeated', () => {
  const lines = { description: 'Write, mind {feedback}' }
  const judge = { description: 'Judge {output}', outputSchema: { type: 'boolean' } }
  void client.runs.submit({ tasks: [{ ...lines, loop: { max: 3, until: { judge } } }] })
  void client.runs.submit({ tasks: [{ ...lines, loop: { max: 3, until: 'round == 2' } }] })
  // @ts-expect-error the maximum is missing
  void client.runs.submit({ tasks: [{ ...lines, loop: { until: 'round == 2' } }] })
  // @ts-expect-error not a reaction
  void client.runs.submit({ tasks: [{ ...lines, loop: { max: 3, onMax: 'ignore' } }] })
})

it('`submit` returns the acceptance, or with wait the run that has ended', async () => {
  expectTypeOf(await client.runs.submit({})).toEqualTypeOf<RunAccepted>()
  expectTypeOf(await client.runs.submit({}, { idempotencyKey: 'a' })).toEqualTypeOf<RunAccepted>()
  const waited = await client.runs.submit({}, { wait: 5 })
  expectTypeOf(waited).toEqualTypeOf<RunAccepted | EndedRun>()
  if (waited.status === 'ACCEPTED') expectTypeOf(waited.tasks).toBeNumber()
  else expectTypeOf(waited.lastSeq).toBeNumber()
})

it('A failed run narrows by its brand', () => {
  const error: unknown = undefined
  if (UnfinishedRunError.isInstance(error)) expectTypeOf(error.run).toEqualTypeOf<RunEnd>()
})

it('A subscription narrows by its filter', () => {
  const connection = client.connect({ runId: 'run-1' })
  const tokens = connection.subscribe({ events: ['token'], from: -1 })
  expectTypeOf(tokens).toEqualTypeOf<RunSubscription<'token'>>()
  connection.subscribe({ onEvent: (event) => expectTypeOf(event).toEqualTypeOf<LoggedRunEvent>() })
  // @ts-expect-error no such type
  connection.subscribe({ events: ['tokens'] })
})

it('`result` returns the run that has ended', async () => {
  const result = await client.runs.result('run-1')
  expectTypeOf(result).toEqualTypeOf<RunEnd>()
  expectTypeOf(result.status).toEqualTypeOf<'COMPLETED' | 'FAILED' | 'CANCELLED'>()
  expectTypeOf(result.outputs[0]?.output).toEqualTypeOf<string | undefined>()
})

it('An error narrows by its brand and code', () => {
  const error: unknown = undefined
  if (!TuttiClientError.isInstance(error)) return
  expectTypeOf(error.code).toEqualTypeOf<ErrorCode | LocalErrorCode>()
  expectTypeOf(error.problems).toEqualTypeOf<readonly Problem[] | undefined>()
})

it('A connection narrows by status', () => {
  client.runs.events('run-1', {
    onConnection(state) {
      if (state.status === 'reconnecting') expectTypeOf(state.error.code).toBeString()
      expectTypeOf(state.attempt).toBeNumber()
      expectTypeOf(state.lastEventId).toEqualTypeOf<string | undefined>()
    },
  })
})

it('createClient accepts the global fetch and another clock', () => {
  expectTypeOf<typeof globalThis.fetch>().toExtend<Fetch>()
  expectTypeOf<{
    now(): number
    elapsed(): number
    after(delayMs: number, callback: () => void): () => void
    advance(ms: number): Promise<void>
  }>().toExtend<Clock>()
})

it('createClient accepts the WebSocket of the platform and of other packages', () => {
  expectTypeOf<WebSocket>().toExtend<SocketLike>()
  createClient({ baseUrl: '/', openSocket: (url) => new WebSocket(url) })
})

it('Optional fields accept undefined', () => {
  const maybe: string | undefined = undefined
  const signal: AbortSignal | undefined = undefined
  createClient({ baseUrl: '/', apiKey: maybe })
  client.runs.events('run-1', { from: undefined, events: undefined, signal })
})
