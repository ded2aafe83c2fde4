/** Labels and texts of reviews. Pure. */
import { DECISION } from '../../ui/labels.ts'
import { asksForText, isClientCall, type ReviewClosing, type ReviewLike } from './review-like.ts'

import type { ReviewDecisionKind, ReviewTimeoutAction, ReviewTiming } from '@tutti/protocol'

/** Timing of a review relative to its task. */
const TIMING: Readonly<Record<ReviewTiming, string>> = {
  BEFORE_EXECUTION: 'before the task starts',
  DURING_EXECUTION: 'before a tool call',
  AFTER_EXECUTION: 'after the task ends',
}

/** Returns the label of the subject. */
export function labelSubject(review: ReviewLike): string {
  if (asksForText(review)) return 'Question'
  if (review.timing === 'BEFORE_EXECUTION') return 'Task description'
  if (review.timing === 'AFTER_EXECUTION') return 'Output'
  const { tool } = review.detail ?? {}
  return tool === undefined ? 'Tool call' : `Input of ${tool.name}`
}

/** Returns a clause with the time of a review, or with what it waits for. */
export function describeTiming(review: ReviewLike): string {
  return isClientCall(review) ? 'waits for the client' : TIMING[review.timing]
}

/** Returns the title of a review. */
export function formatReviewLabel({ detail, timing }: ReviewLike): string {
  if (detail === undefined) return `Review ${TIMING[timing]}`
  if (detail.tool?.isOfClient === true) return `${detail.taskName} calls a tool of the client`
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

/** Kinds of reviews, by which the list is filtered. */
export const KINDS = ['output', 'input', 'call', 'question'] as const

export type ReviewKind = (typeof KINDS)[number]

/** Labels of the kinds. */
export const KIND_LABELS: Readonly<Record<ReviewKind, string>> = {
  output: 'Task output',
  input: 'Task input',
  call: 'Tool call',
  question: 'Agent question',
}

export function findReviewKind(review: ReviewLike): ReviewKind {
  if (review.timing === 'AFTER_EXECUTION') return 'output'
  if (review.timing === 'BEFORE_EXECUTION') return 'input'
  return asksForText(review) ? 'question' : 'call'
}

/** Maximum length of a preview, in characters. */
const PREVIEW_LENGTH = 280

/** Returns the start of the subject, on one line. */
export function formatReviewPreview(review: ReviewLike): string {
  const { taskOutput, taskDescription, prompt, detail } = review
  const texts: Readonly<Record<ReviewKind, string>> = {
    output: taskOutput,
    // Without a prompt the description is already shown as the question.
    input: prompt === undefined ? '' : taskDescription,
    call: JSON.stringify(detail?.tool?.input) ?? '',
    question: '',
  }
  const text = texts[findReviewKind(review)].replaceAll(/\s+/g, ' ').trim()
  return text.length > PREVIEW_LENGTH ? `${text.slice(0, PREVIEW_LENGTH)}…` : text
}

/** Returns a sentence about the effect of a timeout. */
export function describeTimeout(review: ReviewLike): string {
  return `${AFTER_TIMEOUT[review.onTimeout](review)}.`
}

const AFTER_TIMEOUT: Readonly<Record<ReviewTimeoutAction, (review: ReviewLike) => string>> = {
  CONTINUE: (review) => `If no decision is made in time, ${describeApproval(review)}`,
  EXIT_EARLY: () => 'If no decision is made in time, the run ends early and keeps its outputs',
  FAIL: ({ timing }) =>
    timing === 'DURING_EXECUTION'
      ? 'If no decision is made in time, the tool is not called and the agent is informed'
      : 'If no decision is made in time, the task fails',
}

/** Returns a clause about the effect of an approval. */
export function describeApproval(review: ReviewLike): string {
  if (asksForText(review)) return 'the agent continues without an answer'
  if (review.timing === 'BEFORE_EXECUTION') return 'the task starts unchanged'
  return review.timing === 'DURING_EXECUTION'
    ? 'the tool is called with this input'
    : 'the output is accepted as it is'
}

export const REJECT_EFFECT: Readonly<Record<ReviewTiming, string>> = {
  BEFORE_EXECUTION: 'The task does not run; it fails with your feedback as the reason.',
  DURING_EXECUTION: 'The tool is not called. The agent gets your feedback and continues.',
  AFTER_EXECUTION: 'The agent repeats the task with your feedback.',
}

/** Effects of ending the run. */
export const EXIT_EFFECT: Readonly<Record<ReviewTiming, string>> = {
  BEFORE_EXECUTION:
    'This task and all later tasks do not start. Running tasks may finish, and keep their outputs.',
  DURING_EXECUTION:
    'The tool is not called and this task ends. No further task starts; running tasks may finish, and keep their outputs.',
  AFTER_EXECUTION:
    'This output is accepted as it is and no further task starts. Running tasks may finish, and keep their outputs.',
}

/** Returns the labels of the decision buttons. */
export function labelActions(review: ReviewLike): Readonly<Record<ReviewDecisionKind, string>> {
  const isAsked = asksForText(review) || isClientCall(review)
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
