/** Questions of handlers to the reviewers of the run. */
import { Type, TuttiError } from '@tutti/core'
import {
  findOptionProblems,
  schemaReader,
  type Answer,
  type OptionNames,
  type ToolSchema,
} from '@tutti/core/internal'

import { DEFAULT_REVIEW_TIMEOUT_MS, findDefaultsProblems } from '../definition/review-settings.ts'
import { askReview, readOutcome, toEditCheck } from './handler-review.ts'

import type { QuestionOptions } from '../definition/operations.ts'
import type { OperationFrame } from './operation-frame.ts'

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
  const { taskName } = identity
  const operation = frame.take()
  frame.assertSame(operation, 'question', { asked: 'a question', isSame: () => true })
  assertOptions(options)
  const { jsonSchema, read } = schemaReader(schema, { action: 'Cannot ask a question: schema' })
  if (!frame.settings.tooling.reviews.hasReviewer) {
    throw new TuttiError(
      'CONFIG_INVALID',
      `Task "${taskName}" asks a question, but the run has no reviewer: set the option reviewer`,
    )
  }
  const {
    timeoutMs = DEFAULT_REVIEW_TIMEOUT_MS,
    onTimeout = 'EXIT_EARLY',
    requiredRole,
  } = {
    ...run.ensemble.review,
    ...options,
  }
  const outcome = await askReview(frame, operation, {
    kind: 'QUESTION',
    operation: 'question',
    toolName: 'ask',
    description: question,
    settings: { timeoutMs, onTimeout, ...(requiredRole === undefined ? {} : { requiredRole }) },
    // A decision covers the schema of the answer.
    input: { answerSchema: jsonSchema },
    inputSchema: jsonSchema,
    checkEdit: toEditCheck(read),
  })
  const invalid = `The answer to task "${taskName}" is not valid`
  const reviewed = await readOutcome(frame, outcome, { read, invalid })
  return reviewed.isGiven
    ? { answered: true, value: reviewed.value }
    : { answered: false, timedOut: reviewed.timedOut }
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
