/** Labels and texts of reviews. Pure. */
import { DECISION } from '../../ui/labels.ts'
import { isQuestion, isClientCall, type ReviewClosing, type ReviewLike } from './review-like.ts'

import type { ReviewDecisionKind, ReviewKind, ReviewTimeoutAction } from '@tutti/protocol/internal'

/** Time of each kind of review, or what it waits for. */
const MOMENTS: Readonly<Record<ReviewKind, string>> = {
  TASK_INPUT: 'before the task starts',
  TASK_OUTPUT: 'after the task ends',
  TOOL_CALL: 'before a tool call',
  QUESTION: 'waits for an answer',
  CLIENT_TOOL: 'waits for the client',
  EVENT: 'waits for an event',
}

/** Returns the label of the subject. */
export function labelSubject(review: ReviewLike): string {
  if (isQuestion(review)) return 'Question'
  if (review.kind === 'TASK_INPUT') return 'Task description'
  if (review.kind === 'TASK_OUTPUT') return 'Output'
  const { tool } = review.detail ?? {}
  return tool === undefined ? 'Tool call' : `Input of ${tool.name}`
}

/** Returns a clause with the time of a review, or with what it waits for. */
export function describeTiming(review: ReviewLike): string {
  return MOMENTS[review.kind]
}

/** Returns the title of a review. */
export function formatReviewLabel({ detail, kind }: ReviewLike): string {
  if (kind === 'QUESTION') {
    return detail === undefined ? KIND_LABELS[kind] : `Question of ${detail.taskName}`
  }
  if (detail === undefined) return `Review ${MOMENTS[kind]}`
  if (kind === 'EVENT') return `Wait of ${detail.taskName}`
  if (kind === 'CLIENT_TOOL') return `${detail.taskName} calls a tool of the client`
  return `Review of ${detail.taskName}`
}

/** Returns the reason why this page cannot decide a review; undefined when it can, or while that is unknown. */
export function describeForbidden(review: ReviewLike): string | undefined {
  const { mayDecide, requiredRole } = review
  if (mayDecide !== false) return undefined
  if (isClientCall(review)) return 'Your key can read runs, but not answer their calls.'
  return requiredRole === undefined
    ? 'Your key can read reviews, but not decide them.'
    : `Only a key with the role “${requiredRole}” can decide this.`
}

/** Returns a sentence with the role that a review requires, if any. */
export function describeRole({ requiredRole }: ReviewLike): readonly string[] {
  return requiredRole === undefined ? [] : [`Requires the role “${requiredRole}”.`]
}

/** Kinds of reviews that people decide, by which the list is filtered. */
export const KINDS = ['TASK_OUTPUT', 'TASK_INPUT', 'TOOL_CALL', 'QUESTION'] as const

/** Labels of the kinds. */
export const KIND_LABELS: Readonly<Record<ReviewKind, string>> = {
  TASK_OUTPUT: 'Task output',
  TASK_INPUT: 'Task input',
  TOOL_CALL: 'Tool call',
  QUESTION: 'Agent question',
  CLIENT_TOOL: 'Client tool',
  EVENT: 'Wait',
}

/** Maximum length of a preview, in characters. */
const PREVIEW_LENGTH = 280

/** Returns the start of the subject, on one line. */
export function formatReviewPreview(review: ReviewLike): string {
  const { taskOutput, taskDescription, prompt, detail } = review
  const texts: Readonly<Record<ReviewKind, string>> = {
    TASK_OUTPUT: taskOutput,
    // Without a prompt the description is already shown as the question.
    TASK_INPUT: prompt === undefined ? '' : taskDescription,
    TOOL_CALL: JSON.stringify(detail?.tool?.input) ?? '',
    QUESTION: '',
    CLIENT_TOOL: JSON.stringify(detail?.tool?.input) ?? '',
    EVENT: prompt ?? '',
  }
  const text = texts[review.kind].replaceAll(/\s+/g, ' ').trim()
  return text.length > PREVIEW_LENGTH ? `${text.slice(0, PREVIEW_LENGTH)}…` : text
}

/** Returns a sentence about the effect of a timeout. */
export function describeTimeout(review: ReviewLike): string {
  return `${AFTER_TIMEOUT[review.onTimeout](review)}.`
}

const AFTER_TIMEOUT: Readonly<Record<ReviewTimeoutAction, (review: ReviewLike) => string>> = {
  CONTINUE: (review) => `If no decision is made in time, ${describeApproval(review)}`,
  EXIT_EARLY: () => 'If no decision is made in time, the run ends early and keeps its outputs',
  FAIL: ({ kind }) => `If no decision is made in time, ${FAILURES[kind]}`,
}

