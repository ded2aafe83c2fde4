/** What `tasks/send` and `tasks/sendSubscribe` have in common: the task, the limits of its caller, his leaving. */
import { USAGE_EXTENSION } from '@tutti/protocol'

import { cancelAtDeadline } from '../peer/cancel-at-deadline.ts'
import { holdToLimits, runLimits, type RunLimits } from './caller-limits.ts'
import { GRACE_MS } from './limits.ts'
import { SendParams } from './message-schema.ts'
import { openTask, type OpenTask, type Sender } from './open-task.ts'
import { assertSendable, readParams } from './read-envelope.ts'

/** A task that is under way, and what its caller holds it to. */
export interface TakenSend {
  readonly task: OpenTask
  readonly limits: RunLimits
}

/**
 * Begins the task that a body asks for, or goes on with one.
 *
 * @throws {TuttiError} BAD_REQUEST with every problem, and as `openTask`.
 */
export async function takeSend(body: unknown, method: string, sender: Sender): Promise<TakenSend> {
  const { options } = sender
  const params = readParams(body, method, SendParams)
  assertSendable(params)
  const asked = runLimits(params.metadata?.[USAGE_EXTENSION] ?? {}, options.clock.now())
  const task = await openTask(params, sender)
  const limits = task.isBegun ? { ...asked, maxCostUsd: Infinity, maxTokens: Infinity } : asked
  void holdToLimits(task.run, limits, sender)
  return { task, limits }
}

/**
 * Has the run cancelled after a time when nobody can ask for it again. A server that is shut down has left
 * its callers, and not they the runs that it hands over.
 */
export function leaveTask({ run, isUnnamed }: OpenTask, { options, caller }: Sender): void {
  const { runs, clock } = options
  if (!isUnnamed || runs.state === 'DRAINING') return
  void cancelAtDeadline({ run, deadlineAt: clock.now() + GRACE_MS }, { options, caller })
}
