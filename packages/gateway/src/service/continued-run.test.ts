import { silentLogger } from '@tutti/core/internal'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import {
  findContinuation,
  isSameCall,
  isSameResult,
  toRequestMemo,
  toTypedText,
  withdrawReplaced,
  type RecordedDecision,
  type RepeatableRun,
  type SentEntry,
} from './continued-run.ts'

import type { GatewayCall } from './gateway-call.ts'
import type { GatewayService } from './gateway-service.ts'
import type { LoggedRunEvent, RunEvent, RunEventOf } from '@tutti/protocol'
import type { RunRecord } from '@tutti/runs/adapter'

const AT = '2026-01-01T00:00:00.000Z'

const band = ensemble({
  name: 'band',
  tasks: [task({ description: 'Play' })],
  model: scriptedModel([]),
})

function requested(
  reviewId: string,
  kind: RunEventOf<'review_requested'>['kind'] = 'CLIENT_TOOL',
): RunEvent {
  return {
    type: 'review_requested',
    reviewId,
    taskIndex: 1,
    taskName: 'play',
    taskDescription: 'Play',
    agentRole: 'Player',
    attempt: 1,
    taskOutput: '',
    kind,
    timing: 'DURING_EXECUTION',
    prompt: null,
    timeoutMs: 0,
    onTimeout: 'CONTINUE',
    requestedAt: AT,
    toolName: 'look',
    toolInput: { q: reviewId },
  }
}

function decided(reviewId: string, text: string): RunEvent {
  const revisedOutput = JSON.stringify(text)
  return { type: 'review_decided', reviewId, decision: 'EDIT', decidedAt: AT, revisedOutput }
}

const message = (index: number): SentEntry => ({ index, kind: 'message' })

const text = (index: number): SentEntry => ({ index, kind: 'text' })

function call(index: number, reviewId: string, input: object = { q: reviewId }): SentEntry {
  const sent = { name: 'look', arguments: JSON.stringify(input) }
  return { index, kind: 'call', reviewId, isSame: (review) => isSameCall(review, sent) }
}

function result(index: number, reviewId: string, given = 'found'): SentEntry {
  const isSame = (decision: RecordedDecision): boolean => isSameResult(decision, given)
  return { index, kind: 'result', reviewId, isOfTool: true, isSame }
}

/** Returns the run that the messages before an index would begin. */
function toRun(end: number): RepeatableRun {
  const history = Array.from(
    { length: end },
    (_, n) => ({ role: 'user', content: `m${n}` }) as const,
  )
  return { ensemble: band, inputs: {}, history }
}

interface Given {
  readonly log: readonly RunEvent[]
  readonly status?: RunRecord['status']
  /** Number of messages of the request that began the run. */
  readonly began?: number
  readonly ensembleName?: string
  readonly mayContinue?: boolean
}

/** Compares a conversation with a run that was begun by its first message. */
function find(entries: readonly SentEntry[], given: Given) {
  const { log, status = 'WAITING_REVIEW', began = 1, ensembleName = 'band' } = given
  const run = {
    runId: 'run-1',
    ensemble: ensembleName,
    status,
    request: { memo: toRequestMemo(toRun(began)) },
  }
  const events = log.map((event, seq): LoggedRunEvent => {
    return { ...event, runId: 'run-1', seq, id: `run-1:${seq}` }
  })
  const runs = {
    ensembles: [band],
    reviews: {
      get: async (id: string) =>
        log.some((event) => 'reviewId' in event && event.reviewId === id)
          ? { runId: 'run-1' }
          : undefined,
    },
    record: async () => run,
    readEvents: async ({ from }: { readonly from: number }) =>
      events.filter(({ seq }) => seq >= from),
  }
  // NOTE: the subject uses no other options.
  const service = { options: { runs } } as unknown as GatewayService
  const mayContinue = (): boolean => given.mayContinue ?? true
  return findContinuation(service, { entries, toRun, mayContinue })
}

