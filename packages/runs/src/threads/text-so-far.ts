/** Reads the text that the output task of a run has written so far. */
import { RunProjection, type RunEvent } from '@tutti/protocol'

import type { StoredEventLog } from '../ports/event-log.ts'
import type { ThreadRunRecord } from '../domain/thread-record.ts'

/** Number of events at the end of a run that are searched for its text so far. */
const MAX_LATE_EVENTS = 2_000

/** Size of those events after which no further one is read, in bytes. */
const LATE_EVENTS_BYTES = 2_000_000

/** Types of the events that change the text, or the task that writes it. The end of the run and of its task does not. */
const TEXT_EVENTS = [
  'run_resumed',
  'run_forked',
  'delegation_started',
  'llm_iteration_started',
  'token',
  'llm_iteration_completed',
  'llm_iteration_failed',
  'task_attempt_failed',
] as const satisfies readonly RunEvent['type'][]

/**
 * Returns the text of the output task's newest model turn and of the turns that it continues, from the last events of
 * the run; undefined when there is none.
 */
export async function readTextSoFar(
  log: StoredEventLog,
  { runId, lastSeq, outputTask }: Pick<ThreadRunRecord, 'runId' | 'lastSeq' | 'outputTask'>,
): Promise<string | undefined> {
  const page = await log.read({
    runId,
    from: Math.max(0, lastSeq + 1 - MAX_LATE_EVENTS),
    limit: MAX_LATE_EVENTS,
    maxBytes: LATE_EVENTS_BYTES,
    types: TEXT_EVENTS,
  })
  const run = new RunProjection({ outputTask })
  for (const event of page.events) run.take(event)
  return run.text === '' ? undefined : run.text
}
