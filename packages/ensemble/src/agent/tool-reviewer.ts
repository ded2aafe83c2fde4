/** The reviewer that tools ask: each of its questions is a gate of the run. */
import { limitText } from '@tutti/core'

import type { TaskScope } from '../scope/task-scope.ts'
import type { GateOutcome } from '../ports/run-reviewer.ts'
import type { GateQuestion } from '../reviews/reviews.ts'
import type { ReviewSettings } from '../definition/review-settings.ts'
import type { ApprovalAnswer, ApprovalRequest, Reviewer } from '@tutti/core'

/** Longest description of a call that a gate shows, in characters. */
const MAX_DESCRIPTION_LENGTH = 8_000

/** The reviewer of the tool calls of one turn; undefined when there is nobody to ask. */
export function toolReviewer(scope: TaskScope, iterationIndex: number): Reviewer | undefined {
  if (!scope.run.hasReviewer) return undefined
  const asked = new Map<string, number>()
  return {
    async decide(approval, signal) {
      const count = (asked.get(approval.callId) ?? 0) + 1
      asked.set(approval.callId, count)
      const outcome = await askFor(scope, {
        timing: 'DURING_EXECUTION',
        slot: `tool/${iterationIndex}/${approval.callId}/${count}`,
        taskDescription: limitText(approval.description, MAX_DESCRIPTION_LENGTH),
        settings: settingsOf(approval),
        approval,
        signal,
      })
      return toAnswer(outcome)
    },
  }
}

function settingsOf({ timeoutMs, onTimeout, requiredRole }: ApprovalRequest): ReviewSettings {
  return { timeoutMs, onTimeout, ...(requiredRole === undefined ? {} : { requiredRole }) }
}

/** A call that asks for permission to begin rests until then; what is decided is kept before it goes on. */
async function askFor(scope: TaskScope, question: GateQuestion): Promise<GateOutcome> {
  const { gates, inFlight } = scope.run
  if (question.approval?.hasBegun !== false) return gates.ask(scope, question)
  inFlight.goOn()
  try {
    return await gates.ask(scope, question)
  } finally {
    inFlight.rest()
  }
}

function toAnswer({ decision }: GateOutcome): ApprovalAnswer {
  if (decision.action !== 'EDIT') return decision
  return { action: 'EDIT', input: 'input' in decision ? decision.input : decision.text }
}
