/** Runs an ensemble and checks what every run must keep, whatever the story: rules E5, E7 and E9. */
import { decodeRunEvent, type RunEvent, type RunEventOf } from '@tutti/protocol'
import { expect } from 'vitest'

import { phasesAfter } from './task-phases.ts'

import type { Ensemble, Inputs, RunOptions, RunResult } from '../src/index.ts'

/** A run and what it tells. */
export interface WatchedRun {
  /** The events so far, in order. */
  readonly events: readonly RunEvent[]
  /** The result, once the whole log has been checked. */
  readonly ended: Promise<RunResult>
}

/** What a run is started with. */
export interface WatchOptions extends RunOptions {
  readonly inputs?: Inputs
}

/** Starts a run and watches it to its end. */
export function watchRun(
  team: Ensemble,
  { inputs = {}, onEvent, ...options }: WatchOptions = {},
): WatchedRun {
  const events: RunEvent[] = []
  const result = team.run(inputs, {
    ...options,
    onEvent(event) {
      events.push(event)
      return onEvent?.(event)
    },
  })
  const ended = result.then(async (result) => {
    const count = events.length
    await nextTurn()
    expect(events.slice(count)).toEqual([])
    expectWholeLog(events, result)
    return result
  })
  return { events, ended }
}

/** Checks the events of a run from its beginning to its end. */
export function expectWholeLog(events: readonly RunEvent[], result: RunResult): void {
  expectWireEvents(events)
  const phases = phasesAfter(events)
  expect(events.at(-1)).toMatchObject({
    type: 'run_result',
    runId: result.runId,
    status: result.status,
    durationMs: result.durationMs,
  })
  expect(namesOf(phases, 'completed')).toEqual(result.tasks.map(({ taskName }) => taskName))
  const early = eventsOf(events, 'ensemble_completed').some(({ exitReason }) =>
    ['USER_EXIT_EARLY', 'TIMEOUT'].includes(exitReason),
  )
  if (!early) expect(result.status === 'COMPLETED').toBe(result.tasks.length === phases.size)
  expect('error' in result).toBe(result.status === 'FAILED')
}

/** Checks that each event fits the wire and is what its JSON says, no more. */
export function expectWireEvents(events: readonly object[]): void {
  for (const event of events) {
    expect(decodeRunEvent(event)).toEqual({ ok: true, value: event })
    expect(JSON.parse(JSON.stringify(event))).toStrictEqual(event)
  }
}

/** The names of the tasks in that phase. */
export function namesOf(
  phases: ReturnType<typeof phasesAfter>,
  phase: 'completed' | 'failed' | 'skipped',
): readonly string[] {
  return [...phases].filter(([, is]) => is === phase).map(([name]) => name)
}

/** The events of one type. */
export function eventsOf<T extends RunEvent['type']>(
  events: readonly RunEvent[],
  type: T,
): readonly RunEventOf<T>[] {
  return events.filter((event): event is RunEventOf<T> => event.type === type)
}

/** Lets everything that is ready run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0)
  })
}
