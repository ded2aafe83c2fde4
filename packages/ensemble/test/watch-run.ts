/** Runs an ensemble and checks the rules of every run: ENS-E5, ENS-E7, ENS-E9 and ENS-E20. */
import { isDeepStrictEqual } from 'node:util'

import {
  applyRunEvent,
  decodeRunEvent,
  emptyRunState,
  type RunEvent,
  type RunEventOf,
} from '@tutti/protocol'
import { expect } from 'vitest'

import { startRun } from '../src/run/start-run.ts'
import { MANAGER } from '../src/internal.ts'
import { expectSameEnd, expectSameState } from './run-state.ts'
import { readPhasesAfter } from './task-phases.ts'

import type { Ensemble, Inputs, RunHandle, RunOptions, RunResult } from '../src/index.ts'

/** A run with its events. */
export interface WatchedRun {
  /** Events so far, in order. */
  readonly events: readonly RunEvent[]
  /** Handle of the run. */
  readonly handle: RunHandle
  /** Result, after the whole log has been checked. */
  readonly ended: Promise<RunResult>
}

/** Options and inputs of a run. */
export interface WatchOptions extends RunOptions {
  readonly inputs?: Inputs
}

/**
 * Starts a run and checks it up to its end. After each batch of events, compares the state from the events
 * with that of the handle.
 */
export function watchRun(
  team: Ensemble,
  { inputs = {}, onEvent, ...options }: WatchOptions = {},
): WatchedRun {
  const events: RunEvent[] = []
  const failures: unknown[] = []
  let isDue = false
  let state = emptyRunState()
  const compare = (): void => {
    isDue = false
    try {
      expectSameState(state, handle.snapshot())
    } catch (error) {
      failures.push(error)
    }
  }
  const handle = startRun(team, inputs, {
    ...options,
    onEvent(event) {
      events.push(event)
      state = applyRunEvent(state, event)
      if (!isDue) setImmediate(compare)
      isDue = true
      return onEvent?.(event)
    },
  })
  const ended = handle.result.then(async (result) => {
    const count = events.length
    await nextTurn()
    expect(events.slice(count)).toEqual([])
    if (failures.length > 0) throw failures[0]
    expectWholeLog(events, result)
    return result
  })
  return { events, handle, ended }
}

/** Checks the events of a whole run. */
export function expectWholeLog(events: readonly RunEvent[], result: RunResult): void {
  expectWireEvents(events)
  const phases = readPhasesAfter(events)
  expect(events.at(-1)).toMatchObject({
    type: 'run_result',
    runId: result.runId,
    status: result.status,
    durationMs: result.durationMs,
  })
  expect(listNamesIn(phases, 'completed')).toEqual(result.tasks.map(({ taskName }) => taskName))
  const early = eventsOf(events, 'ensemble_completed').some(({ exitReason }) =>
    ['USER_EXIT_EARLY', 'TIMEOUT'].includes(exitReason),
  )
  const planned = eventsOf(events, 'ensemble_started').flatMap(({ tasks }) =>
    tasks.map(({ name }) => name),
  )
  // In HIERARCHICAL the run depends only on the manager, not on the ends of its workers.
  const scheduled = planned.includes(MANAGER) ? [MANAGER] : planned
  if (!early) {
    const excluded = new Set(
      eventsOf(events, 'task_skipped').flatMap(({ taskName, cause }) =>
        cause === 'CONDITION' ? taskName : [],
      ),
    )
    const areDone = scheduled.every(
      (name) => phases.get(name) === 'completed' || excluded.has(name),
    )
    expect(result.status === 'COMPLETED').toBe(areDone)
  }
  expect('error' in result).toBe(result.status === 'FAILED')
  expectSameEnd(events, result)
}

/** Checks that each event matches the wire schema and survives JSON unchanged. */
export function expectWireEvents(events: readonly object[]): void {
  for (const event of events) {
    const whole = { ok: true, value: event }
    const decoded = decodeRunEvent(event)
    if (!isDeepStrictEqual(decoded, whole)) expect(decoded).toEqual(whole)
    const plain: unknown = JSON.parse(JSON.stringify(event))
    // Compare without a matcher first, because the message of a matcher takes most of the time of a test.
    if (!isDeepStrictEqual(plain, event)) expect(plain).toStrictEqual(event)
  }
}

/** Returns the names of the tasks in this phase. */
export function listNamesIn(
  phases: ReturnType<typeof readPhasesAfter>,
  phase: 'completed' | 'failed' | 'skipped',
): readonly string[] {
  return [...phases].filter(([, is]) => is === phase).map(([name]) => name)
}

/** Returns the events of these types. */
export function eventsOf<T extends RunEvent['type']>(
  events: readonly RunEvent[],
  ...types: readonly T[]
): readonly RunEventOf<T>[] {
  return events.filter((event): event is RunEventOf<T> => types.some((type) => type === event.type))
}

/** Returns the events of failed attempts, with or without a retry. */
export function listFailures(
  events: readonly RunEvent[],
): readonly RunEventOf<'task_attempt_failed' | 'task_failed'>[] {
  return eventsOf(events, 'task_attempt_failed', 'task_failed')
}

/** Waits until all ready callbacks have run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0)
  })
}
