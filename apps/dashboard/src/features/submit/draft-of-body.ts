/** From a body, or from a run that there was, to a draft. Pure. */
import { emptyDraft, type NamedValue, type SubmissionDraft, type TaskDraft } from './draft.ts'
import { inputNames } from './variables.ts'

import type {
  EnsembleInfo,
  RunDetail,
  SubmitRunBody,
  TagMap,
  TaskDefinitionBody,
} from '@tutti/protocol'

/**
 * The draft that makes this body; undefined when there is none: own tasks with changes of them can be
 * submitted, but the form has them at different levels.
 */
export function draftOfBody(
  body: SubmitRunBody,
  ensembles: readonly EnsembleInfo[],
): SubmissionDraft | undefined {
  const { ensemble, inputs = {}, tasks, taskOverrides, tags = {} } = body
  if (tasks !== undefined && taskOverrides !== undefined) return undefined
  const name = ensemble ?? ensembles[0]?.name ?? ''
  const draft: SubmissionDraft = {
    ...emptyDraft(),
    level: tasks !== undefined ? 'tasks' : taskOverrides !== undefined ? 'overrides' : 'inputs',
    ensemble,
    inputs,
    overrides: taskOverrides === undefined ? {} : { [name]: taskOverrides },
    ...(tasks === undefined ? {} : { tasks: taskDrafts(tasks) }),
    options: body.options ?? {},
    budget: body.budget ?? {},
    tags: rowsOf(tags),
    webhooks: (body.webhooks ?? []).join('\n'),
    runId: body.runId ?? '',
  }
  const { needed, perhaps } = inputNames(draft, ensembles)
  const others = Object.entries(inputs).filter(
    ([key]) => !needed.includes(key) && !perhaps.includes(key),
  )
  return { ...draft, moreInputs: rowsOf(Object.fromEntries(others)) }
}

/** The draft of a run like one that there was, as far as the server tells what that was asked for. */
export function draftOfRun(run: RunDetail, ensembles: readonly EnsembleInfo[]): SubmissionDraft {
  const { ensemble, inputs, tags, options = {}, budget = {}, webhooks = [] } = run
  // A body with neither tasks nor overrides always has a draft.
  const draft = draftOfBody({ ensemble, inputs, tags, options, budget, webhooks }, ensembles)
  return draft ?? emptyDraft()
}

/** Whether a run had other tasks than its ensemble has now. */
export function hadOtherTasks(run: RunDetail, ensembles: readonly EnsembleInfo[]): boolean {
  const ensemble = ensembles.find(({ name }) => name === run.ensemble)
  if (ensemble === undefined || run.tasks.length === 0) return false
  const names = new Set(ensemble.tasks.map(({ name }) => name))
  return run.tasks.some(({ name }) => !names.has(name) && name !== 'Manager')
}

function taskDrafts(tasks: readonly TaskDefinitionBody[]): readonly TaskDraft[] {
  return tasks.map(({ context, outputSchema, ...task }, index) => ({
    ...task,
    key: keyAt(index),
    ...(context === undefined
      ? {}
      : { context: context.map((reference) => keyOf(reference, tasks)) }),
    ...(outputSchema === undefined
      ? {}
      : { outputSchema: JSON.stringify(outputSchema, undefined, 2) }),
  }))
}

/** `$name` is the task of that name, else `$0`, `$1`, … the one at that place, as the server has it. */
function keyOf(reference: string, tasks: readonly TaskDefinitionBody[]): string {
  const wanted = reference.slice(1)
  const named = tasks.findIndex(({ name }) => name === wanted)
  const at = named === -1 && /^\d{1,6}$/.test(wanted) ? Number(wanted) : named
  return at >= 0 && at < tasks.length ? keyAt(at) : reference
}

function keyAt(index: number): string {
  return `t${index + 1}`
}

function rowsOf(fields: Readonly<TagMap>): readonly NamedValue[] {
  return Object.entries(fields).map(([name, value], index) => ({
    key: `r${index + 1}`,
    name,
    value: String(value),
    ...(typeof value === 'string' ? {} : { typed: value }),
  }))
}
