/** A run whose events and steps are recorded, so that another process can resume it. */
import { applyRunEvent, runStateAfter, type RunEvent } from '@tutti/protocol'

import { fakeClock, type FakeClock } from './testing.ts'
import { nextTurn } from './watch-run.ts'

import type { Ensemble, Inputs, RunHandle, RunOptions, RunResult } from '../src/index.ts'
import type { RunStep } from '../src/internal.ts'

/** Events and steps of a run so far. */
export interface RecordedRun {
  readonly events: RunEvent[]
  readonly steps: RunStep[]
}

/** A process that executes a run. */
export interface RunProcess extends RecordedRun {
  readonly handle: RunHandle
  readonly clock: FakeClock
  /** Number of calls of `onWaiting`. */
  readonly waits: { count: number }
  /** Stops recording the run and aborts it. */
  release(): void
}

/** Starts a run, or resumes a recorded one. */
export function startRecorded(
  team: Ensemble,
  {
    from,
    clock = fakeClock(),
    inputs = {},
    ...options
  }: RunOptions & { from?: RecordedRun; clock?: FakeClock; inputs?: Inputs } = {},
): RunProcess {
  const events: RunEvent[] = []
  const steps: RunStep[] = []
  const waits = { count: 0 }
  const controller = new AbortController()
  let isHeld = true
  const take = (event: RunEvent | undefined, step: RunStep | undefined): void => {
    if (event !== undefined) events.push(event)
    if (step !== undefined) steps.push(step)
  }
  const handle = team.start(inputs, {
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
  })
  return {
    events,
    steps,
    handle,
    clock,
    waits,
    release() {
      isHeld = false
      controller.abort()
    },
  }
}

/** Joins the records of a run over several processes. */
export function joinRuns(...parts: readonly RecordedRun[]): RecordedRun {
  return {
    events: parts.flatMap(({ events }) => events),
    steps: parts.flatMap(({ steps }) => steps),
  }
}

/** Whether a promise is settled after all ready callbacks have run. */
export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  const note = (): void => {
    settled = true
  }
  promise.then(note, note)
  await nextTurn()
  return settled
}

/** Advances the clock until the run ends. */
export async function runToEnd({ handle, clock }: RunProcess): Promise<RunResult> {
  await clock.advance(1_000_000)
  return handle.result
}

/** Returns the state that the events of all processes rebuild. */
export function rebuildState({ events }: RecordedRun): ReturnType<typeof runStateAfter> {
  return events.reduce(applyRunEvent, runStateAfter([]))
}
