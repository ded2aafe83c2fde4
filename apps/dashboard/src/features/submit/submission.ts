/**
 * From what was typed to the body of the request. Pure.
 *
 * S1 The body has what belongs to the level and the ensemble that are chosen, and nothing else.
 * S2 Nothing that was typed is mended: what does not fit goes into the body as it is, and is told there.
 */
import { tryParseJson } from '../../ui/schema-form/form-draft.ts'
import {
  chosenOverrides,
  type OverrideDraft,
  type NamedValue,
  type SubmissionDraft,
  type TaskDraft,
} from './draft.ts'
import { inputNames } from './variables.ts'

import type { EnsembleInfo, TagMap } from '@tutti/protocol'

/** The body of the request; it fits `SubmitRunBody` when the draft has no problems. */
export function bodyOf(
  draft: SubmissionDraft,
  ensembles: readonly EnsembleInfo[],
): Readonly<Record<string, unknown>> {
  const { level, tasks, options, ensemble, runId } = draft
  const overrides = level === 'overrides' ? chosenOverrides(draft, ensembles) : {}
  const webhooks = draft.webhooks.split('\n').map((name) => name.trim())
  return withoutNothing({
    ensemble,
    inputs: filled(inputsOf(draft, ensembles)),
    taskOverrides: filled(mapped(overrides, overrideBody)),
    tasks: level === 'tasks' ? tasks.map((task) => taskBody(task, tasks)) : undefined,
    options: filled(withoutNothing(options)),
    budget: filled(withoutNothing(draft.budget)),
    tags: filled(tagsOf(draft.tags)),
    webhooks: filled(webhooks.filter((name) => name !== '')),
    runId: runId === '' ? undefined : runId,
  })
}

/** How a task refers to another one: by its name when it alone has it, else by its place. */
export function referenceTo(key: string, tasks: readonly TaskDraft[]): string {
  const at = tasks.findIndex((task) => task.key === key)
  if (at === -1) return key
  const name = tasks[at]?.name ?? ''
  const isOwn = name.trim() !== '' && tasks.filter((task) => task.name === name).length === 1
  return isOwn ? `$${name}` : `$${at}`
}

function inputsOf(
  draft: SubmissionDraft,
  ensembles: readonly EnsembleInfo[],
): Readonly<Record<string, string>> {
  const { needed, perhaps } = inputNames(draft, ensembles)
  const given = [...needed, ...perhaps].flatMap((name) => {
    const value = Object.hasOwn(draft.inputs, name) ? draft.inputs[name] : undefined
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries([...given, ...Object.entries(fieldsOf(draft.moreInputs))])
}

function taskBody({ key: _key, ...task }: TaskDraft, tasks: readonly TaskDraft[]): object {
  const { outputSchema, context } = task
  const read = outputSchema === undefined ? undefined : tryParseJson(outputSchema)
  return withoutNothing({
    ...task,
    context: context?.map((other) => referenceTo(other, tasks)),
    outputSchema: read?.ok === true ? read.value : outputSchema,
  })
}

function overrideBody({ tools, ...override }: OverrideDraft): object {
  return withoutNothing({
    ...override,
    tools: tools === undefined ? undefined : withoutNothing({ ...tools }),
  })
}

/** The names of rows with their values; a row without a name is none yet. */
function fieldsOf(rows: readonly NamedValue[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    rows.flatMap(({ name, value }) => (name === '' ? [] : [[name, value] as const])),
  )
}

/** Returns the tags; a number or boolean keeps its type while its text is unchanged. */
function tagsOf(rows: readonly NamedValue[]): Readonly<TagMap> {
  return Object.fromEntries(
    rows.flatMap(({ name, value, typed }) => {
      const sent = typed !== undefined && String(typed) === value ? typed : value
      return name === '' ? [] : [[name, sent] as const]
    }),
  )
}

/** The object without the fields that are undefined. */
export function withoutNothing(fields: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** What is not empty. */
function filled<T extends object>(value: T): T | undefined {
  return Object.keys(value).length === 0 ? undefined : value
}

function mapped<T>(
  record: Readonly<Record<string, T>>,
  change: (value: T) => unknown,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
}
