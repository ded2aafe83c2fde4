/** Pure: the priority and the fairness key of a submitted run (RUNS-L4). */
import { TuttiError } from '@tutti/core'
import { MAX_FAIRNESS_KEY_LENGTH, RunPriority, type Problem } from '@tutti/protocol/internal'

import { LEVELS } from '../domain/priority.ts'

import type { Quota } from '../domain/quota.ts'
import type { NewRun } from '../domain/run-record.ts'

/** Fields of a submission; see `RunSubmission`. */
interface AskedOrder {
  readonly priority?: RunPriority
  readonly fairnessKey?: string
}

/** Returns the problems of the priority and the fairness key of a submission. */
export function findOrderProblems({ priority, fairnessKey }: AskedOrder): readonly Problem[] {
  const problems: Problem[] = []
  if (priority !== undefined && !RunPriority.enum.includes(priority)) {
    const message = `must be one of ${RunPriority.enum.join(', ')}, got ${JSON.stringify(priority)}`
    problems.push({ path: '/priority', message })
  }
  const isKey =
    fairnessKey === undefined ||
    (typeof fairnessKey === 'string' &&
      /\S/.test(fairnessKey) &&
      fairnessKey.length <= MAX_FAIRNESS_KEY_LENGTH)
  if (!isKey) {
    const message = `must be 1 to ${MAX_FAIRNESS_KEY_LENGTH} characters that are not all blank`
    problems.push({ path: '/fairnessKey', message })
  }
  return problems
}

/**
 * Refuses a priority above that of the actor.
 *
 * @throws {TuttiError} FORBIDDEN naming the priority and the maximum.
 */
export function assertPriority(
  priority: RunPriority | undefined,
  { actor, maxPriority = 'high' }: Pick<Quota, 'actor' | 'maxPriority'>,
): void {
  if (priority === undefined || LEVELS[priority] <= LEVELS[maxPriority]) return
  throw new TuttiError(
    'FORBIDDEN',
    `Key "${actor}" may not submit runs of the priority "${priority}"; its maxPriority is "${maxPriority}"`,
  )
}

/** Returns the priority and the fairness key of a new run. The default is the normal priority, or a lower maximum. */
export function findOrder(
  { priority, fairnessKey }: AskedOrder,
  { maxPriority = 'high' }: Pick<Quota, 'maxPriority'> = {},
): Pick<NewRun, 'priority' | 'fairnessKey'> {
  const chosen = priority ?? (maxPriority === 'low' ? 'low' : 'normal')
  return {
    ...(chosen === 'normal' ? {} : { priority: chosen }),
    ...(fairnessKey === undefined ? {} : { fairnessKey }),
  }
}
