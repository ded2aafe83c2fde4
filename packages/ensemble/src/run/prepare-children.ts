/** Checks the tasks that a handler adds, and fills in their texts. Nothing begins before all of them are valid. */
import { TuttiError } from '@tutti/core'
import { computeJsonDigest, findOptionProblems, type OptionNames } from '@tutti/core/internal'
import { previewOf, shortText } from '@tutti/protocol/internal'

import { findTaskHandoffProblems } from '../definition/check-handoffs.ts'
import { findUnknownInputs, missingInputs } from '../definition/inputs.ts'
import { reviewAtMax } from '../definition/loop-end.ts'
import { findTaskModelProblems } from '../definition/missing-models.ts'
import { reviewAfter, reviewSettingsOf } from '../definition/review-settings.ts'
import { findSubEnsemble, listSubEnsembles } from '../definition/sub-ensemble.ts'
import { toOptionText } from '../definition/option-text.ts'
import { renderTask } from '../definition/task-text.ts'
import { findLargeText, measureTaskTexts } from '../definition/text-limits.ts'
import { digestOutput } from '../scope/replay.ts'
import { toAddedName, toRunName } from '../scope/run-scope.ts'
import { toAddedRun, type TaskScope } from '../scope/task-scope.ts'

import { listReviewedTasks } from './check-options.ts'

import type { Inputs } from '../definition/inputs.ts'
import type { ChildOptions } from '../definition/operations.ts'
import type { Task } from '../definition/task.ts'
import type { WorkerHost } from '../hierarchy/workers.ts'
import type { Reviews } from '../reviews/reviews.ts'
import type { RunScope } from '../scope/run-scope.ts'

/** Maximum depth of tasks that tasks add: bounds a handler that adds itself. */
export const MAX_TASK_DEPTH = 16

/** Maximum length of a key, in characters. */
const MAX_KEY_LENGTH = 200

/** Maximum number of problems that an error describes. */
const MAX_PROBLEMS = 20

/** Maximum size of the texts of all tasks of an operation: they are rendered and stored before the first of them begins. */
const MAX_ADDED_TEXT = 64_000_000

/** A task that a handler asks for. */
export interface AskedChild {
  readonly task: Task
  readonly key: string
  readonly inputs: Inputs
}

/** A task that can begin. */
export interface PreparedChild extends AskedChild {
  /** Name in the run. */
  readonly name: string
  /** Digest of its name, texts, inputs and output schema; empty in a run that records no steps. */
  readonly digest: string
}

/** Parts of the run that added tasks need. */
export interface ChildSettings {
  readonly host: WorkerHost
  readonly reviews: Reviews
  /** Keys that the handler has used in this attempt. */
  readonly keys: Set<string>
  /** Whether an earlier process added a task of this name for the same operation. */
  readonly isRecorded: (name: string) => boolean
}

/**
 * Returns the tasks with their names and texts.
 *
 * @throws {TuttiError} CONFIG_INVALID, naming every problem of every task; INPUT_TOO_LARGE for texts that are too large together.
 */
export function prepareChildren(
  scope: TaskScope,
  asked: readonly AskedChild[],
  { host, reviews, keys, isRecorded }: ChildSettings,
): readonly PreparedChild[] {
  assertTextInputs(asked)
  assertTextSize(asked, scope.run.inputs)
  const problems: string[] = []
  if (scope.depth >= MAX_TASK_DEPTH) problems.push(`tasks may nest ${MAX_TASK_DEPTH} deep`)
  const used = new Set(keys)
  const names = new Set<string>()
  const { attempt } = scope.identity
  const isTaken = (name: string): boolean =>
    names.has(name) || (host.hasTask(name) && !isRecorded(name))
  const run = toAddedRun(scope)
  // The tasks of a plan are found by names that follow from the plan alone.
  const isPlanned = findSubEnsemble(scope.task) !== undefined
  const prepared = asked.map((child): PreparedChild => {
    let name = toAddedName(scope.identity, child.key)
    // A key can end like the name of a retry.
    while (attempt > 1 && !isPlanned && isTaken(name)) name = `${name}#${attempt}`
    const hasInputs = Object.keys(child.inputs).length > 0
    const inputs = hasInputs ? { ...scope.run.inputs, ...child.inputs } : scope.run.inputs
    const isUsed = used.has(child.key)
    const isOther = !isUsed && isTaken(name)
    used.add(child.key)
    names.add(name)
    const large = findLargeText(child.task, inputs, scope.run.maxTextBytes)
    const found = [
      ...(isUsed ? [`its key "${shortText(child.key)}" is used twice: set another key`] : []),
      ...(!isPlanned && hasCondition(child.task)
        ? ['when and switch apply only to tasks of an ensemble: use if in the handler']
        : []),
      ...(isOther ? [describeTakenName(name)] : []),
      ...findProblems(run, { ...child, inputs }, { host, reviews }),
      ...(large === undefined
        ? []
        : [
            `its ${large.field} with its inputs would have ${large.bytes} bytes, at most ` +
              `${scope.run.maxTextBytes} are allowed (maxTextBytes)`,
          ]),
    ]
    for (const problem of found) problems.push(`task "${shortText(name)}": ${problem}`)
    const text = large === undefined ? renderTask(child.task, inputs) : {}
    const task = { ...child.task, ...text, name }
    const digest = scope.run.recordsSteps ? digestChild(task, child.inputs) : ''
    return { ...child, task, name, inputs, digest }
  })
  if (problems.length > 0) throw problemsError(problems)
  for (const { key } of prepared) keys.add(key)
  return prepared
}

