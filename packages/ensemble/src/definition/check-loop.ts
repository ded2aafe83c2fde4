/** Finds the problems of loops before anything runs. No I/O. */
import { findOptionProblems, type OptionNames } from '@tutti/core/internal'
import { previewOf, type Problem } from '@tutti/protocol/internal'

import { hasCode, taskVariables } from './inputs.ts'
import { MAX_ROUNDS } from './loop-settings.ts'
import { isJudgeVariable, isRoundVariable } from './loop-variables.ts'
import { findField, mayBe, type Shape } from './output-shape.ts'
import { findReviewProblems } from './review-settings.ts'
import {
  findConditionalProblem,
  isTask,
  type ForEachPlan,
  type LoopPlan,
  type Task,
} from './task.ts'

import type { Loop, LoopHistory, LoopSettings } from './loop-settings.ts'

const LOOP_NAMES = {
  until: true,
  max: true,
  onMax: true,
  stopWhenUnchanged: true,
  history: true,
  result: true,
} as const satisfies OptionNames<Loop<unknown>>

const HISTORY_NAMES = { window: true, maxTokens: true } as const satisfies OptionNames<LoopHistory>

/** Returns the problems of values that only plain JavaScript can contain, one text each. */
export function findLoopOptionProblems(loop: Loop<never>): readonly string[] {
  const { until, onMax, history, stopWhenUnchanged = false } = loop
  return [
    ...findOptionProblems(loop, LOOP_NAMES, 'loop'),
    ...findUntilProblems(until),
    ...(typeof onMax === 'object' && onMax !== null
      ? [
          ...findOptionProblems(onMax, { review: true }, 'loop.onMax'),
          ...findReviewProblems('loop.onMax.review', onMax.review),
        ]
      : []),
    ...(typeof history === 'object' && history !== null
      ? findOptionProblems(history, HISTORY_NAMES, 'loop.history')
      : []),
    ...(typeof stopWhenUnchanged === 'boolean'
      ? []
      : [`loop.stopWhenUnchanged must be a boolean, got ${previewOf(stopWhenUnchanged)}`]),
  ]
}

function findUntilProblems(until: unknown): readonly string[] {
  if (until === undefined) return []
  const hasJudge = (typeof until === 'object' || typeof until === 'function') && until !== null
  const judge: unknown = hasJudge && 'judge' in until ? until.judge : undefined
  if (typeof until === 'function') {
    return judge === undefined
      ? []
      : ['loop.until must be a function or { judge: task }, and cannot be both']
  }
  if (!hasJudge)
    return [`loop.until must be a function or { judge: task }, got ${previewOf(until)}`]
  return [
    ...findOptionProblems(until, { judge: true }, 'loop.until'),
    ...(isTask(judge)
      ? []
      : [`loop.until.judge must be created with task(), got ${previewOf(judge)}`]),
  ]
}

/** Returns the problems of a loop, with the paths of their options. */
export function findLoopProblems(plan: LoopPlan): readonly Problem[] {
  return [...findLoopSettingProblems(plan), ...findLoopTextProblems(plan)]
}

/** Returns the problems of a loop apart from the task that it repeats. */
export function findLoopSettingProblems(plan: Omit<LoopPlan, 'template'>): readonly Problem[] {
  const { judge, settings } = plan
  const { max, onMax, history, result } = settings
  return [
    ...(Number.isInteger(max) && max >= 1 && max <= MAX_ROUNDS
      ? []
      : [{ path: '/max', message: `must be an integer from 1 to ${MAX_ROUNDS}, got ${max}` }]),
    ...findChoiceProblem('/onMax', onMax, ['accept', 'fail', 'review']),
    ...findChoiceProblem('/history', history, ['last', 'all']),
    ...findChoiceProblem('/result', result, ['last', 'all']),
    ...findHistoryProblems(history),
    ...findEndProblems(plan),
    ...(judge === undefined ? [] : findVerdictProblems(judge)),
  ]
}

