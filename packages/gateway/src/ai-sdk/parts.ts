/** Pure: parts of a message that are not texts: tasks, delegations and reviews. */
import { asksQuestion } from '../service/decision-in-text.ts'

import type { GroupCounts } from '../runs/group-progress.ts'
import type { ChatChunk } from './wire.ts'
import type { RunEventOf } from '@tutti/protocol'
import type { TaskOperation } from '@tutti/protocol/internal'

/** Name of the tool whose calls are reviews of tasks. */
export const REVIEW_TOOL = 'review'

/** Whether a review asks the client for a value instead of an approval. */
export function isForClient(review: RunEventOf<'review_requested'>): boolean {
  return review.kind === 'CLIENT_TOOL' || asksQuestion(review)
}

/** Returns a review of a task as the arguments of its call. */
export function toReviewInput({
  timing,
  taskName,
  taskDescription,
  taskOutput,
  prompt,
  toolInput,
}: RunEventOf<'review_requested'>): Readonly<Record<string, unknown>> {
  return {
    timing,
    taskName,
    taskDescription,
    ...(timing === 'AFTER_EXECUTION' ? { taskOutput } : {}),
    ...(prompt === undefined || prompt === null ? {} : { prompt }),
    ...(toolInput === undefined ? {} : { toolInput }),
  }
}

/** Returns the status of a task; a later one replaces it. */
export function toTaskPart({ name, status, agentRole, attempt, reason }: TaskOperation): ChatChunk {
  // The failed attempt is what this part shows; the next one follows.
  const shown = status === 'RETRYING' ? 'FAILED' : status
  return { type: 'data-task', id: name, data: { name, status: shown, agentRole, attempt, reason } }
}

/** Returns the counts of the tasks that a task has added; later ones replace them. */
export function toGroupPart(counts: GroupCounts): ChatChunk {
  return { type: 'data-group', id: counts.parent, data: { ...counts } }
}

/** Returns the status of a delegation; a later one replaces it. */
export function toDelegationPart(
  event: RunEventOf<'delegation_started' | 'delegation_completed' | 'delegation_failed'>,
): ChatChunk {
  const { delegationId, delegatingAgentRole, workerRole, taskName, workerTask } = event
  const data = { delegatingAgentRole, workerRole, taskName, workerTask, ...toDelegationEnd(event) }
  return { type: 'data-delegation', id: delegationId, data }
}

function toDelegationEnd(
  event: RunEventOf<'delegation_started' | 'delegation_completed' | 'delegation_failed'>,
): Readonly<Record<string, unknown>> {
  switch (event.type) {
    case 'delegation_started':
      return { status: 'RUNNING', ...(event.handoff === undefined ? {} : { handoff: true }) }
    case 'delegation_completed':
      return { status: 'COMPLETED', durationMs: event.durationMs }
    case 'delegation_failed':
      return { status: 'FAILED', reason: event.reason }
  }
}
