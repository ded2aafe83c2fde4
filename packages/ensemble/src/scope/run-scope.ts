/** The context that all tasks of a run share. */
import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'
import type { Inputs } from '../definition/template.ts'
import type { RunJournal } from '../ports/run-journal.ts'
import type { Message } from '../model/chat-model.ts'
import type { Meter } from '../usage/budget.ts'
import type { InFlight } from '../work/in-flight.ts'
import type { WaitingTasks } from '../work/task-slots.ts'
import type { Stopwatch } from '../work/stopwatch.ts'
import type { StepLog } from './step-log.ts'
import type { Clock, Logger } from '@tutti/core'

/** An attempt at a task of the run. */
export interface TaskAttempt {
  readonly taskName: string
  readonly attempt: number
}

/** Identity, inputs, clock, journal and limits of a run, for the tasks of one ensemble. */
export interface RunScope {
  readonly runId: string
  /** Ensemble of the tasks that have this scope. */
  readonly ensemble: ResolvedEnsemble
  /** Attempt of the task that runs the ensemble, and the depth of its tasks; absent for that of the run itself. */
  readonly parent?: TaskAttempt & { readonly depth: number }
  readonly inputs: Inputs
  /** Messages of the conversation before the run, for its agents. */
  readonly history: readonly Message[]
  /** Aborts when all work must stop. */
  readonly signal: AbortSignal
  /** Aborts when this process may no longer work on the run, also after a cancel. */
  readonly lost: AbortSignal
  readonly clock: Clock
  readonly logger: Logger
  readonly journal: RunJournal
  /** Maximum size of one text of a task with its inputs, in bytes of UTF-8. */
  readonly maxTextBytes: number
  /** Whether the journal records steps; if not, none are created. */
  readonly recordsSteps: boolean
  /** Steps that an earlier process recorded. */
  readonly log: StepLog
  readonly stopwatch: Stopwatch
  readonly meter: Meter
  readonly inFlight: InFlight
  readonly waitingTasks: WaitingTasks
}

/** Returns the name of a task that a task adds, in the run. */
export function toAddedName({ taskName, attempt }: TaskAttempt, key: string): string {
  return attempt === 1 ? `${taskName}/${key}` : `${taskName}/${key}#${attempt}`
}

/** Returns the name that a task of the ensemble has in the run. */
export function toRunName({ parent }: { readonly parent?: TaskAttempt }, name: string): string {
  return parent === undefined ? name : toAddedName(parent, name)
}
