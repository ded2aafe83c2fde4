/** From where a task stands to the answer of a turn, or to why there is none. Pure. */
import { AgentError } from '@tutti/agent-call'

import { outputOf, type A2aOutput } from './output.ts'

import type { AgentAnswer, AgentErrorOptions } from '@tutti/agent-call'
import type { TaskRecord } from './task-record.ts'

/** What an agent says when it asks for something and does not say what. */
const NO_QUESTION = 'The agent needs more input'

const NOTHING: A2aOutput = { value: null, text: '' }

/**
 * The answer of a task that has settled.
 *
 * @throws {AgentError} agent_failed with what was made, for a task that failed, was rejected or canceled;
 *   configuration for one that waits for credentials.
 */
export function answerOf(record: TaskRecord): AgentAnswer {
  const { reply, status, artifacts } = record
  if (reply !== undefined) return endOf('open', outputOf([reply]) ?? NOTHING)
  const said = status?.message === undefined ? undefined : outputOf([status.message])
  const made = outputOf(artifacts)
  switch (status?.state) {
    case 'TASK_STATE_COMPLETED':
      return endOf('completed', made ?? said ?? NOTHING)
    case 'TASK_STATE_INPUT_REQUIRED': {
      const question = said?.text ?? made?.text ?? NO_QUESTION
      const { value } = said ?? made ?? { value: question }
      return { kind: 'end', state: 'input_required', output: value, text: question, question }
    }
    case 'TASK_STATE_AUTH_REQUIRED':
      throw failure('The agent asks for credentials', {
        said,
        failureType: 'configuration',
        partial: made?.value,
      })
    default:
      throw failure(FAILURES[status?.state ?? ''] ?? 'The agent ended its task', {
        said,
        failureType: 'agent_failed',
        retryable: status?.message?.metadata?.['retryable'] === true,
        partial: made?.value,
      })
  }
}

/** What was made so far; undefined when nothing. */
export function partialOf({ artifacts }: TaskRecord): unknown {
  return outputOf(artifacts)?.value
}

function endOf(state: 'open' | 'completed', { value, text }: A2aOutput): AgentAnswer {
  return { kind: 'end', state, output: value, text }
}

const FAILURES: Readonly<Record<string, string>> = {
  TASK_STATE_FAILED: 'The agent failed',
  TASK_STATE_CANCELED: 'The agent canceled its task',
  TASK_STATE_REJECTED: 'The agent rejected the task',
}

function failure(
  what: string,
  facts: Pick<AgentErrorOptions, 'failureType' | 'partial'> & {
    readonly said: A2aOutput | undefined
    readonly retryable?: boolean
  },
): AgentError {
  const { said, retryable = false, failureType, partial } = facts
  const message = said === undefined || said.text === '' ? what : `${what}: ${said.text}`
  return new AgentError(message, { failureType, retryable, partial })
}
