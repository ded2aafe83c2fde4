/** What the parts of a running task share: who it is, the ports it works through, what it has used. */
import { limitText } from '@tutti/core'

import { LABEL_LENGTH, ShownMessages } from '../agent/shown-messages.ts'
import { toolsOf } from '../hierarchy/delegate-tool.ts'
import { countEarlierAttempt } from './count-earlier.ts'
import { Totals } from '../usage/totals.ts'

import type { InFlight } from '../work/in-flight.ts'
import type { StepLog, TaskLog } from './step-log.ts'
import type { Stopwatch } from '../work/stopwatch.ts'
import type { Directives } from '../steering/directives.ts'
import type { Gates } from '../reviews/reviews.ts'
import type { ModelSwitches } from '../steering/models.ts'
import type { Ensemble } from '../ensemble.ts'
import type { Delegations } from '../hierarchy/delegations.ts'
import type { Inputs } from '../definition/inputs.ts'
import type { Meter } from '../usage/budget.ts'
import type { MemoryStore } from '../memory/memory.ts'
import type { ReflectionStore } from '../memory/reflection.ts'
import type { Prices } from '../model/prices.ts'
import type { RunJournal } from '../ports/run-journal.ts'
import type { RunStep, TaskStep } from '../ports/run-step.ts'
import type { Task } from '../definition/task.ts'
import type {
  AgentTool,
  CallerRequest,
  Clock,
  Logger,
  Remaining,
  RunToolCallsOptions,
} from '@tutti/core'
import type { RunEvent } from '@tutti/protocol'

/** How the events of a task name it. */
export interface TaskIdentity {
  /** From 1, unique within the run. */
  readonly taskIndex: number
  readonly taskName: string
  readonly taskDescription: string
  readonly agentRole: string
  /** From 1; a later attempt replaces what the earlier ones streamed. */
  readonly attempt: number
}

/** What all tool calls of a run share: where to count, how many at the same time. */
export type Tooling = Pick<RunToolCallsOptions, 'metrics' | 'limiter' | 'maxConcurrentCalls'>

/** What all tasks of a run share. */
export interface RunScope {
  readonly runId: string
  /** Gives the W3C trace context that the run was asked for in. */
  readonly traceparent: () => string
  /** What goes with it; undefined for nothing. */
  readonly tracestate: string | undefined
  /** The request of the agent or MCP client that started the run. */
  readonly request: CallerRequest | undefined
  readonly ensemble: Ensemble
  readonly inputs: Inputs
  /** Aborts when all work is to stop. */
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly logger: Logger
  readonly journal: RunJournal
  /** Whether the journal is one that keeps steps; else none are made. */
  readonly keepsSteps: boolean
  /** What an earlier process did of this run. */
  readonly log: StepLog
  readonly stopwatch: Stopwatch
  readonly meter: Meter
  readonly tooling: Tooling
  readonly prices: Prices | undefined
  readonly switches: ModelSwitches
  readonly directives: Directives
  readonly gates: Gates
  readonly inFlight: InFlight
  /** Whether there is anybody to decide a gate. */
  readonly hasReviewer: boolean
  readonly reflections: ReflectionStore
  /** Where memory scopes without a store of their own are. */
  readonly memories: MemoryStore
  readonly delegations: Delegations
  /** Told how long a model call waited for its turn, in milliseconds. */
  readonly onRateLimitWait: ((waitedMs: number) => void) | undefined
}

const DONE = Promise.resolve()

type Bare<S> = S extends TaskStep ? Omit<S, 'taskName' | 'attempt' | 'runMs' | 'taskMs'> : never

/** A step of a task without what the scope of the task adds. */
export type NewTaskStep = Bare<TaskStep>

/** What a scope is made with. */
export interface TaskScopeOptions {
  readonly run: RunScope
  readonly task: Task
  readonly identity: TaskIdentity
  readonly signal: AbortSignal
  readonly stopwatch: Stopwatch
  readonly meter: Meter
  /** How many delegations it is away from the tasks of the plan. */
  readonly depth: number
}

/** Surroundings of one attempt at a task. */
export class TaskScope {
  readonly run: RunScope
  readonly task: Task
  readonly identity: TaskIdentity
  /** Aborts when the work is to stop: the run's signal, and the time limit of the task. */
  readonly signal: AbortSignal
  readonly stopwatch: Stopwatch
  readonly meter: Meter
  readonly depth: number
  readonly log: TaskLog
  readonly totals = new Totals()
  readonly shown = new ShownMessages()
  /** The start of the description, for the many events of turns and tokens. */
  readonly taskLabel: string
  #tools: readonly AgentTool[] | undefined

  constructor(options: TaskScopeOptions) {
    this.run = options.run
    this.task = options.task
    this.identity = options.identity
    this.taskLabel = limitText(options.identity.taskDescription, LABEL_LENGTH)
    this.signal = options.signal
    this.stopwatch = options.stopwatch
    this.meter = options.meter
    this.depth = options.depth
    this.log = options.run.log.task(options.identity.taskName)
    countEarlierAttempt(this.totals, this.log, options.identity.attempt)
  }

  /** Tools of the task, and the one with which it delegates. */
  get tools(): readonly AgentTool[] {
    this.#tools ??= toolsOf(this)
    return this.#tools
  }

  /** What the task and the run may still use. */
  remaining(): Remaining {
    const left = this.meter.remaining()
    const { timeoutMs = Infinity } = this.task
    const timeMs = Math.min(left.timeMs, Math.max(0, timeoutMs - this.stopwatch.elapsed()))
    return { ...left, timeMs }
  }

  /** Tells of something, and keeps the step that it is. */
  emit(event: RunEvent, step?: NewTaskStep): void {
    const { journal, keepsSteps } = this.run
    if (step === undefined || !keepsSteps) journal.emit(event)
    else journal.emit(event, this.#whole(step))
  }

  /** Keeps a step; resolves when it is durable. */
  commit(step: NewTaskStep, event?: RunEvent): Promise<void> {
    const { journal, keepsSteps } = this.run
    if (keepsSteps) return journal.commit(this.#whole(step), event)
    if (event !== undefined) journal.emit(event)
    return DONE
  }

  #whole(step: NewTaskStep): RunStep {
    const { taskName, attempt } = this.identity
    return {
      ...step,
      taskName,
      attempt,
      runMs: this.run.stopwatch.elapsed(),
      taskMs: this.stopwatch.elapsed(),
    }
  }
}
