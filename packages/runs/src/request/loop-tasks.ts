/**
 * Pure: makes tasks with `loop` from the tasks of a request.
 *
 * RUNS-T30 `loop` of a request is that of the engine. Its problems are reported with their paths, together with those of all
 *    tasks.
 */
import type { Task } from '@tutti/ensemble'
import {
  createLoopTask,
  findLoopProblems,
  reviewSettingsOf,
  type LoopPlan,
} from '@tutti/ensemble/internal'

import { field } from '../domain/field.ts'
import { mergeReview } from './review-setting.ts'

import type { Conditional } from './conditions.ts'
import type { Refusals } from './refusals.ts'
import type { JudgeTaskBody, LoopBody, LoopLimitsBody } from '@tutti/protocol/internal'

/** Parts of a request that tasks with `loop` need. */
export interface LoopTaskParts {
  readonly refusals: Refusals
  /** JSON Pointer of `loop`. */
  readonly path: string
  /** Returns the condition of an expression; adds its problems. */
  readonly readCondition: (text: string, path: string) => LoopPlan['until']
  /** Makes the task that judges the output of a round; adds its problems. */
  readonly makeJudgeTask: (body: JudgeTaskBody, path: string) => readonly Task[]
}

/** Returns the task that is repeated, unless `template` is missing; problems are added to the refusals. */
export function makeLoopTask(
  template: Task | undefined,
  { loop, conditional }: { readonly loop: LoopBody; readonly conditional: Conditional },
  { refusals, path, readCondition, makeJudgeTask }: LoopTaskParts,
): readonly Task[] {
  const { until, onMax, ...settings } = loop
  const test = typeof until === 'string' ? readCondition(until, `${path}/until`) : undefined
  const [judge] = typeof until === 'object' ? makeJudgeTask(until.judge, `${path}/until/judge`) : []
  const isComplete = until === undefined || test !== undefined || judge !== undefined
  if (template === undefined || !isComplete) return []
  const plan = {
    template,
    settings: { ...settings, ...field('onMax', toReaction(onMax)) },
    ...field('until', test),
    ...field('judge', judge),
  }
  return refuseLoop(plan, { refusals, path }) ? [] : [createLoopTask(plan, conditional)]
}

/** Returns a repeated task with other limits and another body. */
export function changeLoopTask(
  { loop: plan, when, switch: switchName }: Task & { readonly loop: LoopPlan },
  change: { readonly template: Task; readonly limits: LoopLimitsBody | undefined },
  { refusals, path }: { readonly refusals: Refusals; readonly path: string },
): readonly Task[] {
  const { template, limits } = change
  const changed = { ...plan, template, settings: { ...plan.settings, ...limits } }
  return refuseLoop(changed, { refusals, path })
    ? []
    : [createLoopTask(changed, { ...field('when', when), ...field('switch', switchName) })]
}

function toReaction(onMax: LoopBody['onMax']): LoopPlan['settings']['onMax'] {
  if (typeof onMax !== 'object') return onMax
  return { review: reviewSettingsOf(mergeReview(onMax.review)) ?? {} }
}

function refuseLoop(
  plan: LoopPlan,
  { refusals, path }: { readonly refusals: Refusals; readonly path: string },
): boolean {
  const problems = findLoopProblems(plan)
  for (const problem of problems) {
    const at = `${path}${problem.path}`
    refusals.add('BAD_REQUEST', at, () => `${at} ${problem.message}`)
  }
  return problems.length > 0
}
