/**
 * Converts a draft to the body of a request. Pure.
 *
 * DASH-S1 The body contains what belongs to the chosen level and ensemble, and nothing else.
 * DASH-S2 Input is not coerced: invalid values are copied to the body and reported there.
 */
import { parseJsonDraft } from '../../ui/schema-form/form-draft.ts'
import {
  findChosenOverrides,
  type OverrideDraft,
  type SubmissionDraft,
  type TaskDraft,
} from './draft.ts'
import { findInputNames } from './variables.ts'

import type { EnsembleInfo } from '@tutti/protocol'

/** Returns the body; it conforms to `SubmitRunBody` if the draft has no problems. */
export function buildBody(
  draft: SubmissionDraft,
  ensembles: readonly EnsembleInfo[],
): Readonly<Record<string, unknown>> {
  const { level, tasks, options, ensemble, runId } = draft
  const overrides = level === 'overrides' ? findChosenOverrides(draft, ensembles) : {}
  const webhooks = draft.webhooks.split('\n').map((name) => name.trim())
  return dropUndefined({
    ensemble,
    inputs: emptyToUndefined(collectInputs(draft, ensembles)),
    taskOverrides: emptyToUndefined(mapValues(overrides, buildOverrideBody)),
    tasks: level === 'tasks' ? tasks.map((task) => buildTaskBody(task, tasks)) : undefined,
    options: emptyToUndefined(dropUndefined(options)),
    budget: emptyToUndefined(dropUndefined(draft.budget)),
    tags: emptyToUndefined(draft.tags),
    webhooks: emptyToUndefined(webhooks.filter((name) => name !== '')),
    runId: runId === '' ? undefined : runId,
  })
}

/** Returns the reference to a task: by name if that is unique, else by position. */
export function formatReference(key: string, tasks: readonly TaskDraft[]): string {
  const at = tasks.findIndex((task) => task.key === key)
  if (at === -1) return key
  const name = tasks[at]?.name ?? ''
  const isOwn = name.trim() !== '' && tasks.filter((task) => task.name === name).length === 1
  return isOwn ? `$${name}` : `$${at}`
}

function collectInputs(
  draft: SubmissionDraft,
  ensembles: readonly EnsembleInfo[],
): Readonly<Record<string, unknown>> {
  const { needed, perhaps } = findInputNames(draft, ensembles)
  const given = [...needed, ...perhaps].flatMap((name) => {
    const value = Object.hasOwn(draft.inputs, name) ? draft.inputs[name] : undefined
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(given), ...draft.moreInputs }
}

function buildTaskBody({ key: _key, ...task }: TaskDraft, tasks: readonly TaskDraft[]): object {
  const { outputSchema, context } = task
  const read = outputSchema === undefined ? undefined : parseJsonDraft(outputSchema)
  return dropUndefined({
    ...task,
    context: context?.map((other) => formatReference(other, tasks)),
    outputSchema: read?.ok === true ? read.value : outputSchema,
  })
}

function buildOverrideBody({ tools, ...override }: OverrideDraft): object {
  return dropUndefined({
    ...override,
    tools: tools === undefined ? undefined : dropUndefined({ ...tools }),
  })
}

/** Returns the object without undefined fields. */
export function dropUndefined(fields: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** Returns the value, or undefined if it is empty. */
function emptyToUndefined<T extends object>(value: T): T | undefined {
  return Object.keys(value).length === 0 ? undefined : value
}

function mapValues<T>(
  record: Readonly<Record<string, T>>,
  change: (value: T) => unknown,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
}
