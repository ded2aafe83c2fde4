/** Questions of handlers to the reviewers of the run. */
import { Type, TuttiError } from '@tutti/core'
import {
  findOptionProblems,
  limitText,
  schemaReader,
  type Answer,
  type OptionNames,
  type ToolSchema,
} from '@tutti/core/internal'

import { DEFAULT_REVIEW_TIMEOUT_MS, findDefaultsProblems } from '../definition/review-settings.ts'
import { exitEarlyError, rejectionError } from '../reviews/review-end.ts'
import { createToolSlotPrefix } from '../reviews/review-slots.ts'
import { toOperationId } from '../scope/recorded-operations.ts'

import type { QuestionOptions } from '../definition/operations.ts'
import type { OperationFrame } from './operation-frame.ts'

/** Maximum length of a question in the description of its review, in characters. */
const MAX_QUESTION_LENGTH = 8_000

const QUESTION_NAMES = {
  timeoutMs: true,
  onTimeout: true,
  requiredRole: true,
} as const satisfies OptionNames<Omit<QuestionOptions<ToolSchema>, 'schema'>>

/** Asks a question, or returns its recorded answer; see `HandlerOperations.ask`. */
export async function askQuestion(
  frame: OperationFrame,
  question: string,
  { schema = Type.String(), ...options }: QuestionOptions<ToolSchema>,
): Promise<Answer<unknown>> {
  const { run, identity } = frame.scope
  const { taskName, agentRole } = identity
  const { reviews } = frame.settings.tooling
  const operation = frame.take()
  const { ordinal, recorded } = operation
  frame.assertSame(operation, 'question', { asked: 'a question', isSame: () => true })
  assertOptions(options)
  const { jsonSchema, read } = schemaReader(schema, { action: 'Cannot ask a question: schema' })
  if (!reviews.hasReviewer) {
    throw new TuttiError(
      'CONFIG_INVALID',
      `Task "${taskName}" asks a question, but the run has no reviewer: set the option reviewer`,
    )
  }
  await frame.turnOfResult('Question', operation)
  const callId = toOperationId('question', ordinal)
  const {
    timeoutMs = DEFAULT_REVIEW_TIMEOUT_MS,
    onTimeout = 'EXIT_EARLY',
    requiredRole,
  } = {
    ...run.ensemble.review,
    ...options,
  }
  const settings = {
    timeoutMs,
    onTimeout,
    ...(requiredRole === undefined ? {} : { requiredRole }),
  }
  const begun = recorded?.endedAt === undefined ? 'begun' : 'ended'
  const progress = recorded === undefined ? 'new' : begun
  const { decision, timedOut } = await frame.perform('Question', { progress }, () =>
    reviews.ask(frame.scope, {
      kind: 'QUESTION',
      timing: 'DURING_EXECUTION',
      slot: `${createToolSlotPrefix(0, callId)}1`,
      taskDescription: limitText(question, MAX_QUESTION_LENGTH),
      settings: { ...settings, prompt: limitText(question, MAX_QUESTION_LENGTH) },
      signal: frame.signal,
      approval: {
        ...settings,
        description: question,
        toolName: 'ask',
        callId,
        agentRole,
        taskName,
        runId: run.runId,
        // A decision covers the schema of the answer.
        input: { answerSchema: jsonSchema },
        inputSchema: jsonSchema,
        hasBegun: true,
        isRepeatable: true,
        asksForAnswer: true,
        async checkEdit(answer) {
          const decoded = await read(answer)
          return decoded.ok ? [] : decoded.problems
        },
      },
    }),
  )
  switch (decision.action) {
    case 'CONTINUE':
      return { answered: false, timedOut }
    case 'EDIT': {
      const decoded = await read('input' in decision ? decision.input : decision.text)
      if (decoded.ok) return { answered: true, value: decoded.value }
      throw new TuttiError('OUTPUT_INVALID', `The answer to task "${taskName}" is not valid`, {
        details: { problems: decoded.problems },
      })
    }
    case 'REJECT':
      throw rejectionError(taskName, decision.feedback, timedOut)
    case 'EXIT_EARLY':
      throw frame.end(exitEarlyError(taskName, timedOut))
  }
}

/** Checks the options of a question. @throws {TuttiError} CONFIG_INVALID, naming every problem */
function assertOptions(options: Omit<QuestionOptions<ToolSchema>, 'schema'>): void {
  const problems = [
    ...findOptionProblems(options, QUESTION_NAMES),
    ...findDefaultsProblems('ask', options),
  ]
  if (problems.length > 0) {
    throw new TuttiError('CONFIG_INVALID', `Cannot ask a question: ${problems.join('; ')}`, {
      details: { problems },
    })
  }
}
