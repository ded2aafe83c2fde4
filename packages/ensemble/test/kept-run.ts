/** A run whose events and steps are kept, and that another process can go on with. */
import { applyRunEvent, runStateAfter, type RunEvent } from '@tutti/protocol'

import { fakeClock, type FakeClock } from './testing.ts'
import { nextTurn } from './watch-run.ts'

import type { Ensemble, RunHandle, RunOptions, RunResult, RunStep } from '../src/index.ts'

/** What a run has left so far. */
export interface KeptRun {
  readonly events: RunEvent[]
  readonly steps: RunStep[]
}

/** A process that executes a run. */
export interface KeptProcess extends KeptRun {
  readonly handle: RunHandle
  readonly clock: FakeClock
  /** Times that it was told that the run only waits for reviewers. */
  readonly waits: { count: number }
  /** Takes nothing more of the run, and stops it. */
  letGo(): void
}

/** Starts a run, or goes on with what one has left. */
export function startKept(
  team: Ensemble,
  {
    from,
    clock = fakeClock(),
    ...options
  }: RunOptions & { from?: KeptRun; clock?: FakeClock } = {},
): KeptProcess {
  const events: RunEvent[] = []
  const steps: RunStep[] = []
  const waits = { count: 0 }
  const controller = new AbortController()
  let isHeld = true
  const take = (event: RunEvent | undefined, step: RunStep | undefined): void => {
    if (event !== undefined) events.push(event)
    if (step !== undefined) steps.push(step)
  }
  const handle = team.start(
    {},
    {
      runId: 'run-1',
      signal: controller.signal,
      onWaiting: () => {
        waits.count += 1
      },
      journal: {
        emit(event, step) {
          if (isHeld) take(event, step)
        },
        commit(step, event) {
          if (!isHeld) return new Promise(() => undefined)
          take(event, step)
          return Promise.resolve()
        },
      },
      ...options,
      clock,
      ...(from === undefined ? {} : { resume: { steps: JSON.parse(JSON.stringify(from.steps)) } }),
    },
  )
  return {
    events,
    steps,
    handle,
    clock,
    waits,
    letGo() {
      isHeld = false
      controller.abort()
    },
  }
}

/** What a run left over several processes. */
export function joined(...parts: readonly KeptRun[]): KeptRun {
  return {
    events: parts.flatMap(({ events }) => events),
    steps: parts.flatMap(({ steps }) => steps),
  }
}

/** Whether a promise is settled once everything that is ready has run. */
export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  const note = (): void => {
    settled = true
  }
  promise.then(note, note)
  await nextTurn()
  return settled
}

/** Lets the run end, however long its waits are. */
export async function endOf({ handle, clock }: KeptProcess): Promise<RunResult> {
  await clock.advance(1_000_000)
  return handle.result
}

/** The state that the events of several processes rebuild. */
export function stateOf({ events }: KeptRun): ReturnType<typeof runStateAfter> {
  return events.reduce(applyRunEvent, runStateAfter([]))
}
