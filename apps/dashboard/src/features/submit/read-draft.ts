/** Converts a request body or an earlier run to a draft. Pure. */
import { createDraft, type SubmissionDraft, type TaskDraft } from './draft.ts'
import { findInputNames } from './variables.ts'

import type { EnsembleInfo, RunDetail, SubmitRunBody } from '@tutti/protocol'
import type { TaskDefinitionBody } from '@tutti/protocol/internal'

/**
 * Returns the draft of a body; undefined for a body with both tasks and overrides, which the form
 * does not support.
 */
export function toDraftFromBody(
  body: SubmitRunBody,
  ensembles: readonly EnsembleInfo[],
): SubmissionDraft | undefined {
  const { ensemble, inputs = {}, tasks, taskOverrides, tags = {} } = body
  if (tasks !== undefined && taskOverrides !== undefined) return undefined
  const name = ensemble ?? ensembles[0]?.name ?? ''
  const draft: SubmissionDraft = {
    ...createDraft(),
    level: tasks !== undefined ? 'tasks' : taskOverrides !== undefined ? 'overrides' : 'inputs',
    ensemble,
    inputs,
    overrides: taskOverrides === undefined ? {} : { [name]: taskOverrides },
    ...(tasks === undefined ? {} : { tasks: toTaskDrafts(tasks) }),
    options: body.options ?? {},
    budget: body.budget ?? {},
    tags,
    webhooks: (body.webhooks ?? []).join('\n'),
    runId: body.runId ?? '',
  }
  const { needed, perhaps } = findInputNames(draft, ensembles)
  const others = Object.entries(inputs).filter(
    ([key]) => !needed.includes(key) && !perhaps.includes(key),
  )
  return { ...draft, moreInputs: Object.fromEntries(others) }
}

/** Returns a draft that repeats a run, from the parts of its request that the server reports. */
export function toDraftFromRun(
  run: RunDetail,
  ensembles: readonly EnsembleInfo[],
): SubmissionDraft {
  const { ensemble, inputs, tags, options = {}, budget = {}, webhooks = [] } = run
  // A body without tasks and overrides always has a draft.
  const draft = toDraftFromBody({ ensemble, inputs, tags, options, budget, webhooks }, ensembles)
  return draft ?? createDraft()
}

/** Whether the run has tasks that its ensemble does not have. */
export function hasOtherTasks(run: RunDetail, ensembles: readonly EnsembleInfo[]): boolean {
  const ensemble = ensembles.find(({ name }) => name === run.ensemble)
  if (ensemble === undefined || run.tasks.length === 0) return false
  const names = new Set(ensemble.tasks.map(({ name }) => name))
  return run.tasks.some(({ name }) => !names.has(name) && name !== 'Manager')
}

function toTaskDrafts(tasks: readonly TaskDefinitionBody[]): readonly TaskDraft[] {
  return tasks.map(({ context, outputSchema, ...task }, index) => ({
    ...task,
    key: createTaskKey(index),
    ...(context === undefined
      ? {}
      : { context: context.map((reference) => resolveReference(reference, tasks)) }),
    ...(outputSchema === undefined
      ? {}
      : { outputSchema: JSON.stringify(outputSchema, undefined, 2) }),
  }))
}

/**
 * Resolves `$name` to the task with that name, else `$0`, `$1`, … by position, as the server does.
 */
function resolveReference(reference: string, tasks: readonly TaskDefinitionBody[]): string {
  const wanted = reference.slice(1)
  const named = tasks.findIndex(({ name }) => name === wanted)
  const at = named === -1 && /^\d{1,6}$/.test(wanted) ? Number(wanted) : named
  return at >= 0 && at < tasks.length ? createTaskKey(at) : reference
}

function createTaskKey(index: number): string {
  return `t${index + 1}`
}
