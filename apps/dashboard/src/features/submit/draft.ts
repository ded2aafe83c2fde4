/**
 * What is typed to submit a run. Pure.
 *
 * A draft stores what was typed at every level and for every ensemble. Tasks refer to each other by a key that
 * a new name does not change.
 */
import type { EnsembleInfo } from '@tutti/protocol'

/** How much of a run the request says: its inputs, changes of its tasks, or all of its tasks. */
export type SubmissionLevel = 'inputs' | 'overrides' | 'tasks'

/** Fields of the body while they are typed: any may be missing, or not match its schema yet. */
export type Typed = Readonly<Record<string, unknown>>

/** A task that the request defines. */
export interface TaskDraft extends Typed {
  /** Stays the same for as long as the task exists. */
  readonly key: string
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly expectedOutput?: string | undefined
  readonly model?: string | undefined
  readonly tools?: readonly string[] | undefined
  /** Text that is meant to be JSON. */
  readonly outputSchema?: string | undefined
  /** Keys of other tasks; a reference that means none of them stays as it was written (`$…`). */
  readonly context?: readonly string[] | undefined
}

/** What changes in a task of the ensemble. */
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

/** Changes by the name of the task. */
export type Overrides = Readonly<Record<string, OverrideDraft>>

/** A name with its value; `key` stays the same while both are typed. */
export interface NamedValue {
  readonly key: string
  readonly name: string
  readonly value: string
  /** Number or boolean that `value` was made of; sent in its place while `value` is unchanged. */
  readonly typed?: number | boolean
}

/** Everything that is typed. */
export interface SubmissionDraft {
  readonly level: SubmissionLevel
  /** The first one of the server when undefined. */
  readonly ensemble: string | undefined
  /** By the name of the variable, for all ensembles. */
  readonly inputs: Readonly<Record<string, string>>
  /** Inputs that no text of a task has a variable for. */
  readonly moreInputs: readonly NamedValue[]
  /** By ensemble and then by task. */
  readonly overrides: Readonly<Record<string, Overrides>>
  readonly tasks: readonly TaskDraft[]
  readonly options: Typed
  readonly budget: Typed
  readonly tags: readonly NamedValue[]
  /** One name a line. */
  readonly webhooks: string
  readonly runId: string
}

export type ChangeDraft = (next: (draft: SubmissionDraft) => SubmissionDraft) => void

/** A draft in which nothing was typed yet. */
export function emptyDraft(): SubmissionDraft {
  return {
    level: 'inputs',
    ensemble: undefined,
    inputs: {},
    moreInputs: [],
    overrides: {},
    tasks: [{ key: 't1' }],
    options: {},
    budget: {},
    tags: [],
    webhooks: '',
    runId: '',
  }
}

/** The ensemble that a draft means; undefined when the server has none of that name. */
export function chosenEnsemble(
  { ensemble }: Pick<SubmissionDraft, 'ensemble'>,
  ensembles: readonly EnsembleInfo[],
): EnsembleInfo | undefined {
  return ensemble === undefined ? ensembles[0] : ensembles.find(({ name }) => name === ensemble)
}

/** The changes that a draft holds for the ensemble that it means. */
export function chosenOverrides(
  draft: SubmissionDraft,
  ensembles: readonly EnsembleInfo[],
): Overrides {
  const name = draft.ensemble ?? ensembles[0]?.name ?? ''
  return draft.overrides[name] ?? {}
}

/** What a task is called: its name, or its place. */
export function taskTitle(task: TaskDraft, index: number): string {
  const name = task.name?.trim() ?? ''
  return name === '' ? `Task ${index + 1}` : name
}

/** A key that none of `parts` has. */
export function nextKey(parts: readonly { readonly key: string }[], letter: string): string {
  const numbers = parts.map(({ key }) => Number(key.slice(1)))
  return `${letter}${Math.max(0, ...numbers) + 1}`
}

/** The part with another value of a field; undefined, or an empty list or object, takes the field away. */
export function withField<T extends Typed>(part: T, field: string, value: unknown): T {
  const { [field]: _before, ...rest } = part
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0
  // NOTE: the same fields but this one, which may be left out wherever it may be undefined.
  return (value === undefined || isEmpty ? rest : { ...part, [field]: value }) as unknown as T
}

/** The tasks with a new one at the end. */
export function withNewTask(tasks: readonly TaskDraft[]): readonly TaskDraft[] {
  return [...tasks, { key: nextKey(tasks, 't') }]
}

/** The tasks with a copy of one after it; the copy has a name of its own. */
export function withCopy(tasks: readonly TaskDraft[], at: number): readonly TaskDraft[] {
  const original = tasks[at]
  if (original === undefined) return tasks
  const { name } = original
  const copy = { ...original, key: nextKey(tasks, 't') }
  const named = name === undefined ? copy : { ...copy, name: freeName(name, tasks) }
  return tasks.toSpliced(at + 1, 0, named)
}

/** The tasks with one at another place. */
export function withMoved(
  tasks: readonly TaskDraft[],
  from: number,
  to: number,
): readonly TaskDraft[] {
  const moved = tasks[from]
  if (moved === undefined || to < 0 || to >= tasks.length) return tasks
  return tasks.toSpliced(from, 1).toSpliced(to, 0, moved)
}

/** The tasks without one; nobody waits for it any more. */
export function withoutTask(tasks: readonly TaskDraft[], at: number): readonly TaskDraft[] {
  const key = tasks[at]?.key
  return tasks.toSpliced(at, 1).map((task) => {
    if (key === undefined || task.context?.includes(key) !== true) return task
    return withField(
      task,
      'context',
      task.context.filter((other) => other !== key),
    )
  })
}

function freeName(name: string, tasks: readonly TaskDraft[]): string {
  const taken = new Set(tasks.map((task) => task.name))
  let number = 2
  while (taken.has(`${name}-${number}`)) number += 1
  return `${name}-${number}`
}
