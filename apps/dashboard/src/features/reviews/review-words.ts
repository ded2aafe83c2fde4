/** Pure: what a review asks, and what comes of each answer, as a person says it. */
import { DECISION } from '../../ui/labels.ts'
import { asksForText, type ReviewClosing, type ReviewLike } from './review-like.ts'

import type { ReviewDecisionKind, ReviewTimeoutAction, ReviewTiming } from '@tutti/protocol'

/** When a review takes place, seen from its task. */
export const TIMING: Readonly<Record<ReviewTiming, string>> = {
  BEFORE_EXECUTION: 'before the task begins',
  DURING_EXECUTION: 'before a tool is called',
  AFTER_EXECUTION: 'after the task is done',
}

/** What is looked at. */
export function subjectOf(review: ReviewLike): string {
  if (asksForText(review)) return 'Question'
  if (review.timing === 'BEFORE_EXECUTION') return 'What the task is to do'
  if (review.timing === 'AFTER_EXECUTION') return 'Output'
  const { tool } = review.detail ?? {}
  return tool === undefined ? 'Tool call' : `Input of ${tool.name}`
}

/** What a review is of, in a few words. */
export function reviewTitle({ detail, timing }: ReviewLike): string {
  if (detail === undefined) return `Review ${TIMING[timing]}`
  return `Review of ${detail.taskName}`
}

/** Returns the reason why this page cannot decide a review; undefined when it can, or while that is unknown. */
export function forbiddenWords({ mayDecide, requiredRole }: ReviewLike): string | undefined {
  if (mayDecide !== false) return undefined
  return requiredRole === undefined
    ? 'Your key can read reviews, but not decide them.'
    : `Only a key with the role “${requiredRole}” can decide this.`
}

/** The role that a review requires, in a sentence. */
export function roleWords({ requiredRole }: ReviewLike): readonly string[] {
  return requiredRole === undefined ? [] : [`Requires the role “${requiredRole}”.`]
}

/** The kinds of reviews, by which the list is filtered. */
export const KINDS = ['output', 'input', 'call', 'question'] as const

/** Kinds of subjects under review. */
export type ReviewKind = (typeof KINDS)[number]

/** The kinds as a person reads them. */
export const KIND_WORDS: Readonly<Record<ReviewKind, string>> = {
  output: 'Task output',
  input: 'Task input',
  call: 'Tool call',
  question: 'Agent question',
}

export function kindOf(review: ReviewLike): ReviewKind {
  if (review.timing === 'AFTER_EXECUTION') return 'output'
  if (review.timing === 'BEFORE_EXECUTION') return 'input'
  return asksForText(review) ? 'question' : 'call'
}

/** Longest preview, in characters; the rest is in the review itself. */
const PREVIEW_LENGTH = 280

/** The start of what is under review, on one line. */
export function reviewPreview(review: ReviewLike): string {
  const { taskOutput, taskDescription, prompt, detail } = review
  const texts: Readonly<Record<ReviewKind, string>> = {
    output: taskOutput,
    // Without a prompt the description is the question already.
    input: prompt === undefined ? '' : taskDescription,
    call: JSON.stringify(detail?.tool?.input) ?? '',
    question: '',
  }
  const text = texts[kindOf(review)].replaceAll(/\s+/g, ' ').trim()
  return text.length > PREVIEW_LENGTH ? `${text.slice(0, PREVIEW_LENGTH)}…` : text
}

/** What happens when nobody decides in time. */
export function timeoutWords(review: ReviewLike): string {
  return `${AFTER_TIMEOUT[review.onTimeout](review)}.`
}

const AFTER_TIMEOUT: Readonly<Record<ReviewTimeoutAction, (review: ReviewLike) => string>> = {
  CONTINUE: (review) => `If nobody decides in time, ${goesOn(review)}`,
  EXIT_EARLY: () => 'If nobody decides in time, the run ends early and keeps what is done',
  FAIL: ({ timing }) =>
    timing === 'DURING_EXECUTION'
      ? 'If nobody decides in time, the tool is not called and the agent is told so'
      : 'If nobody decides in time, the task fails',
}

/** What approving does. */
export function goesOn(review: ReviewLike): string {
  if (asksForText(review)) return 'the agent goes on without an answer'
  if (review.timing === 'BEFORE_EXECUTION') return 'the task begins as it is'
  return review.timing === 'DURING_EXECUTION'
    ? 'the tool is called with this input'
    : 'the output is taken as it is'
}

export const REJECT_EFFECT: Readonly<Record<ReviewTiming, string>> = {
  BEFORE_EXECUTION: 'The task is not done and fails with your words as the reason.',
  DURING_EXECUTION: 'The tool is not called; the agent is told your words and goes on.',
  AFTER_EXECUTION: 'The agent does the task again with your words.',
}

/** What ending the run does. */
export const EXIT_DOES: Readonly<Record<ReviewTiming, string>> = {
  BEFORE_EXECUTION:
    'This task and those after it do not begin. Tasks at work may finish, and what is done is kept.',
  DURING_EXECUTION:
    'The tool is not called and this task ends. No other task begins; tasks at work may finish, and what is done is kept.',
  AFTER_EXECUTION:
    'This output is taken as it is and no other task begins. Tasks at work may finish, and what is done is kept.',
}

/** Words of the buttons. */
export function actionWords(review: ReviewLike): Readonly<Record<ReviewDecisionKind, string>> {
  const isAsked = asksForText(review)
  return {
    CONTINUE: isAsked ? 'Go on without an answer' : 'Approve',
    EDIT: isAsked ? 'Answer…' : 'Edit…',
    REJECT: 'Reject…',
    EXIT_EARLY: 'End run early…',
  }
}

/** How a review was closed; `isKnownOther` when it is certain that the reader did not. */
export function endWords(end: ReviewClosing, isKnownOther: boolean): string {
  switch (end.kind) {
    case 'decided': {
      const { decision, by } = end
      const what = by === undefined ? DECISION[decision] : `${by} ${DID[decision]}`
      return isKnownOther ? `Somebody else decided. ${what}` : what
    }
    case 'timed_out':
      return `Nobody decided in time: ${TIMED_OUT[end.action]}`
    case 'withdrawn':
      return `Not asked any more: ${end.reason}`
    case 'gone':
      return 'Closed while the page did not hear from the server'
  }
}

const DID: Readonly<Record<ReviewDecisionKind, string>> = {
  CONTINUE: 'approved it',
  EDIT: 'edited it',
  REJECT: 'rejected it',
  EXIT_EARLY: 'ended the run early',
}

const TIMED_OUT: Readonly<Record<ReviewTimeoutAction, string>> = {
  CONTINUE: 'it went on as it was',
  EXIT_EARLY: 'the run ended early',
  FAIL: 'it counts as rejected',
}