function problemsError(problems: readonly string[]): TuttiError {
  const shown = problems.slice(0, MAX_PROBLEMS)
  const more = problems.length - shown.length
  const rest = more > 0 ? `; and ${more} other problems` : ''
  return new TuttiError('CONFIG_INVALID', `Cannot add tasks: ${shown.join('; ')}${rest}`, {
    details: { problems: shown },
  })
}

const CHILD_NAMES = { inputs: true, key: true } as const satisfies OptionNames<ChildOptions>

/**
 * Checks the options with which code adds a task, which plain JavaScript can misspell.
 *
 * @throws {TuttiError} CONFIG_INVALID naming unknown options, and inputs that neither a template variable nor code of the
 * task can read.
 */
export function assertChildOptions(task: Task, options: ChildOptions): void {
  const problems = [
    ...findOptionProblems(options, CHILD_NAMES),
    ...findUnknownInputs({ tasks: [task] }, options.inputs ?? {}).map(toOptionText),
  ]
  if (problems.length === 0) return
  throw problemsError(problems.map((problem) => `task "${shortText(task.name)}": ${problem}`))
}

/** Checks that all inputs are texts: plain JavaScript, and values of the type `any`, can be anything. */
function assertTextInputs(asked: readonly AskedChild[]): void {
  const problems = asked.flatMap(({ task, inputs }) => {
    const entries: readonly (readonly [string, unknown])[] = Object.entries(inputs)
    return entries
      .filter(([, value]) => typeof value !== 'string')
      .map(
        ([name, value]) =>
          `task "${shortText(task.name)}": its input "${shortText(name)}" must be text, got ${previewOf(value)}`,
      )
  })
  if (problems.length > 0) throw problemsError(problems)
}

/** Returns the problem of a task whose name another task of the run has. */
export function describeTakenName(name: string): string {
  return `another task of the run has its name "${shortText(name)}"`
}

function hasCondition({ when, switch: switchName }: Task): boolean {
  return when !== undefined || switchName !== undefined
}

/** Checks the size of all texts before any is rendered: a template can name one large input for each of many items. */
function assertTextSize(asked: readonly AskedChild[], inputs: Inputs): void {
  let size = 0
  for (const { task, inputs: own } of asked) {
    size += measureTaskTexts(task, (name) => readInput(own, name) ?? readInput(inputs, name) ?? '')
  }
  if (size <= MAX_ADDED_TEXT) return
  throw new TuttiError(
    'INPUT_TOO_LARGE',
    `Cannot add tasks: the texts of ${asked.length} tasks would have ${size} bytes, at most ${MAX_ADDED_TEXT} are allowed`,
    { details: { bytes: size, maxBytes: MAX_ADDED_TEXT } },
  )
}

function readInput(inputs: Inputs, name: string): string | undefined {
  return Object.hasOwn(inputs, name) ? inputs[name] : undefined
}

function findProblems(
  run: RunScope,
  { task, key, inputs }: AskedChild,
  { host, reviews }: Pick<ChildSettings, 'host' | 'reviews'>,
): readonly string[] {
  const { ensemble, parent } = run
  const problems: string[] = []
  if (typeof key !== 'string') {
    problems.push(`its key must be text, got ${previewOf(key)}`)
  } else if (key.trim() === '' || key.length > MAX_KEY_LENGTH) {
    problems.push(`its key must have 1 to ${MAX_KEY_LENGTH} characters that are not all blank`)
  }
  const missing = missingInputs([task], inputs)
  if (missing.length > 0) problems.push(`missing inputs: ${missing.join(', ')}`)
  problems.push(...findTaskHandoffProblems(task, ensemble))
  problems.push(...findTaskModelProblems(task, ensemble))
  const open = task.context.filter((name) => !host.isCompleted(toRunName(run, name)))
  if (open.length > 0) {
    problems.push(
      `its context must be completed tasks of the ensemble, and these are not: ${open.join(', ')}. Pass outputs of added tasks as inputs`,
    )
  }
  const lastTasks = parent === undefined ? [] : ensemble.plan.lastTasks
  const isReviewed =
    reviewAtMax(task) !== undefined ||
    reviewSettingsOf(task.beforeReview) !== undefined ||
    reviewAfter(task, ensemble.reviewPolicy, lastTasks) !== undefined ||
    listSubEnsembles([task]).some(({ definition }) => listReviewedTasks(definition).length > 0)
  if (isReviewed && !reviews.hasReviewer) {
    problems.push('needs a review, but the run has no reviewer: set the option reviewer')
  }
  return problems
}

function digestChild(
  { name, description, expectedOutput, outputReader }: Task,
  inputs: Inputs,
): string {
  return computeJsonDigest([
    name,
    description,
    expectedOutput,
    inputs,
    digestOutput(outputReader) ?? null,
  ])
}