describe('findContinuation', () => {
  const log = [requested('r1')]

  it('[GW-G5] findContinuation continues the run whose request is repeated with the result of its call', async () => {
    const found = await find([message(0), call(1, 'r1'), result(2, 'r1')], { log })
    expect(found).toMatchObject({
      kind: 'continues',
      run: { runId: 'run-1' },
      open: new Set(['r1']),
    })
  })

  it('[GW-G5] findContinuation continues a run that wrote text before its call', async () => {
    const sent = [message(0), text(1), call(1, 'r1'), result(2, 'r1')]
    expect((await find(sent, { log })).kind).toBe('continues')
  })

  it.each<[string, readonly SentEntry[], Partial<Given>]>([
    ['another conversation', [message(0), message(1), call(2, 'r1'), result(3, 'r1')], {}],
    ['other arguments', [message(0), call(1, 'r1', { q: 'other' }), result(2, 'r1')], {}],
    ['a further message', [message(0), call(1, 'r1'), result(2, 'r1'), message(3)], {}],
    ['another first request', [message(0), call(1, 'r1'), result(2, 'r1')], { began: 2 }],
  ])(
    '[GW-G5] findContinuation replaces the run that waits when the request has %s',
    async (_, sent, given) => {
      expect((await find(sent, { log, ...given })).kind).toBe('replaces')
    },
  )

  it.each<[string, Partial<Given>]>([
    ['has ended', { status: 'COMPLETED' }],
    ['is of an ensemble that is not shared', { ensembleName: 'other' }],
    ['may not be continued by the caller', { mayContinue: false }],
    ['has no such call', { log: [requested('r2')] }],
  ])('[GW-G5] findContinuation neither continues nor replaces a run that %s', async (_, given) => {
    const found = await find([message(0), call(1, 'r1'), result(2, 'r1')], { log, ...given })
    expect(found.kind).toBe('none')
  })

  it.each<RunEvent>([
    { type: 'review_timed_out', reviewId: 'r1', action: 'CONTINUE' },
    { type: 'review_withdrawn', reviewId: 'r1', reason: 'over', withdrawnAt: AT },
  ])('[GW-G6] A result for a call that was closed by $type begins another run', async (end) => {
    const found = await find([message(0), call(1, 'r1'), result(2, 'r1')], { log: [...log, end] })
    expect(found.kind).toBe('none')
  })

  it('[GW-G6] A result that is sent again continues the run, also after its end', async () => {
    const answered = [...log, decided('r1', 'found')]
    const sent = [message(0), call(1, 'r1'), result(2, 'r1')]
    for (const status of ['RUNNING', 'COMPLETED'] as const) {
      const found = await find(sent, { log: answered, status })
      expect(found).toMatchObject({ kind: 'continues', open: new Set() })
    }
    const other = [message(0), call(1, 'r1'), result(2, 'r1', 'changed')]
    expect((await find(other, { log: answered })).kind).toBe('none')
  })

  it('[GW-G5] findContinuation does not continue a run when the result of an earlier call is missing', async () => {
    const later = [requested('r1'), decided('r1', 'found'), requested('r2')]
    const whole = [message(0), call(1, 'r1'), result(2, 'r1'), call(3, 'r2'), result(4, 'r2')]
    expect((await find(whole, { log: later })).kind).toBe('continues')
    const gap = [message(0), call(1, 'r2'), result(2, 'r2')]
    expect((await find(gap, { log: later })).kind).toBe('replaces')
  })

  it('[GW-G5] findContinuation continues a run although a person decided an earlier review', async () => {
    const reviewed = [requested('h', 'TOOL_CALL'), decided('h', 'yes'), requested('r1')]
    const found = await find([message(0), call(1, 'r1'), result(2, 'r1')], { log: reviewed })
    expect(found.kind).toBe('continues')
  })

  it('[GW-G5] findContinuation does not take the result of a client tool as the decision of another review', async () => {
    const reviewed = [requested('r1', 'TOOL_CALL')]
    const found = await find([message(0), call(1, 'r1'), result(2, 'r1')], { log: reviewed })
    expect(found.kind).toBe('replaces')
  })
})

it('withdrawReplaced cancels only a run that a request replaces', async () => {
  const cancelled: unknown[] = []
  // NOTE: the subject uses nothing else.
  const service = {
    options: { logger: silentLogger },
    cancelAbandoned: async (_: unknown, runId: string, how: object) =>
      void cancelled.push([runId, how]),
  } as unknown as GatewayService
  const run = { runId: 'run-1' } as RunRecord
  const asked = {} as GatewayCall
  await withdrawReplaced(service, asked, { kind: 'none' })
  await withdrawReplaced(service, asked, { kind: 'continues', run, open: new Set() })
  expect(cancelled).toEqual([])
  await withdrawReplaced(service, asked, { kind: 'replaces', run })
  expect(cancelled).toEqual([['run-1', { isExplicit: true }]])
})

it.each([
  ['look', '{"q":1,"a":[2]}', true],
  ['look', '{ "a": [2], "q": 1.0 }', true],
  ['look', '{"q":2,"a":[2]}', false],
  ['look', 'not JSON', false],
  ['find', '{"q":1,"a":[2]}', false],
])('isSameCall compares the name and the value of the arguments: %s %s', (name, given, same) => {
  const review = { toolName: 'look', toolInput: { q: 1, a: [2] } }
  // NOTE: the subject reads only the call.
  const open = { ...requested('r1'), ...review } as Parameters<typeof isSameCall>[0]
  expect(isSameCall(open, { name, arguments: given })).toBe(same)
})

it('toTypedText returns the text of a JSON string, and any other result as it is', () => {
  expect(['"a\\"b"', '{"a":1}', 'plain'].map(toTypedText)).toEqual(['a"b', '{"a":1}', 'plain'])
})