/** Returns the problems of a loop that are in the texts of its tasks. */
function findLoopTextProblems(plan: LoopPlan): readonly Problem[] {
  const { template, judge } = plan
  return [
    ...findUseProblems(plan),
    ...findFieldProblems(template, { path: '', variable: 'previous', of: template }),
    ...(judge === undefined
      ? []
      : (['previous', 'output'] as const).flatMap((variable) =>
          findFieldProblems(judge, { path: '/until/judge', variable, of: template }),
        )),
  ]
}

/** Returns a problem of a text in place of another choice; an object is checked otherwise. */
function findChoiceProblem(
  path: string,
  value: unknown,
  choices: readonly string[],
): readonly Problem[] {
  const isObject = path !== '/result' && typeof value === 'object' && value !== null
  if (value === undefined || isObject || choices.some((choice) => choice === value)) return []
  return [{ path, message: `must be one of ${choices.join(', ')}, got ${previewOf(value)}` }]
}

function findHistoryProblems(history: LoopSettings['history']): readonly Problem[] {
  if (typeof history !== 'object' || history === null) return []
  const { window = 1, maxTokens = 1 } = history
  return [
    ...(Number.isInteger(window) && window >= 1
      ? []
      : [{ path: '/history/window', message: `must be an integer >= 1, got ${window}` }]),
    ...(maxTokens >= 1
      ? []
      : [{ path: '/history/maxTokens', message: `must be a number >= 1, got ${maxTokens}` }]),
  ]
}

/** Returns a problem if the loop can only fail. */
function findEndProblems({
  until,
  judge,
  settings,
}: Omit<LoopPlan, 'template'>): readonly Problem[] {
  const { onMax, stopWhenUnchanged = false } = settings
  const canEnd = until !== undefined || judge !== undefined || stopWhenUnchanged
  if (canEnd || onMax !== 'fail') return []
  const message = "is 'fail', so the loop would always fail: set until or stopWhenUnchanged"
  return [{ path: '/onMax', message }]
}

/** Returns a problem if nothing reads the history that is set. */
function findUseProblems({ template, judge, settings }: LoopPlan): readonly Problem[] {
  if (settings.history === undefined) return []
  const tasks = [template, ...(judge === undefined ? [] : [judge])]
  if (hasCode(tasks) || tasks.flatMap(taskVariables).includes('history')) return []
  return [{ path: '/history', message: 'has no effect: no text of the task has {history}' }]
}

/** Returns a problem for each variable that names a field which an output cannot have. */
function findFieldProblems(
  reading: Task,
  { path, variable, of }: { readonly path: string; readonly variable: string; readonly of: Task },
): readonly Problem[] {
  const shape = of.outputReader?.schema
  return taskVariables(reading)
    .filter((name) => name.startsWith(`${variable}.`))
    .filter((name) => {
      const fields = name.slice(variable.length + 1).split('.')
      const found = shape === undefined ? 'none' : fields.reduce<Shape>(findField, shape)
      return found === 'none'
    })
    .map((name) => ({
      path,
      message: `task "${reading.name}" reads {${name}}, but the output of "${of.name}" has no such field`,
    }))
}

/** Returns a problem if the output of a judge cannot be a verdict. */
function findVerdictProblems(judge: Task): readonly Problem[] {
  const shape = judge.outputReader?.schema
  const expected = 'a boolean, or an object with "done" and "feedback"'
  const path = '/until/judge'
  const conditional = findConditionalProblem(judge)
  if (conditional !== undefined) return [{ path, message: conditional }]
  if (shape === undefined) return [{ path, message: `must have an output schema: ${expected}` }]
  const done = findField(shape, 'done')
  const isVerdict = mayBe('boolean', shape) || (mayBe('object', shape) && mayBe('boolean', done))
  return isVerdict ? [] : [{ path, message: `must have ${expected} as output` }]
}

/** Returns a problem if the item of a list has the name of a variable that a loop fills in. */
export function findLoopItemProblems({
  template,
  settings: { as },
}: Pick<ForEachPlan, 'template' | 'settings'>): readonly Problem[] {
  if (template.loop === undefined || as === undefined) return []
  const isFilled = template.loop.judge === undefined ? isRoundVariable : isJudgeVariable
  if (!isFilled(as)) return []
  return [{ path: '/as', message: `must not be "${as}", which the loop of the task fills in` }]
}
