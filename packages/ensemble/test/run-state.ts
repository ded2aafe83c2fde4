/** Compares the state of the engine with the state that its events determine: rule ENS-E9. */
import { isDeepStrictEqual } from 'node:util'

import { runStateAfter, type RunEvent, type RunState } from '@tutti/protocol'
import { expect } from 'vitest'

import type { RunResult } from '../src/index.ts'
import type { RunSnapshot } from '../src/internal.ts'

/**
 * Checks that the state from the events equals the state of the engine. Call it only when no callback is
 * ready: the event of a change is emitted first, and the engine's own state follows in the same turn of the
 * event loop.
 */
export function expectSameState(state: RunState, snapshot: RunSnapshot): void {
  const open = state.reviews.filter(({ status }) => status === 'OPEN')
  const actual = {
    status: snapshot.status,
    tasks: snapshot.tasks.toSorted((a, b) => a.taskIndex - b.taskIndex),
    reviews: snapshot.reviews.map(({ reviewId, taskName, timing }) => ({
      reviewId,
      taskName,
      timing,
    })),
  }
  const expected = {
    status: state.status,
    tasks: state.tasks.map((task) => ({
      taskName: task.name,
      taskIndex: task.index,
      phase: readPhase(task, open),
      attempt: task.attempt,
    })),
    reviews: open.map(({ reviewId, taskName, timing }) => ({ reviewId, taskName, timing })),
  }
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected)
}

/**
 * Returns the phase of a task in the engine, where a task runs from its first review on and between attempts.
 */
function readPhase(
  { name, status, error }: RunState['tasks'][number],
  open: RunState['reviews'],
): string {
  if (status === 'PENDING') {
    return open.some(({ taskName }) => taskName === name) ? 'running' : 'pending'
  }
  if (status === 'FAILED' && error?.willRetry === true) return 'running'
  return status === 'CANCELLED' ? 'failed' : status.toLowerCase()
}

/** Checks that the events of a whole run rebuild its result. */
export function expectSameEnd(events: readonly RunEvent[], result: RunResult): void {
  const { status, tasks, totals, metrics, error } = runStateAfter(events)
  expect(status).toBe(result.status)
  expect(error?.code).toBe(result.error?.code)
  const completed = tasks.filter((task) => task.status === 'COMPLETED')
  expect(
    completed.map(({ name, attempt, output, structuredOutput, finishReason }) => [
      name,
      attempt,
      output,
      structuredOutput,
      finishReason,
    ]),
  ).toEqual(
    result.tasks.map(({ taskName, attempt, output, structured, finishReason }) => [
      taskName,
      attempt,
      output,
      structured,
      finishReason,
    ]),
  )
  expect(metrics).toEqual(result.metrics)
  const { totalTokens, totalToolCalls, costEstimate } = result.metrics
  expect(totals).toMatchObject({ totalTokens, totalToolCalls })
  if (costEstimate === undefined) expect(totals.costUsd).toBeUndefined()
  else expect(totals.costUsd).toBeCloseTo(costEstimate.inputCost + costEstimate.outputCost, 9)
}
