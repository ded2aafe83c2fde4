/** What a reviewer's refusal, or silence, is to the task and to the run. */
import { TuttiError } from '@tutti/core'

/** Why a task that a reviewer refused fails. */
export function rejectionError(
  taskName: string,
  feedback: string | undefined,
  timedOut: boolean,
): TuttiError {
  if (timedOut) {
    return new TuttiError('REVIEW_TIMEOUT', `Task "${taskName}": ${feedback ?? 'nobody reviewed'}`)
  }
  const why = feedback === undefined || feedback.trim() === '' ? '' : `: ${feedback}`
  return new TuttiError('REVIEW_REJECTED', `The reviewer rejected task "${taskName}"${why}`)
}

/** Why a run ends whose reviewer wants no more. */
export function exitEarlyError(taskName: string, timedOut: boolean): TuttiError {
  const message = timedOut
    ? `Nobody reviewed task "${taskName}" in time`
    : `The reviewer of task "${taskName}" ended the run early`
  return new TuttiError('EXIT_EARLY', message, { details: { timedOut } })
}
