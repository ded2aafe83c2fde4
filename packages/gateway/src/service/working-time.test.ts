import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { RemainingTime, exceedsWorkingTime } from './working-time.ts'

import type { LoggedRunEvent } from '@tutti/protocol'
import type { ReviewKind } from '@tutti/protocol/internal'
import type { RunService } from '@tutti/runs'

const RUN = { runId: 'run-1' }
const started = { type: 'task_started', taskName: 'main', ...RUN }
const asked = (kind: ReviewKind) => ({
  type: 'review_requested',
  reviewId: 'r1',
  kind,
  taskName: 'main',
  ...RUN,
})
const decided = { type: 'review_decided', reviewId: 'r1', ...RUN }

/** Starts to measure a run that may work for 30 s; `emit` adds events to its log. */
function measure(signal: AbortSignal = new AbortController().signal) {
  const clock = fakeClock()
  let wake = (): void => undefined
  const log: object[] = []
  let isOver = false
  const runs = {
    async *follow({ signal: stop }: { readonly signal: AbortSignal }) {
      stop.addEventListener('abort', () => wake())
      for (let next = 0; ;) {
        if (stop.aborted || (isOver && next === log.length)) return
        // NOTE: only these fields of the events are read.
        if (next < log.length) yield log.slice(next, (next = log.length)) as LoggedRunEvent[]
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  } as unknown as Pick<RunService, 'follow'>
  const countdown = new RemainingTime(clock, 30_000)
  const result = exceedsWorkingTime({ runs, clock, runId: 'run-1', countdown, signal })
  let outcome: boolean | undefined
  void result.then((exceeds) => {
    outcome = exceeds
  })
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
  }
  return {
    clock,
    result,
    countdown,
    outcome: () => outcome,
    async emit(...events: readonly object[]) {
      log.push(...events)
      wake()
      await settle()
    },
    async advance(ms: number) {
      await clock.advance(ms)
      await settle()
    },
    end() {
      isOver = true
      wake()
    },
  }
}

describe('[GW-G8] the working time of a run', () => {
  it('The working time of a run passes while the run works', async () => {
    const { emit, advance, outcome } = measure()
    await emit(started)
    await advance(29_999)
    expect(outcome()).toBeUndefined()
    await advance(1)
    expect(outcome()).toBe(true)
  })

  it('The working time of a run does not pass while a person decides, and continues with the rest afterwards', async () => {
    const { emit, advance, outcome, countdown } = measure()
    await emit(started)
    await advance(10_000)
    await emit(asked('QUESTION'))
    await advance(3_600_000)
    expect([outcome(), countdown.leftMs]).toEqual([undefined, 20_000])
    await emit(decided)
    await advance(19_999)
    expect(outcome()).toBeUndefined()
    await advance(1)
    expect(outcome()).toBe(true)
  })

  it('The working time of a run passes while only the client of the run executes a call', async () => {
    const { emit, advance, outcome } = measure()
    await emit(started, asked('CLIENT_TOOL'))
    await advance(30_000)
    expect(outcome()).toBe(true)
  })

  it('The working time of a run is not exceeded by a run that ends, or whose deadline is replaced', async () => {
    const ended = measure()
    await ended.emit(started)
    ended.end()
    expect(await ended.result).toBe(false)
    const replaced = new AbortController()
    const other = measure(replaced.signal)
    await other.emit(started)
    replaced.abort()
    expect(await other.result).toBe(false)
    expect([ended.clock.pending, other.clock.pending]).toEqual([0, 0])
  })
})
