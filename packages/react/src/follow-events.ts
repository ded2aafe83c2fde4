/** Follows one run. */
import { emptyRunState, isTerminalRunStatus, RunStateFold, type RunState } from '@tutti/protocol'

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
  /** Changes the state, at once or when it is shown next. */
  update(change: (run: LiveRun) => LiveRun): void
}

/** Applies the events of a run, from the next one on, until the run ends or the signal aborts. */
export async function applyEvents(
  client: TuttiClient,
  { runId, signal, get, update }: FollowTarget,
): Promise<void> {
  const { state, nextSeq: from } = get()
  if (isTerminalRunStatus(state.status)) return
  const fold = new RunStateFold(state)
  let nextSeq = from
  // A state is made when it is shown: in a run of thousands of tasks, one for each event would take too long.
  let isPending = false
  try {
    const events = client.runs.events(runId, {
      from,
      signal,
      onConnection: ({ status }) => update((run) => ({ ...run, connection: status })),
    })
    for await (const event of events) {
      fold.take(event)
      nextSeq = event.seq + 1
      if (isPending) continue
      isPending = true
      update((run) => {
        isPending = false
        return { ...run, state: fold.state, nextSeq }
      })
    }
  } catch (thrown) {
    if (!signal.aborted) update((run) => ({ ...run, error: toError(thrown) }))
  }
}
