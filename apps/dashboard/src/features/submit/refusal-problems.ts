/** What the server refused of a submission, at the fields of the form. Pure. */
import { failureCode, failureProblems, failureText } from '../../api/failure.ts'
import { valueAt } from '../../ui/schema-form/pointer.ts'

import type { Problem } from '@tutti/protocol'

/** Fields that refusals without a place are about, by their code. */
const PLACES: Readonly<Record<string, string>> = {
  CIRCULAR_DEPENDENCY: '/tasks',
  INVALID_ENSEMBLE: '/ensemble',
  INVALID_WEBHOOK: '/webhooks',
  INVALID_TASK_OVERRIDE: '/taskOverrides',
  RUN_EXISTS: '/runId',
}

/** A problem, and what its place held when it was found. */
export interface Refusal {
  readonly problem: Problem
  readonly was: string | undefined
}

/** The refusals of a failed submission of `body`; none when it failed for another reason. */
export function refusalsOf(error: unknown, body: unknown): readonly Refusal[] {
  const path = PLACES[failureCode(error) ?? '']
  const listed = failureProblems(error)
  const whole = path === undefined ? [] : [{ path, message: failureText(error) }]
  const problems = listed.length > 0 ? listed : whole
  return problems.map((problem) => ({ problem, was: textAt(body, problem.path) }))
}

/** The problems whose places still hold what they held then. */
export function standing(refusals: readonly Refusal[], body: unknown): readonly Problem[] {
  return refusals
    .filter(({ problem, was }) => textAt(body, problem.path) === was)
    .map(({ problem }) => problem)
}

function textAt(body: unknown, path: string): string | undefined {
  return JSON.stringify(valueAt(body, path))
}