const FAILURES: Readonly<Record<ReviewKind, string>> = {
  TASK_INPUT: 'the task fails',
  TASK_OUTPUT: 'the task fails',
  TOOL_CALL: 'the tool is not called and the agent is informed',
  QUESTION: 'the tool call fails and the agent is informed',
  CLIENT_TOOL: 'the tool call fails and the agent is informed',
  EVENT: 'the wait fails',
}

/** Returns a clause about the effect of an approval. */
export function describeApproval(review: ReviewLike): string {
  if (isQuestion(review)) return 'the agent continues without an answer'
  if (review.kind === 'EVENT') return 'the task continues without an event'
  if (review.kind === 'TASK_INPUT') return 'the task starts unchanged'
  return review.kind === 'TASK_OUTPUT'
    ? 'the output is accepted as it is'
    : 'the tool is called with this input'
}

export const REJECT_EFFECT: Readonly<Record<ReviewKind, string>> = {
  TASK_INPUT: 'The task does not run; it fails with your feedback as the reason.',
  TASK_OUTPUT: 'The agent repeats the task with your feedback.',
  TOOL_CALL: 'The tool is not called. The agent gets your feedback and continues.',
  QUESTION: 'The tool call that asks fails. The agent gets your feedback and continues.',
  CLIENT_TOOL: 'The call fails. The agent gets your feedback and continues.',
  EVENT: 'The wait fails with your feedback as the reason.',
}

/** Effects of ending the run. */
export const EXIT_EFFECT: Readonly<Record<ReviewKind, string>> = {
  TASK_INPUT:
    'This task and all later tasks do not start. Running tasks may finish, and keep their outputs.',
  TOOL_CALL:
    'The tool is not called and this task ends. No further task starts; running tasks may finish, and keep their outputs.',
  QUESTION:
    'The question stays unanswered and this task ends. No further task starts; running tasks may finish, and keep their outputs.',
  CLIENT_TOOL:
    'The call stays unanswered and this task ends. No further task starts; running tasks may finish, and keep their outputs.',
  EVENT:
    'The wait ends without an event, and so does this task. No further task starts; running tasks may finish, and keep their outputs.',
  TASK_OUTPUT:
    'This output is accepted as it is and no further task starts. Running tasks may finish, and keep their outputs.',
}

const ACTIONS: readonly ReviewDecisionKind[] = ['CONTINUE', 'EDIT', 'REJECT', 'EXIT_EARLY']

/** Returns the possible decisions; the first one is the primary button. */
export function listActions({ kind }: ReviewLike): readonly ReviewDecisionKind[] {
  if (kind === 'CLIENT_TOOL') return ['EDIT', 'REJECT', 'EXIT_EARLY']
  return kind === 'QUESTION' ? ['EDIT', 'CONTINUE', 'REJECT', 'EXIT_EARLY'] : ACTIONS
}

/** Returns the labels of the decision buttons. */
export function labelActions(review: ReviewLike): Readonly<Record<ReviewDecisionKind, string>> {
  const isAsked = isQuestion(review) || isClientCall(review)
  return {
    CONTINUE: isAsked ? 'Continue without answer' : 'Approve',
    EDIT: isAsked ? 'Answer…' : 'Edit…',
    REJECT: isClientCall(review) ? 'Report failure…' : 'Reject…',
    EXIT_EARLY: 'End run early…',
  }
}

/**
 * Describes the outcome of a review; `isKnownOther` is whether another reviewer decided for
 * certain.
 */
export function describeReviewEnd(end: ReviewClosing, isKnownOther: boolean): string {
  switch (end.kind) {
    case 'decided': {
      const { decision, by } = end
      const what = by === undefined ? DECISION[decision] : `${by} ${DID[decision]}`
      return isKnownOther ? `Another reviewer decided: ${what}` : what
    }
    case 'timed_out':
      return `Timed out: ${TIMED_OUT[end.action]}`
    case 'withdrawn':
      return `Withdrawn: ${end.reason}`
    case 'gone':
      return 'Closed while the page was disconnected'
  }
}

const DID: Readonly<Record<ReviewDecisionKind, string>> = {
  CONTINUE: 'approved it',
  EDIT: 'edited it',
  REJECT: 'rejected it',
  EXIT_EARLY: 'ended the run early',
}

const TIMED_OUT: Readonly<Record<ReviewTimeoutAction, string>> = {
  CONTINUE: 'continued without a decision',
  EXIT_EARLY: 'the run ended early',
  FAIL: 'counts as rejected',
}
