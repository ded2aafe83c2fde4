/** The review after a task: accepts, edits or rejects its answer. */
import { renderOutput, type TaskAnswer } from '../agent/loop.ts'
import { reviewAfter, type ReviewSettings } from '../definition/review-settings.ts'
import { toRunName } from '../scope/run-scope.ts'
import { AFTER_SLOT } from '../reviews/review-slots.ts'
import { exitEarlyError, findTextProblem, rejectionError } from '../reviews/review-end.ts'

import type { Revision } from '../ports/run-step.ts'
import type { Reviews } from '../reviews/reviews.ts'
import type { TaskScope } from '../scope/task-scope.ts'
import type { TuttiError } from '@tutti/core'

/** An answer that its review accepted. */
export interface AcceptedAnswer {
  readonly answer: TaskAnswer
  /** Error with which the run ends after this task; present if the reviewer ended the run. */
  readonly exit?: TuttiError
}

/** Answer under review. */
interface ReviewedAnswer {
  readonly answer: TaskAnswer
  readonly settings: ReviewSettings
  /** Rendered description of the task. */
  readonly description: string
}

/** Returns the review after the task; undefined if there is none. */
export function findReviewAfter({ task, run }: TaskScope): ReviewSettings | undefined {
  const { reviewPolicy, plan } = run.ensemble
  return reviewAfter(
    task,
    reviewPolicy,
    plan.lastTasks.map((name) => toRunName(run, name)),
  )
}

/**
 * Opens the review after the task and applies its decision.
 *
 * @throws {RejectedAnswer} if the reviewer rejects the answer.
 */
export async function reviewAnswer(
  scope: TaskScope,
  reviews: Reviews,
  { answer, settings, description }: ReviewedAnswer,
): Promise<AcceptedAnswer> {
  const { identity } = scope
  const { decision, timedOut } = await reviews.ask(scope, {
    kind: 'TASK_OUTPUT',
    timing: 'AFTER_EXECUTION',
    slot: AFTER_SLOT,
    taskDescription: description,
    taskOutput: answer.output,
    settings,
    findTextProblem: (edited) => findTextProblem(scope.task, edited),
  })
  switch (decision.action) {
    case 'CONTINUE':
      return { answer }
    case 'EDIT':
      return {
        answer: 'text' in decision ? await editAnswer(scope, answer, decision.text) : answer,
      }
    case 'EXIT_EARLY':
      return { answer, exit: exitEarlyError(identity.taskName, timedOut) }
    case 'REJECT':
      throw new RejectedAnswer(rejectionError(identity.taskName, decision.feedback, timedOut), {
        settings,
        revision: timedOut
          ? undefined
          : { feedback: decision.feedback ?? '', output: answer.output },
      })
  }
}

/** Error that carries a rejection to the end of the attempt. */
export class RejectedAnswer extends Error {
  readonly error: TuttiError
  readonly settings: ReviewSettings
  readonly revision: Revision | undefined

  constructor(
    error: TuttiError,
    how: { readonly settings: ReviewSettings; readonly revision: Revision | undefined },
  ) {
    super(error.message)
    this.error = error
    this.settings = how.settings
    this.revision = how.revision
  }
}

async function editAnswer(
  { task }: TaskScope,
  answer: TaskAnswer,
  text: string,
): Promise<TaskAnswer> {
  const reading = await task.outputReader?.read(text)
  const { parts: _replaced, ...rest } = answer
  if (reading === undefined) return { ...rest, output: text }
  // The review accepts only a valid edit, so this is always ok.
  return reading.ok
    ? { ...rest, output: renderOutput(reading.value), structured: reading.value }
    : answer
}
