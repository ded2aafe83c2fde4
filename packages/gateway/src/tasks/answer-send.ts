/** Answers `tasks/send`: when the run has ended or waits for a person. */
import { TASK_WITHOUT_RESULT } from '../http/audited.ts'
import { wireErrorOf } from '../http/on-error.ts'
import { answer, refusal } from './answer.ts'
import { followTask, isTaskEnd } from './follow-task.ts'
import { leaveTask, takeSend, type TakenSend } from './take-send.ts'

import type { Sender } from './open-task.ts'
import type { Envelope } from './read-envelope.ts'
import type { TaskEnd } from './task-account.ts'

/** A body as it came, and who waits for the answer. */
export interface WireCall {
  readonly body: Readonly<Record<string, unknown>>
  readonly envelope: Envelope
  readonly sender: Sender
  /** Aborts when the caller has gone. */
  readonly signal: AbortSignal
}

/**
 * The answer.
 *
 * @throws {TuttiError} as `takeSend`.
 */
export async function answerSend({ body, envelope, sender, signal }: WireCall): Promise<Response> {
  const taken = await takeSend(body, 'tasks/send', sender)
  const { run, sessionId } = taken.task
  const named = { id: run.runId, ...(sessionId === undefined ? {} : { sessionId }) }
  try {
    const end = await endOf(taken, sender, signal)
    if (end !== undefined) return answerWith(end, envelope)
  } catch (error) {
    // The run was taken in all the same: with its id the caller can ask for it again.
    return refusal(envelope, wireErrorOf(error, sender.options), { ...named, status: 'working' })
  }
  leaveTask(taken.task, sender)
  return answer(envelope, { ...named, status: 'working' })
}

async function endOf(
  { task, limits }: TakenSend,
  { options }: Sender,
  signal: AbortSignal,
): Promise<TaskEnd | undefined> {
  for await (const lines of followTask(task, { options, limits, signal })) {
    const last = lines.at(-1)
    if (last !== undefined && isTaskEnd(last)) return last
  }
  return undefined
}

function answerWith(end: TaskEnd, envelope: Envelope): Response {
  const { total_cost_usd: cost } = end
  const body = cost === undefined ? end : { ...end, cost_usd: cost }
  const hasResult = end.status === 'completed' || end.status === 'input-required'
  return answer(
    envelope,
    body,
    hasResult || envelope.rpcId !== undefined ? 200 : TASK_WITHOUT_RESULT,
  )
}
