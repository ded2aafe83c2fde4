/**
 * The draft of a submission. Pure.
 *
 * A draft keeps the input for all levels and all ensembles. Tasks refer to each other by a key that
 * survives renaming.
 */
import type { FormDraft } from '../../ui/schema-form/form-draft.ts'
import type { EnsembleInfo } from '@tutti/protocol'

/** Content of a request: inputs, overrides of tasks, or a whole task graph. */
export type SubmissionLevel = 'inputs' | 'overrides' | 'tasks'

/** Unvalidated fields of a body. */
export type Typed = Readonly<Record<string, unknown>>

/** A task defined by the request. */
export interface TaskDraft extends Typed {
  /** Stable as long as the task exists. */
  readonly key: string
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly expectedOutput?: string | undefined
  readonly model?: string | undefined
  readonly tools?: readonly string[] | undefined
  /** JSON text, possibly invalid. */
  readonly outputSchema?: string | undefined
  /** Keys of other tasks; unresolved references stay as written (`$…`). */
  readonly context?: readonly string[] | undefined
}

/** Overrides of a task of the ensemble. */
export interface OverrideDraft extends Typed {
  readonly description?: string | undefined
  readonly expectedOutput?: string | undefined
  readonly model?: string | undefined
  readonly tools?:
    | {
        readonly add?: readonly string[] | undefined
        readonly remove?: readonly string[] | undefined
      }
    | undefined
}

/** Overrides by task name. */
export type Overrides = Readonly<Record<string, OverrideDraft>>

export interface SubmissionDraft {
  readonly level: SubmissionLevel
  /** Undefined for the server's default ensemble. */
  readonly ensemble: string | undefined
  /** By variable name, for all ensembles. */
  readonly inputs: Readonly<Record<string, string>>
  /** Inputs without a variable in a task. */
  readonly moreInputs: Typed
  /** By ensemble, then by task. */
  readonly overrides: Readonly<Record<string, Overrides>>
  readonly tasks: readonly TaskDraft[]
  readonly options: Typed
  readonly budget: Typed
  readonly tags: Typed
  /** One name per line. */
  readonly webhooks: string
  readonly runId: string
  /** Texts that are not values yet, by the pointer of their field. */
  readonly broken: FormDraft['broken']
}

export type ChangeDraft = (next: (draft: SubmissionDraft) => SubmissionDraft) => void

/** Creates an empty draft. */
export function createDraft(): SubmissionDraft {
  return {
    level: 'inputs',
    ensemble: undefined,
    inputs: {},
    moreInputs: {},
    overrides: {},
    tasks: [{ key: 't1' }],
    options: {},
    budget: {},
    tags: {},
    webhooks: '',
    runId: '',
    broken: {},
  }
}

/** Returns the ensemble of a draft; undefined if the server does not have it. */
export function findChosenEnsemble(
  { ensemble }: Pick<SubmissionDraft, 'ensemble'>,
  ensembles: readonly EnsembleInfo[],
): EnsembleInfo | undefined {
  return ensemble === undefined ? ensembles[0] : ensembles.find(({ name }) => name === ensemble)
}

/** Returns the name of a draft's ensemble; empty if the server has none. */
export function findEnsembleName(
  { ensemble }: Pick<SubmissionDraft, 'ensemble'>,
  ensembles: readonly EnsembleInfo[],
): string {
  return ensemble ?? ensembles[0]?.name ?? ''
}

/** Returns the overrides of a draft for its ensemble. */
export function findChosenOverrides(
  draft: SubmissionDraft,
  ensembles: readonly EnsembleInfo[],
): Overrides {
  return draft.overrides[findEnsembleName(draft, ensembles)] ?? {}
}

/** Returns the name of a task, or its position. */
export function formatTaskTitle(task: TaskDraft, index: number): string {
  const name = task.name?.trim() ?? ''
  return name === '' ? `Task ${index + 1}` : name
}

/** Returns an unused key. */
function createKey(tasks: readonly TaskDraft[]): string {
  return `t${Math.max(0, ...tasks.map(({ key }) => Number(key.slice(1)))) + 1}`
}

/**
 * Returns the part with a new value of a field; undefined, an empty list or an empty object removes
 * the field.
 */
export function setField<T extends Typed>(part: T, field: string, value: unknown): T {
  const { [field]: _before, ...rest } = part
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0
  // NOTE: all fields are optional or unchanged, so the type still holds.
  return (value === undefined || isEmpty ? rest : { ...part, [field]: value }) as unknown as T
}

/** Appends a new task. */
export function appendTask(tasks: readonly TaskDraft[]): readonly TaskDraft[] {
  return [...tasks, { key: createKey(tasks) }]
}

/** Inserts a copy of a task after it, with a unique name. */
export function duplicateTask(tasks: readonly TaskDraft[], at: number): readonly TaskDraft[] {
  const original = tasks[at]
  if (original === undefined) return tasks
  const { name } = original
  const copy = { ...original, key: createKey(tasks) }
  const named = name === undefined ? copy : { ...copy, name: findFreeName(name, tasks) }
  return tasks.toSpliced(at + 1, 0, named)
}

export function moveTask(
  tasks: readonly TaskDraft[],
  from: number,
  to: number,
): readonly TaskDraft[] {
  const moved = tasks[from]
  if (moved === undefined || to < 0 || to >= tasks.length) return tasks
  return tasks.toSpliced(from, 1).toSpliced(to, 0, moved)
}

/** Removes a task and the references to it. */
export function removeTask(tasks: readonly TaskDraft[], at: number): readonly TaskDraft[] {
  const key = tasks[at]?.key
  return tasks.toSpliced(at, 1).map((task) => {
    if (key === undefined || task.context?.includes(key) !== true) return task
    return setField(
      task,
      'context',
      task.context.filter((other) => other !== key),
    )
  })
}

function findFreeName(name: string, tasks: readonly TaskDraft[]): string {
  const taken = new Set(tasks.map((task) => task.name))
  let number = 2
  while (taken.has(`${name}-${number}`)) number += 1
  return `${name}-${number}`
}
