/** Tells a peer how its task goes, and how it ends. */
import { isTerminalRunStatus, type LoggedRunEvent } from '@tutti/protocol'

import { wireErrorOf } from '../http/on-error.ts'
import { taskEnd, taskReporter } from './task-reports.ts'

import type { PeerCall } from './peer-call.ts'
import type { RunRecord } from '@tutti/runs'

/** A task under way, for whom. */
export interface TaskUnderWay {
  readonly requestId: string
  readonly run: RunRecord
  /** In milliseconds since 1970. */
  readonly deadlineAt: number | undefined
}

/**
 * Resolves when the end was told, or the connection is over. Never rejects: when the run cannot be read the
 * peer gets an `error`; the task goes on, and asked again under its `requestId` its end is told.
 */
export async function reportTask(
  { requestId, run, deadlineAt }: TaskUnderWay,
  asker: Pick<PeerCall, 'options' | 'send' | 'gone'>,
): Promise<void> {
  const { options, send } = asker
  const newsOf = taskReporter()
  const tell = (event: LoggedRunEvent): void => {
    const news = newsOf(event)
    if (news !== undefined) send({ type: 'task_progress', requestId, ...news })
    if (event.type !== 'run_result') return
    const endedAt = run.completedAt ?? options.clock.now()
    const when = deadlineAt === undefined ? { endedAt } : { endedAt, deadlineAt }
    send({ type: 'task_response', requestId, ...taskEnd(event, when) })
  }
  try {
    for await (const events of eventsToTell(run, asker)) {
      for (const event of events) tell(event)
    }
  } catch (error) {
    send({ type: 'error', ...wireErrorOf(error, options).body, requestId })
  }
}

/** The events of a run until its end; of one that has ended only its result. */
async function* eventsToTell(
  { runId, status }: RunRecord,
  { options: { runs }, gone }: Pick<PeerCall, 'options' | 'gone'>,
): AsyncGenerator<readonly LoggedRunEvent[]> {
  if (isTerminalRunStatus(status)) {
    yield await runs.readEvents({ runId, from: 0, limit: 1, types: ['run_result'] })
  } else yield* runs.follow({ runId, from: 0, signal: gone })
}
