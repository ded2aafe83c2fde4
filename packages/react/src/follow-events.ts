/** Follows one run. */
import { applyRunEvent, emptyRunState, isTerminalRunStatus, type RunState } from '@tutti/protocol'

import { toError } from './to-error.ts'

import type { ConnectionState, TuttiClient } from '@tutti/client'

/** State of a run after the events that have arrived. */
export interface LiveRun {
  readonly state: RunState
  /** `seq` of the next event. */
  readonly nextSeq: number
  readonly connection: 'connecting' | ConnectionState['status']
  /** Reason why the run is no longer followed, such as RUN_NOT_FOUND. */
  readonly error?: Error
}

/** A run without events so far. */
export const NOT_FOLLOWED: LiveRun = {
  state: emptyRunState(),
  nextSeq: 0,
  connection: 'connecting',
}

/** The run to follow, and access to its state. */
export interface FollowTarget {
  readonly runId: string
  readonly signal: AbortSignal
  get(): LiveRun
  update(change: (run: LiveRun) => LiveRun): void
}

/** Applies the events of a run, from the next one on, until the run ends or the signal aborts. */
export async function applyEvents(
  client: TuttiClient,
  { runId, signal, get, update }: FollowTarget,
): Promise<void> {
  if (isTerminalRunStatus(get().state.status)) return
  try {
    const events = client.runs.events(runId, {
      from: get().nextSeq,
      signal,
      onConnection: ({ status }) => update((run) => ({ ...run, connection: status })),
    })
    for await (const event of events) {
      update((run) => ({
        ...run,
        state: applyRunEvent(run.state, event),
        nextSeq: event.seq + 1,
      }))
    }
  } catch (thrown) {
    if (!signal.aborted) update((run) => ({ ...run, error: toError(thrown) }))
  }
}
