/** Reviews that handlers open themselves: questions and waits. */
import { TuttiError, type ApprovalRequest } from '@tutti/core'
import { limitText } from '@tutti/core/internal'

import { exitEarlyError, rejectionError } from '../reviews/review-end.ts'
import { createToolSlotPrefix } from '../reviews/review-slots.ts'
import { toOperationId } from '../scope/recorded-operations.ts'

import type { ReviewAnswer } from '../ports/run-reviewer.ts'
import type { ReviewOutcome } from '../reviews/review-end.ts'
import type { ReviewQuestion } from '../reviews/review-question.ts'
import type { AskedOperation, OperationFrame } from './operation-frame.ts'
import type { Decoded } from '@tutti/protocol/internal'

/** Maximum length of the description and the prompt of a review, in characters. */
const MAX_DESCRIPTION_LENGTH = 8_000

/** A review that a handler opens, and how it is decided. */
export interface HandlerReview
  extends
    Pick<ReviewQuestion, 'endsAt' | 'waitsFor'>,
    Pick<ApprovalRequest, 'input' | 'inputSchema' | 'checkEdit'> {
  readonly kind: 'QUESTION' | 'EVENT'
  readonly operation: 'question' | 'wait'
  /** Name of the operation in the code of handlers. */
  readonly toolName: string
  readonly description: string
  readonly settings: Pick<ApprovalRequest, 'timeoutMs' | 'onTimeout' | 'requiredRole'>
}

/** Opens a review as an operation of a handler, or returns its recorded outcome. */
export async function askReview(
  frame: OperationFrame,
  asked: AskedOperation,
  review: HandlerReview,
): Promise<ReviewOutcome> {
  const { kind, operation, description, settings, endsAt, waitsFor, ...approval } = review
  const { run, identity } = frame.scope
  const { taskName, agentRole } = identity
  const { ordinal, recorded } = asked
  const what = operation === 'question' ? 'Question' : 'Wait'
  await frame.turnOfResult(what, asked)
  const callId = toOperationId(operation, ordinal)
  const begun = recorded?.endedAt === undefined ? 'begun' : 'ended'
  const progress = recorded === undefined ? 'new' : begun
  const text = limitText(description, MAX_DESCRIPTION_LENGTH)
  return frame.perform(what, { progress }, () =>
    frame.settings.tooling.reviews.ask(frame.scope, {
      kind,
      timing: 'DURING_EXECUTION',
      slot: `${createToolSlotPrefix(0, callId)}1`,
      taskDescription: text,
      settings: { ...settings, prompt: text },
      ...(endsAt === undefined ? {} : { endsAt }),
      ...(waitsFor === undefined ? {} : { waitsFor }),
      signal: frame.signal,
      approval: {
        ...settings,
        ...approval,
        description,
        callId,
        agentRole,
        taskName,
        runId: run.runId,
        hasBegun: true,
        isRepeatable: true,
        asksForAnswer: true,
      },
    }),
  )
}

/** Value of a decided review, and the decision; or the absence of both. */
export type Reviewed<Value> =
  | { readonly isGiven: true; readonly value: Value; readonly decision: ReviewAnswer }
  | { readonly isGiven: false; readonly timedOut: boolean }

/**
 * Reads the outcome of a review.
 *
 * @param read reads the value of an edit.
 * @param invalid message of the error for an invalid value.
 * @throws {TuttiError} OUTPUT_INVALID, REVIEW_REJECTED, REVIEW_TIMEOUT or EXIT_EARLY.
 */
export async function readOutcome<Value>(
  frame: OperationFrame,
  { decision, timedOut }: ReviewOutcome,
  {
    read,
    invalid,
  }: { readonly read: (value: unknown) => Promise<Decoded<Value>>; readonly invalid: string },
): Promise<Reviewed<Value>> {
  const { taskName } = frame.scope.identity
  switch (decision.action) {
    case 'CONTINUE':
      return { isGiven: false, timedOut }
    case 'EDIT': {
      const decoded = await read('input' in decision ? decision.input : decision.text)
      if (decoded.ok) return { isGiven: true, value: decoded.value, decision }
      throw new TuttiError('OUTPUT_INVALID', invalid, { details: { problems: decoded.problems } })
    }
    case 'REJECT':
      throw rejectionError(taskName, decision.feedback, timedOut)
    case 'EXIT_EARLY':
      throw frame.end(exitEarlyError(taskName, timedOut))
  }
}

/** Returns the function that checks an edit, for a reader of its value. */
export function toEditCheck(
  read: (value: unknown) => Promise<Decoded<unknown>>,
): ApprovalRequest['checkEdit'] {
  return async (value) => {
    const decoded = await read(value)
    return decoded.ok ? [] : decoded.problems
  }
}
