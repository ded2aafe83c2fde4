import { TuttiError } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { MAX_PENDING_EVENTS, PendingWrites } from './pending-writes.ts'
import { StoredValues } from '../log/stored-values.ts'
import { reasoning, token } from '../testing/support/event-fixtures.ts'

import type { RunStep } from '@tutti/ensemble/internal'
import type { RunEvent } from '@tutti/protocol'

const CANCELLING: RunEvent = {
  type: 'run_cancelling',
  requestedAt: '2026-01-01T00:00:00.000Z',
  mode: 'abort',
  cause: 'SERVER',
}

const BEGUN: RunStep = { kind: 'run_begun', startedAt: 0, runMs: 0, tasks: [] }

const WRITTEN = { kind: 'written', events: [] } as const

const TOKEN = 'token-3'
const UNAVAILABLE = { kind: 'unavailable', error: new Error('no connection') } as const

describe('PendingWrites', () => {
  it('PendingWrites has nothing to send before data is added', async () => {
    const { pending } = setUp()
    expect(pending.isEmpty).toBe(true)
    expect(pending.take()).toBeUndefined()
    await pending.settled()
  })

  it('[RUNS-G1] PendingWrites sends all added data once', () => {
    const { pending } = setUp()
    pending.add({ event: CANCELLING, step: BEGUN })
    pending.add({ answer: { commandId: 's', ok: true } })
    expect(pending.take()).toEqual({
      runId: 'run-a',
      token: TOKEN,
      writeNo: 1,
      events: [CANCELLING],
      steps: [BEGUN],
      stepEvents: [0],
      answers: [{ commandId: 's', ok: true }],
      stored: expect.any(StoredValues),
    })
    pending.settle(WRITTEN)
    expect([pending.isEmpty, pending.take()]).toEqual([true, undefined])
  })

  it('[RUNS-P16] PendingWrites sends each step with the index of its event, or of the next one', () => {
    const { pending } = setUp()
    pending.add({ step: BEGUN })
    pending.add({ event: CANCELLING })
    pending.add({ event: CANCELLING, step: BEGUN })
    pending.add({ step: BEGUN })
    expect(pending.take()).toMatchObject({ stepEvents: [0, 1, 2] })
    pending.settle(WRITTEN)
    pending.add({ event: CANCELLING, step: BEGUN })
    expect(pending.take()).toMatchObject({ stepEvents: [0] })
  })

  it('[RUNS-G5] PendingWrites returns the same write until its result is known, even if data is added', () => {
    const { pending } = setUp()
    pending.add({ event: token('a') })
    const sent = pending.take()
    const asSent = structuredClone(sent)
    pending.add({ event: token('b') })
    pending.settle(UNAVAILABLE)
    expect(pending.take()).toBe(sent)
    expect(sent).toEqual(asSent)
    pending.settle(WRITTEN)
    expect(pending.take()).toMatchObject({ writeNo: 2, events: [token('b')] })
  })

  it.each([
    ['a step', { step: BEGUN }],
    ['an answer', { answer: { commandId: 's', ok: true } }],
    ['an event other than text', { event: CANCELLING }],
  ] as const)('%s behind streamed text does not wait', (_what, entry) => {
    const { pending } = setUp()
    pending.add({ event: token('a') })
    expect(pending.isUrgent).toBe(false)
    pending.add(entry)
    expect(pending.isUrgent).toBe(true)
  })

  it('PendingWrites resolves waiting callers when their data is stored, not later', async () => {
    const { pending } = setUp()
    const order: string[] = []
    pending.add({ event: CANCELLING })
    const first = pending.settled().then(() => order.push('first'))
    pending.take()
    const meanwhile = pending.settled().then(() => order.push('meanwhile'))
    pending.add({ event: CANCELLING })
    const second = pending.settled().then(() => order.push('second'))
    pending.settle(UNAVAILABLE)
    pending.settle(WRITTEN)
    await Promise.all([first, meanwhile])
    expect(order).toEqual(['first', 'meanwhile'])
    pending.take()
    pending.settle(WRITTEN)
    await second
  })

  it('[RUNS-G3] PendingWrites joins the interleaved tokens of two tasks separately', () => {
    const { pending } = setUp()
    const mixed = [
      ['a', 1],
      ['b', 2],
      ['c', 2],
      ['d', 1],
    ] as const
    for (const [text, task] of mixed) pending.add({ event: token(text, task) })
    expect(pending.take()?.events).toEqual([token('ad', 1), token('bc', 2)])
  })

  it('[RUNS-G3] PendingWrites joins reasoning, and never reasoning with tokens', () => {
    const { pending } = setUp()
    pending.add({ event: reasoning('a') })
    pending.add({ event: reasoning('b') })
    expect(pending.isUrgent).toBe(false)
    pending.add({ event: token('c') })
    pending.add({ event: token('d') })
    pending.add({ event: reasoning('e') })
    pending.add({ event: { ...reasoning('f'), iterationIndex: 1 } })
    const last = { ...reasoning('f'), iterationIndex: 1 }
    const events = [reasoning('ab'), token('cd'), reasoning('e'), last]
    expect(pending.take()?.events).toEqual(events)
  })

  it('[RUNS-G3] PendingWrites takes the other fields of joined tokens from the first one', () => {
    const { pending } = setUp()
    pending.add({ event: token('a') })
    pending.add({ event: { ...token('b'), sentAt: '2026-02-02T00:00:00.000Z' } })
    expect(pending.take()?.events).toEqual([token('ab')])
  })

  it('[RUNS-G3] PendingWrites does not join later tokens to a sent write', () => {
    const { pending } = setUp()
    pending.add({ event: token('a', 1) })
    pending.take()
    pending.add({ event: token('b', 2) })
    pending.add({ event: token('c', 1) })
    pending.settle(WRITTEN)
    expect(pending.take()?.events).toEqual([token('b', 2), token('c', 1)])
  })

  it('[RUNS-G3] PendingWrites does not join tokens of different attempts', () => {
    const { pending } = setUp()
    pending.add({ event: token('a') })
    pending.add({ event: { ...token('b'), attempt: 2 } })
    pending.add({ event: { ...token('c'), attempt: 2 } })
    const texts = pending.take()?.events.map((event) => 'token' in event && event.token)
    expect(texts).toEqual(['a', 'bc'])
  })

  it('[RUNS-G6] PendingWrites drops a refused write and what waits behind it, and gives its number to the next one', async () => {
    const { pending, lost, refused } = setUp()
    pending.add({ event: CANCELLING })
    const first = pending.take()
    pending.add({ event: CANCELLING })
    const waiting = pending.settled()
    pending.settle({ kind: 'failed', error: new Error('out of range') })
    await expect(waiting).rejects.toBe(refused[0])
    expect(refused).toMatchObject([
      {
        code: 'STORE_REFUSED',
        message: 'The run store refused to record a value of run run-a: out of range',
        cause: { message: 'out of range' },
      },
    ])
    expect([lost, pending.isEmpty]).toEqual([[], true])
    expect(pending.add({ event: token('end') })).toBe(true)
    expect(pending.take()).toMatchObject({ writeNo: first?.writeNo, events: [token('end')] })
    pending.settle(WRITTEN)
    expect(pending.isEmpty).toBe(true)
  })

  it('[RUNS-G4] PendingWrites accepts no more data after a loss, and returns false', async () => {
    const { pending, lost } = setUp()
    pending.add({ event: CANCELLING })
    pending.take()
    pending.settle({ kind: 'fenced' })
    expect(lost.map(({ message }) => message)).toEqual([
      'Run run-a was taken over by another owner',
    ])
    expect(pending.add({ event: CANCELLING })).toBe(false)
    expect([pending.isEmpty, pending.take()]).toEqual([true, undefined])
    await expect(pending.settled()).rejects.toBe(lost[0])
  })

  it('[RUNS-G4] PendingWrites is lost once, and ignores later results', () => {
    const { pending, lost } = setUp()
    pending.add({ event: CANCELLING })
    pending.take()
    const reason = new TuttiError('INTERRUPTED', 'stop')
    pending.lose(reason)
    pending.settle({ kind: 'fenced' })
    pending.settle(WRITTEN)
    expect(lost).toEqual([reason])
  })

  it('[RUNS-G5] PendingWrites counts joined tokens as one waiting event', () => {
    const { pending, lost } = setUp()
    for (let count = 1; count < MAX_PENDING_EVENTS; count += 1) pending.add({ event: CANCELLING })
    for (let count = 0; count < 9; count += 1) {
      expect(pending.add({ event: token('a') })).toBe(true)
    }
    expect(lost).toEqual([])
    expect(pending.add({ event: CANCELLING })).toBe(false)
    expect(lost).toHaveLength(1)
  })
})

interface SetUp {
  readonly pending: PendingWrites
  readonly lost: readonly TuttiError[]
  readonly refused: readonly TuttiError[]
}

function setUp(): SetUp {
  const lost: TuttiError[] = []
  const refused: TuttiError[] = []
  const pending = new PendingWrites({
    runId: 'run-a',
    token: TOKEN,
    onLost: (reason) => lost.push(reason),
    onRefused: (reason) => refused.push(reason),
  })
  return { pending, lost, refused }
}
