/** The reviewer that tools ask: each of its requests is a review of the run. */
import { limitText } from '@tutti/core'

import type { TaskScope } from '../scope/task-scope.ts'
import type { ReviewOutcome } from '../reviews/review-end.ts'
import type { ReviewQuestion, Reviews } from '../reviews/reviews.ts'
import type { ReviewSettings } from '../definition/review-settings.ts'
import type { ApprovalAnswer, ApprovalRequest, Reviewer } from '@tutti/core'

/** Longest description of a call that a review shows, in characters. */
const MAX_DESCRIPTION_LENGTH = 8_000

/** Returns the reviewer of the tool calls of one turn; undefined when nothing can decide reviews. */
export function toolReviewer(
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
      const outcome = await askFor(scope, reviews, {
        timing: 'DURING_EXECUTION',
        slot: `tool/${iterationIndex}/${approval.callId}/${count}`,
        taskDescription: limitText(approval.description, MAX_DESCRIPTION_LENGTH),
        settings: toReviewSettings(approval),
        approval,
        signal,
      })
      return toAnswer(outcome)
    },
  }
}

function toReviewSettings({ timeoutMs, onTimeout, requiredRole }: ApprovalRequest): ReviewSettings {
  return { timeoutMs, onTimeout, ...(requiredRole === undefined ? {} : { requiredRole }) }
}

/** Asks for a decision. A call that asks before it begins counts as idle work until then. */
async function askFor(
  scope: TaskScope,
  reviews: Reviews,
  question: ReviewQuestion,
): Promise<ReviewOutcome> {
  const { inFlight } = scope.run
  if (question.approval?.hasBegun !== false) return reviews.ask(scope, question)
  inFlight.continue()
  try {
    return await reviews.ask(scope, question)
  } finally {
    inFlight.rest()
  }
}

function toAnswer({ decision }: ReviewOutcome): ApprovalAnswer {
  if (decision.action !== 'EDIT') return decision
  return { action: 'EDIT', input: 'input' in decision ? decision.input : decision.text }
}
