/** Converts a settled task to the answer of a turn, or to a failure. Pure. */
import { AgentError } from '@tutti/agent-call/internal'

import { toAnswerSchema } from '../answer-schema.ts'
import { readOutput, type A2aOutput } from './output.ts'

import type { AgentAnswer, AgentErrorOptions } from '@tutti/agent-call/internal'
import type { TSchema } from '@tutti/core'
import type { AgentTaskState } from './task-state.ts'
import type { A2aPart } from './wire.ts'

/** Question of an agent that asks for input without a message. */
const NO_QUESTION = 'The agent needs more input'

const NOTHING: A2aOutput = { value: null, text: '' }

/**
 * Returns the answer of a settled task.
 *
 * @throws {AgentError} agent_failed with the artifacts of a task that failed, was rejected or cancelled; configuration
 *   for one that waits for credentials.
 */
export function toA2aAnswer(record: AgentTaskState): AgentAnswer {
  const { reply, status, artifacts } = record
  if (reply !== undefined) return toEnd('open', readOutput([reply]) ?? NOTHING)
  const said = status?.message === undefined ? undefined : readOutput([status.message])
  const made = readOutput(artifacts)
  switch (status?.state) {
    case 'TASK_STATE_COMPLETED':
      return toEnd('completed', made ?? said ?? NOTHING)
    case 'TASK_STATE_INPUT_REQUIRED': {
      const { parts = [] } = status.message ?? {}
      const question = readQuestion(parts) ?? said?.text ?? made?.text ?? NO_QUESTION
      const { value } = said ?? made ?? { value: question }
      const questionSchema = readAnswerSchema(parts)
      return {
        kind: 'end',
        state: 'input_required',
        output: value,
        text: question,
        question,
        ...(questionSchema === undefined ? {} : { questionSchema }),
      }
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

/** Returns the text of a question. Its data is for programs: a person reads it only when there is no text. */
function readQuestion(parts: readonly A2aPart[]): string | undefined {
  const text = parts.map((part) => part.text ?? '').join('')
  return text.trim() === '' ? undefined : text
}

/** Returns the JSON Schema of the answer that a Tutti server states in the data of a question. */
function readAnswerSchema(parts: readonly A2aPart[]): TSchema | undefined {
  return parts.map(({ data }) => toAnswerSchema(data)).find((schema) => schema !== undefined)
}

/** Returns the output so far; undefined when there is none. */
export function readPartialOutput({ artifacts }: AgentTaskState): unknown {
  return readOutput(artifacts)?.value
}

function toEnd(state: 'open' | 'completed', { value, text }: A2aOutput): AgentAnswer {
  return { kind: 'end', state, output: value, text }
}

const FAILURES: Readonly<Record<string, string>> = {
  TASK_STATE_FAILED: 'The agent failed',
  TASK_STATE_CANCELED: 'The agent cancelled its task',
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
