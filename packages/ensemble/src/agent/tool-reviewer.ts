/** The reviewer of tool calls: each of their requests is a review of the run. */
import { limitText } from '@tutti/core/internal'

import { createToolSlotPrefix } from '../reviews/review-slots.ts'

import type { TaskScope } from '../scope/task-scope.ts'
import type { ReviewOutcome } from '../reviews/review-end.ts'
import type { ReviewQuestion } from '../reviews/review-question.ts'
import type { Reviews } from '../reviews/reviews.ts'
import type { ReviewSettings } from '../definition/review-settings.ts'
import type { ApprovalRequest, Reviewer } from '@tutti/core'
import type { ApprovalAnswer } from '@tutti/core/internal'
import type { ReviewKind } from '@tutti/protocol/internal'

/** Maximum length of a call's description in a review, in characters. */
const MAX_DESCRIPTION_LENGTH = 8_000

/** Returns the reviewer of the tool calls of one turn; undefined if the run has no reviewer. */
export function createToolReviewer(
  scope: TaskScope,
  reviews: Reviews,
  iterationIndex: number,
): Reviewer | undefined {
  if (!reviews.hasReviewer) return undefined
  const asked = new Map<string, number>()
  return {
    async decide(approval, signal) {
      const count = (asked.get(approval.callId) ?? 0) + 1
      asked.set(approval.callId, count)
      const outcome = await askForReview(scope, reviews, {
        kind: toReviewKind(approval),
        timing: 'DURING_EXECUTION',
        slot: `${createToolSlotPrefix(iterationIndex, approval.callId)}${count}`,
        taskDescription: limitDescription(approval),
        settings: toReviewSettings(approval),
        approval,
        signal,
      })
      return toAnswer(outcome)
    },
  }
}

function toReviewKind({ asksForAnswer, clientTool }: ApprovalRequest): ReviewKind {
  if (clientTool === true) return 'CLIENT_TOOL'
  return asksForAnswer === true ? 'QUESTION' : 'TOOL_CALL'
}

function limitDescription({ description }: ApprovalRequest): string {
  return limitText(description, MAX_DESCRIPTION_LENGTH)
}

function toReviewSettings(approval: ApprovalRequest): ReviewSettings {
  const { timeoutMs, onTimeout, requiredRole } = approval
  return {
    timeoutMs,
    onTimeout,
    ...(requiredRole === undefined ? {} : { requiredRole }),
    // The question replaces the prompt that the ensemble sets for its reviews.
    ...(toReviewKind(approval) === 'QUESTION' ? { prompt: limitDescription(approval) } : {}),
  }
}

/**
 * Opens a review and waits for its decision. A call that asks before it begins does not count as idle
 * meanwhile.
 */
async function askForReview(
  scope: TaskScope,
  reviews: Reviews,
  question: ReviewQuestion,
): Promise<ReviewOutcome> {
  const { inFlight } = scope.run
  if (question.approval?.hasBegun !== false) return reviews.ask(scope, question)
  inFlight.resume()
  try {
    return await reviews.ask(scope, question)
  } finally {
    inFlight.pause()
  }
}

function toAnswer({ decision }: ReviewOutcome): ApprovalAnswer {
  if (decision.action !== 'EDIT') return decision
  return { action: 'EDIT', input: 'input' in decision ? decision.input : decision.text }
}
