/**
 * What somebody types to submit a run. Pure.
 *
 * A draft keeps what was typed at every level and for every ensemble. Tasks refer to each other by a key that
 * a new name does not change.
 */
import type {
  EnsembleInfo,
  RunBudgetBody,
  RunReviewBody,
  TaskDefinitionBody,
  TaskOverrideBody,
  TaskReviewBody,
} from '@tutti/protocol'

/** How much of a run the request says: its inputs, changes of its tasks, or all of its tasks. */
export type Level = 'inputs' | 'overrides' | 'tasks'

/** A shape of the wire while it is typed: every part may be missing, and a number may be no number yet. */
type Typed<T> = {
  readonly [K in keyof T]?: (number extends T[K] ? T[K] | string : Loose<T[K]>) | undefined
}
type Loose<T> = T extends string ? string : T extends boolean ? boolean : T

/** A task of the request's own. */
export interface TaskDraft extends Omit<
  Typed<TaskDefinitionBody>,
  'maxIterations' | 'outputSchema' | 'context' | 'tools' | 'review' | 'beforeReview'
> {
  readonly review?: TaskReviewBody | string | undefined
  readonly beforeReview?: TaskReviewBody | string | undefined
  /** Stays the same as long as the task is there. */
  readonly key: string
  readonly tools?: readonly string[] | undefined
  readonly maxIterations?: number | string | undefined
  /** Text that is meant to be JSON. */
  readonly outputSchema?: string | undefined
  /** Keys of other tasks; a reference that means none of them stays as it was written (`$…`). */
  readonly context?: readonly string[] | undefined
}

/** What changes in a task of the ensemble. */
export interface OverrideDraft extends Omit<
  Typed<TaskOverrideBody>,
  'maxIterations' | 'tools' | 'review' | 'beforeReview'
> {
  readonly review?: TaskReviewBody | string | undefined
  readonly beforeReview?: TaskReviewBody | string | undefined
  readonly maxIterations?: number | string | undefined
  readonly tools?:
    | {
        readonly add?: readonly string[] | undefined
        readonly remove?: readonly string[] | undefined
      }
    | undefined
}

/** A name with its value; `key` stays the same while both are typed. */
export interface Row {
  readonly key: string
  readonly name: string
  readonly value: string
  /** Number or boolean that `value` was made of; sent in its place while `value` is unchanged. */
  readonly typed?: number | boolean
}

/** Review defaults of a run. */
export type RunReviewDraft = Typed<RunReviewBody>

/** The settings of a run. */
export interface OptionsDraft {
  readonly workflow?: string | undefined
  readonly reviewPolicy?: string | undefined
  readonly review?: RunReviewDraft | undefined
  readonly captureMode?: string | undefined
  readonly verbose?: boolean | undefined
  readonly maxToolOutputLength?: number | string | undefined
  readonly toolLogTruncateLength?: number | string | undefined
}

/** What the run may use. */
export type BudgetDraft = Typed<RunBudgetBody>

/** Everything that is typed. */
export interface SubmissionDraft {
  readonly level: Level
  /** Undefined is the first one of the server. */
  readonly ensemble: string | undefined
  /** By the name of the variable, for all ensembles. */
  readonly inputs: Readonly<Record<string, string>>
  /** Inputs that no text of a task has a variable for. */
  readonly moreInputs: readonly Row[]
  /** By ensemble and then by task. */
  readonly overrides: Readonly<Record<string, Overrides>>
  readonly tasks: readonly TaskDraft[]
  readonly options: OptionsDraft
  readonly budget: BudgetDraft
  readonly tags: readonly Row[]
  /** One name a line. */
  readonly webhooks: string
  readonly runId: string
}

/** Changes by the name of the task. */
export type Overrides = Readonly<Record<string, OverrideDraft>>

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

/** The part with another value of a field; undefined takes the field away. */
export function withField<T extends object, K extends keyof T>(
  part: T,
  field: K,
  value: T[K] | undefined,
): T {
  const { [field]: _before, ...rest } = part
  // NOTE: the same fields but this one, which may be left out wherever it may be undefined.
  return (value === undefined ? rest : { ...part, [field]: value }) as T
}

/** A list, or nothing when it is empty. */
export function listOrNothing(values: readonly string[]): readonly string[] | undefined {
  return values.length === 0 ? undefined : values
}
