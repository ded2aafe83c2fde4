/**
 * Decides the next input for an agent that has answered.
 *
 * CALL-Y4 A question of the agent goes to `reply`, else to the reviewer, else in a conversation back to the agent; else
 *    the try fails with the question.
 */
import { errorMessage, foreignSchema } from '@tutti/core/internal'
import { AgentError, isDecided } from './agent-error.ts'
import { toJsonText } from './json-text.ts'

import type { ToolSchema } from '@tutti/core/internal'
import type { AgentAnswer } from './agent-connector.ts'
import type {
  AgentToolContext,
  AnsweredTurn,
  ResolvedAgentSettings,
} from './agent-tool-settings.ts'

/** The next action after an answer. */
export type Next = { readonly kind: 'done' } | { readonly kind: 'say'; readonly input: unknown }

/** A turn that was sent and answered. */
export interface EndedTurn {
  /** From 0. */
  readonly index: number
  readonly input: unknown
  readonly answer: AgentAnswer
}

const DONE: Next = { kind: 'done' }

/** Decides the next action. @throws {AgentError} when a question of the agent is not answered, or `reply` fails. */
export async function nextTurn(
  settings: ResolvedAgentSettings,
  turn: EndedTurn,
  context: AgentToolContext,
): Promise<Next> {
  const { answer, index } = turn
  const { mode, maxTurns, reply } = settings
  const isConversation = mode === 'conversational'
  const isAsking = answer.state === 'input_required'
  if (answer.state === 'completed' || (!isConversation && !isAsking)) return DONE
  if (index + 1 >= maxTurns) {
    if (isConversation) return DONE
    throw unansweredError(answer, `after ${maxTurns} turns`)
  }
  if (reply !== undefined) return callReply(reply, turn, context)
  if (isAsking && context.hasReviewer) return askReviewer(answer, context)
  if (isConversation) return { kind: 'say', input: toFeedback(answer.output) }
  throw unansweredError(answer, 'without a reviewer')
}

async function callReply(
  reply: NonNullable<ResolvedAgentSettings['reply']>,
  { index, input, answer: { state, output, text = toJsonText(output), ...more } }: EndedTurn,
  context: AgentToolContext,
): Promise<Next> {
  const { question, questionSchema } = more
  const turn: AnsweredTurn = {
    index,
    input,
    state,
    output,
    text,
    ...(question === undefined ? {} : { question }),
    ...(questionSchema === undefined ? {} : { questionSchema }),
  }
  try {
    const next = await reply(turn, context)
    return next === undefined ? DONE : { kind: 'say', input: next }
  } catch (error) {
    if (isDecided(error)) throw error
    throw new AgentError(`The reply to turn ${index} failed: ${errorMessage(error)}`, {
      failureType: 'configuration',
      retryable: false,
      cause: error,
    })
  }
}

async function askReviewer(
  answer: AgentAnswer,
  { requestAnswer }: AgentToolContext,
): Promise<Next> {
  const { question = toJsonText(answer.output), questionSchema: schema } = answer
  const given = await requestAnswer<ToolSchema>(question, {
    onTimeout: 'CONTINUE',
    ...(schema === undefined ? {} : { schema: foreignSchema(schema).schema }),
  })
  if (given.answered) return { kind: 'say', input: given.value }
  throw unansweredError(answer, 'that the reviewer did not answer')
}

function unansweredError({ question, output }: AgentAnswer, why: string): AgentError {
  return new AgentError(`The agent asked a question ${why}: ${question ?? toJsonText(output)}`, {
    failureType: 'input_required',
    retryable: false,
    partial: output,
  })
}

/** Returns the `output` of an answer that has one, even null, else the whole answer. */
function toFeedback(output: unknown): unknown {
  const hasOutput = typeof output === 'object' && output !== null && 'output' in output
  return hasOutput ? output.output : output
}
