/**
 * Pure: makes tasks with `forEach` from the tasks of a request.
 *
 * RUNS-T5 `forEach` of a request is that of the engine. Its problems are reported with their paths, together with those of all
 *    tasks.
 * RUNS-T6 A task whose output `forEach` maps must have a list as output: it has `forEach` itself, or an output schema that does
 *    not exclude a list.
 */
import type { Task } from '@tutti/ensemble'
import {
  createForEachTask,
  findForEachProblems,
  mayBeList,
  type ForEachPlan,
} from '@tutti/ensemble/internal'
import { isTemplateName, shortText } from '@tutti/protocol/internal'

import { field } from '../domain/field.ts'
import { OUTPUTS_BY_KEY, TEXT_OUTPUT } from './output-schema.ts'

import type { Conditional } from './conditions.ts'
import type { Refusals } from './refusals.ts'
import type { OutputLookup } from './ensemble-tasks.ts'
import type { ForEachBody, ItemLimitsBody, ReduceTaskBody } from '@tutti/protocol/internal'

/** Parts of a request that tasks with `forEach` need. */
export interface ItemTaskParts {
  readonly lookup: Pick<OutputLookup, 'schemaOf'>
  readonly refusals: Refusals
  /** JSON Pointer of `forEach`. */
  readonly path: string
  /** Returns the name of the task that a reference means; adds a problem for an unknown one. */
  readonly findTask: (reference: string, path: string) => readonly string[]
  /** Makes the task that combines outputs; adds its problems. */
  readonly makeReduceTask: (body: ReduceTaskBody, path: string) => readonly Task[]
}

/** Returns the task for each item of a list, unless `template` is missing; problems are added to the refusals. */
export function makeItemTask(
  template: Task | undefined,
  { forEach, conditional }: { readonly forEach: ForEachBody; readonly conditional: Conditional },
  parts: ItemTaskParts,
): readonly Task[] {
  const { refusals, path } = parts
  const { over: _, key, collect = 'list', ...settings } = forEach
  const over = findList(forEach.over, parts)
  const reducing = typeof collect === 'object' ? collect : undefined
  const [task] =
    reducing === undefined ? [] : parts.makeReduceTask(reducing.reduce, `${path}/collect/reduce`)
  const plan = {
    settings: collect === 'outputs' ? { ...settings, collect } : settings,
    ...field('key', key),
    ...(reducing === undefined || task === undefined
      ? {}
      : { reduce: { task, maxTokens: reducing.maxTokens, ...field('as', reducing.as) } }),
  }
  const isRefused = refuseForEach(plan, { refusals, path })
  const isComplete = reducing === undefined || task !== undefined
  if (isRefused || !isComplete || over === undefined || template === undefined) return []
  return [createForEachTask({ ...plan, ...over, template }, conditional)]
}

/** Returns a task for each item with other limits and another task for the items. */
export function changeItemTask(
  { forEach: plan, when, switch: switchName }: Task & { readonly forEach: ForEachPlan },
  change: { readonly template: Task; readonly limits: ItemLimitsBody | undefined },
  { refusals, path }: { readonly refusals: Refusals; readonly path: string },
): readonly Task[] {
  const { template, limits } = change
  const changed = { ...plan, template, settings: { ...plan.settings, ...limits } }
  return refuseForEach(changed, { refusals, path })
    ? []
    : [createForEachTask(changed, { ...field('when', when), ...field('switch', switchName) })]
}

function refuseForEach(
  plan: Pick<ForEachPlan, 'key' | 'settings' | 'reduce'>,
  { refusals, path }: { readonly refusals: Refusals; readonly path: string },
): boolean {
  const problems = findForEachProblems(plan)
  for (const problem of problems) {
    const at = `${path}${problem.path}`
    refusals.add('BAD_REQUEST', at, () => `${at} ${problem.message}`)
  }
  return problems.length > 0
}

/** Returns the list that a reference names: the output of a task, or an input. */
function findList(
  over: string,
  { lookup, refusals, path, findTask }: ItemTaskParts,
): Pick<ForEachPlan, 'over' | 'isInput'> | undefined {
  const at = `${path}/over`
  const refuse = (message: string): undefined => {
    refusals.add('BAD_REQUEST', at, () => message)
  }
  if (!over.startsWith('$')) {
    if (isTemplateName(over)) return { over, isInput: true }
    return refuse(
      `'${shortText(over)}' must be the name of an input, or of an earlier task such as '$topics'`,
    )
  }
  const [name] = findTask(over, at)
  if (name === undefined) return undefined
  const problem = findOutputProblem(lookup.schemaOf(name))
  return problem === undefined
    ? { over: name, isInput: false }
    : refuse(`The output of task '${shortText(name)}' must be a list: ${problem}`)
}

/** Returns why the output of a task is not a list; undefined if it is one or may be one (RUNS-T6). */
function findOutputProblem(schema: object | undefined): string | undefined {
  if (schema === TEXT_OUTPUT) return 'it is text; set outputSchema to one of the type "array"'
  if (schema === OUTPUTS_BY_KEY) return 'it is an object with the outputs of its items by key'
  if (mayBeList(schema)) return undefined
  const type: unknown = Reflect.get(schema ?? {}, 'type')
  return `its outputSchema has the type ${shortText(JSON.stringify(type))}`
}
