/**
 * Reads the outputs that the request of a fork gives to tasks.
 *
 * ENS-E27 A provided output replaces the answer of an agent or a handler, without a call. Guardrails, reviews and
 *    memory of the task apply to it as to any answer.
 */
import { pointer, shortText, unknownName, type Problem } from '@tutti/protocol/internal'

import { renderOutput } from '../agent/loop.ts'
import { listAllTasks } from '../definition/manager.ts'

import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'
import type { Task } from '../definition/task.ts'
import type { ResultGiven, RunStep } from '../ports/run-step.ts'

/** Maximum number of problems that are described. Each unknown name costs a search for similar ones. */
const MAX_PROBLEMS = 20

/** Outputs by task name: text, or a value for a task with an output schema. */
export type GivenResults = Readonly<Record<string, unknown>>

/** The steps that provide outputs, and the problems of unusable outputs. */
export interface GivenResultsReading {
  readonly steps: readonly ResultGiven[]
  /** The first problems, with paths below the outputs, such as `/writer`. */
  readonly problems: readonly Problem[]
}

/** Reads outputs for tasks of a run that continues from `steps`. */
export async function readGivenResults(
  ensemble: ResolvedEnsemble,
  results: GivenResults,
  steps: readonly RunStep[],
): Promise<GivenResultsReading> {
  const given: ResultGiven[] = []
  const problems: Problem[] = []
  for (const [taskName, value] of Object.entries(results)) {
    if (problems.length === MAX_PROBLEMS) break
    const reading = await readResult(ensemble, steps, { taskName, value })
    if (typeof reading === 'string')
      problems.push({ path: pointer('', taskName), message: reading })
    else given.push({ kind: 'result_given', taskName, ...reading, runMs: steps.at(-1)?.runMs ?? 0 })
  }
  return { steps: given, problems }
}

/** Returns the output of a task, or the problem with it. */
async function readResult(
  ensemble: ResolvedEnsemble,
  steps: readonly RunStep[],
  { taskName, value }: { readonly taskName: string; readonly value: unknown },
): Promise<Pick<ResultGiven, 'output' | 'structured'> | string> {
  const tasks = listAllTasks(ensemble)
  const task = tasks.find(({ name }) => name === taskName)
  if (task === undefined) {
    return unknownName(
      'task',
      taskName,
      tasks.map(({ name }) => name),
    )
  }
  if (!ensemble.plan.scheduled.includes(taskName)) {
    return `task "${shortText(taskName)}" runs only when a manager delegates it; give the output of the manager`
  }
  return findPlaceProblem(taskName, steps) ?? readOutput(task, value)
}

/** Returns the reason why a task cannot get an output after `steps`; undefined if there is none. */
function findPlaceProblem(taskName: string, steps: readonly RunStep[]): string | undefined {
  const own = steps.filter((step) => 'taskName' in step && step.taskName === taskName)
  const shown = shortText(taskName)
  if (own.some(({ kind }) => kind === 'task_completed')) {
    return `task "${shown}" is completed in the copied part`
  }
  if (own.some((step) => step.kind === 'task_skipped' || isFinalFailure(step))) {
    return `task "${shown}" failed or was skipped in the copied part; fork the run before that`
  }
  const ended = new Set(own.flatMap((s) => (s.kind === 'delegation_ended' ? [s.delegationId] : [])))
  const isDelegating = own.some(
    (step) => step.kind === 'delegation_begun' && !ended.has(step.delegationId),
  )
  if (!isDelegating) return undefined
  return `task "${shown}" waits for delegated work in the copied part; fork the run before or after that`
}

function isFinalFailure(step: RunStep): boolean {
  return step.kind === 'task_failed' && !step.willRetry
}

async function readOutput(
  { outputReader }: Task,
  value: unknown,
): Promise<Pick<ResultGiven, 'output' | 'structured'> | string> {
  if (outputReader === undefined) {
    if (typeof value !== 'string') return 'must be text, because the task has no output schema'
    return value.trim() === '' ? 'must be text that is not blank' : { output: value }
  }
  const reading =
    typeof value === 'string' ? await outputReader.read(value) : await outputReader.readValue(value)
  if (!reading.ok) return `does not match the output schema: ${reading.problem}`
  return { output: renderOutput(reading.value), structured: reading.value }
}
