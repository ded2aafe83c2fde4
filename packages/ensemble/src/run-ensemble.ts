/**
 * The engine: runs the tasks of an ensemble as its plan allows.
 *
 *   plan ─▶ nextTasks ─▶ runTask … runTask ─▶ outcomes ─▶ nextTasks ─▶ … ─▶ run_result
 *
 * It leaves order to `next.ts`, one task to `run-task.ts`, and durability to the journal. Everything
 * that a reader can know of a run is in its events, in one order.
 *
 * E1 Missing inputs are all named, and nothing runs.
 * E2 A task starts as soon as all it waits for is completed, and at most once per attempt.
 * E3 With FAIL_FAST nothing starts after a failure; what runs is left to finish.
 * E4 When the signal aborts nothing starts; the run is CANCELLED when everything in flight has stopped.
 * E5 ensemble_completed and run_result come last, once, in every ending.
 * E6 A resumed run repeats no task that a checkpoint holds.
 * E14 When a reviewer ends the run early nothing starts any more; the run is COMPLETED with what is done.
 */
import {
  createLimiter,
  isoNow,
  silentLogger,
  systemClock,
  TuttiError,
  type Clock,
  type Logger,
  type Reviewer,
  type ToolMetrics,
} from '@tutti/core'

import { toolSpecifications } from './agent/call-tools.ts'
import { renderTask, type ContextOutput } from './agent/prompt.ts'
import { assertInputs, type Inputs } from './inputs.ts'
import { modelOfTask } from './model/model-of-task.ts'
import { nextTasks, type TaskPhase } from './next.ts'
import { listenerJournal, type RunJournal, type TaskCheckpoint } from './ports/run-journal.ts'
import { runTask, type TaskOutcome } from './run-task.ts'
import { addTokens, NO_TOKENS, totalTokens } from './tokens.ts'

import type { TaskUsage } from './agent/loop-totals.ts'
import type { Ensemble } from './ensemble.ts'
import type { Task } from './task.ts'
import type { Tooling } from './task-scope.ts'
import type { RunEvent, RunEventOf } from '@tutti/protocol'

/** Surroundings of a run. */
export interface RunOptions {
  /** @default a random id */
  readonly runId?: string
  /** Aborting it cancels the run. */
  readonly signal?: AbortSignal
  /** Told of every event, in order. What it throws is logged and changes nothing. */
  readonly onEvent?: (event: RunEvent) => void
  readonly clock?: Clock
  readonly logger?: Logger
  /** Whom tools ask for approval; without one, a tool that needs it fails its task. */
  readonly reviewer?: Reviewer
  /** Where tool calls are counted. */
  readonly toolMetrics?: ToolMetrics
  /** Where events and checkpoints go instead of `onEvent`. */
  readonly journal?: RunJournal
  /** What an earlier process left of this run. */
  readonly resume?: ResumePoint
}

/** Where a run that was cut off goes on. */
export interface ResumePoint {
  /** Tasks that are done. */
  readonly completed: readonly TaskCheckpoint[]
  /** Attempts begun so far by task, finished or not. */
  readonly attempts: ReadonlyMap<string, number>
  /** How long the run took before it was cut off, in milliseconds. */
  readonly elapsedMs: number
}

/** How a run ended. */
export type RunEnding = RunEventOf<'run_result'>['status']

/** What a run came to. */
export interface RunResult {
  readonly runId: string
  readonly status: RunEnding
  /** Output of the last declared task that completed; empty when none did. */
  readonly output: string
  /** The completed tasks, in the order they were declared. */
  readonly tasks: readonly TaskCheckpoint[]
  readonly durationMs: number
  /** What all tasks have used, those that failed or were cut off too; tokens are -1 when unknown. */
  readonly metrics: { readonly totalTokens: number; readonly totalToolCalls: number }
  /** Why it failed; present exactly when `status` is FAILED. */
  readonly error?: TuttiError
}

/** Runs `ensemble`; see {@link Ensemble.run}. */
export async function runEnsemble(
  ensemble: Ensemble,
  inputs: Inputs,
  options: RunOptions,
): Promise<RunResult> {
  assertInputs(ensemble, inputs)
  return new Run(ensemble, inputs, options).execute()
}

/** A run in flight: the state that `execute` moves. */
class Run {
  readonly #ensemble: Ensemble
  readonly #inputs: Inputs
  readonly #runId: string
  readonly #signal: AbortSignal
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #journal: RunJournal
  readonly #resume: ResumePoint | undefined
  readonly #startedAt: number
  readonly #phases: Map<string, TaskPhase>
  readonly #completed: Map<string, TaskCheckpoint>
  /** What tasks have used that did not complete. */
  readonly #lost: TaskUsage[] = []
  readonly #tooling: Tooling
  #failure: TuttiError | undefined
  /** What ended the run before all tasks were done, though nothing failed. */
  #exit: TuttiError | undefined

  constructor(ensemble: Ensemble, inputs: Inputs, options: RunOptions) {
    this.#ensemble = ensemble
    this.#inputs = inputs
    this.#runId = options.runId ?? `run-${crypto.randomUUID()}`
    this.#signal = options.signal ?? new AbortController().signal
    this.#clock = options.clock ?? systemClock
    this.#logger = options.logger ?? silentLogger
    this.#journal = options.journal ?? journalOf(options, this.#logger)
    this.#resume = options.resume
    this.#tooling = toolingOf(ensemble, options)
    this.#startedAt = this.#clock.elapsed() - (options.resume?.elapsedMs ?? 0)
    this.#completed = new Map(options.resume?.completed.map((done) => [done.taskName, done]))
    this.#phases = new Map(
      ensemble.plan.order.map((name) => [
        name,
        this.#completed.has(name) ? 'completed' : 'pending',
      ]),
    )
  }

  async execute(): Promise<RunResult> {
    if (this.#resume === undefined) this.#announce()
    await this.#runTasks()
    return this.#finish()
  }

  #announce(): void {
    const { name, tasks, plan } = this.#ensemble
    this.#journal.emit({
      type: 'ensemble_started',
      ensembleId: this.#runId,
      startedAt: isoNow(this.#clock),
      totalTasks: tasks.length,
      workflow: plan.workflow,
      ensemble: name,
      tasks: tasks.map((task) => ({
        name: task.name,
        description: renderTask(task, this.#inputs).description,
        agentRole: task.agent.role,
        context: [...task.context],
      })),
    })
  }

  /** Starts tasks as they become ready until nothing runs and nothing can start. */
  #runTasks(): Promise<void> {
    return new Promise((resolve) => {
      let running = 0
      const advance = (): void => {
        for (const task of this.#startable()) {
          running += 1
          void this.#runTask(task).then((outcome) => {
            running -= 1
            this.#settle(task, outcome)
            advance()
          })
        }
        if (running === 0) resolve()
      }
      advance()
    })
  }

  #startable(): readonly Task[] {
    if (this.#signal.aborted || this.#exit !== undefined) return []
    const { start, skip } = nextTasks(this.#ensemble.plan, this.#phases, this.#ensemble)
    for (const [name, reason] of skip) this.#skip(name, `Task "${reason}" did not complete`)
    for (const name of start) this.#phases.set(name, 'running')
    return this.#ensemble.tasks.filter(({ name }) => start.includes(name))
  }

  #settle(task: Task, outcome: TaskOutcome): void {
    this.#phases.set(task.name, outcome.ok ? 'completed' : 'failed')
    if (outcome.ok) this.#completed.set(task.name, outcome.checkpoint)
    else {
      if (outcome.error.code === 'EXIT_EARLY') this.#exit ??= outcome.error
      else this.#failure ??= outcome.error
      this.#lost.push(outcome.used)
    }
  }

  #skip(name: string, reason: string): void {
    const index = this.#ensemble.plan.order.indexOf(name)
    const task = this.#ensemble.tasks[index]
    this.#phases.set(name, 'skipped')
    this.#journal.emit({
      type: 'task_skipped',
      taskIndex: index + 1,
      taskName: name,
      taskDescription: task === undefined ? '' : renderTask(task, this.#inputs).description,
      skippedAt: isoNow(this.#clock),
      reason,
    })
  }

  #runTask(task: Task): Promise<TaskOutcome> {
    const model = modelOfTask(task, this.#ensemble)
    if (model === undefined) {
      // An ensemble is checked to have a model for each task when it is made.
      const error = new TuttiError('CONFIG_INVALID', `Task "${task.name}" has no model`)
      const used = { ...NO_TOKENS, toolCallCount: 0 }
      return Promise.resolve({ ok: false, error, used })
    }
    const text = renderTask(task, this.#inputs)
    return runTask({
      model,
      text,
      context: this.#contextOf(task),
      totalTasks: this.#ensemble.tasks.length,
      journal: this.#journal,
      scope: {
        runId: this.#runId,
        task,
        identity: {
          taskIndex: this.#ensemble.plan.order.indexOf(task.name) + 1,
          taskName: task.name,
          taskDescription: text.description,
          agentRole: task.agent.role,
          attempt: (this.#resume?.attempts.get(task.name) ?? 0) + 1,
        },
        toolSpecifications: toolSpecifications(task.tools),
        signal: this.#signal,
        clock: this.#clock,
        logger: this.#logger,
        tooling: this.#tooling,
        maxToolOutputLength: this.#ensemble.maxToolOutputLength,
        emit: (event) => {
          this.#journal.emit(event)
        },
      },
    })
  }

  #contextOf(task: Task): readonly ContextOutput[] {
    return this.#ensemble.tasks
      .filter(({ name }) => task.context.includes(name))
      .map((earlier) => ({
        taskName: earlier.name,
        agentRole: earlier.agent.role,
        description: renderTask(earlier, this.#inputs).description,
        output: this.#completed.get(earlier.name)?.output ?? '',
      }))
  }

  #finish(): RunResult {
    const status = this.#ending()
    if (status === 'CANCELLED') this.#skipPending('The run was cancelled')
    if (this.#exit !== undefined) this.#skipPending(this.#exit.message)
    const tasks = this.#ensemble.plan.order.flatMap((name) => this.#completed.get(name) ?? [])
    const used: readonly TaskUsage[] = [...tasks, ...this.#lost]
    const result: RunResult = {
      runId: this.#runId,
      status,
      output: tasks.at(-1)?.output ?? '',
      tasks,
      durationMs: Math.round(this.#clock.elapsed() - this.#startedAt),
      metrics: {
        totalTokens: totalTokens(addTokens(used)),
        totalToolCalls: used.reduce((sum, { toolCallCount }) => sum + toolCallCount, 0),
      },
      ...(status === 'FAILED' && this.#failure !== undefined ? { error: this.#failure } : {}),
    }
    this.#emitEnd(result)
    return result
  }

  #skipPending(reason: string): void {
    for (const [name, phase] of this.#phases) {
      if (phase === 'pending') this.#skip(name, reason)
    }
  }

  #ending(): RunEnding {
    const unfinished = [...this.#phases.values()].some((phase) => phase !== 'completed')
    if (!unfinished) return 'COMPLETED'
    if (this.#signal.aborted) return 'CANCELLED'
    return this.#failure === undefined && this.#exit !== undefined ? 'COMPLETED' : 'FAILED'
  }

  #exitReason(status: RunEnding): RunEventOf<'ensemble_completed'>['exitReason'] {
    if (status === 'FAILED') return 'ERROR'
    if (status === 'CANCELLED' || this.#exit === undefined) return status
    return this.#exit.details?.timedOut === true ? 'TIMEOUT' : 'USER_EXIT_EARLY'
  }

  #emitEnd({ status, tasks, durationMs, metrics, error }: RunResult): void {
    this.#journal.emit({
      type: 'ensemble_completed',
      ensembleId: this.#runId,
      completedAt: isoNow(this.#clock),
      durationMs,
      exitReason: this.#exitReason(status),
      ...metrics,
    })
    this.#journal.emit({
      type: 'run_result',
      runId: this.#runId,
      status,
      outputs: tasks.map(({ taskName, output, durationMs: taskMs }) => ({
        taskName,
        output,
        durationMs: taskMs,
      })),
      durationMs,
      metrics,
      ...(error === undefined ? {} : { error: error.message }),
    })
  }
}

function toolingOf(
  { maxConcurrentToolCalls }: Ensemble,
  { reviewer, toolMetrics, clock }: RunOptions,
): Tooling {
  return {
    limiter: createLimiter({
      maxConcurrent: maxConcurrentToolCalls,
      ...(clock === undefined ? {} : { clock }),
    }),
    maxConcurrentCalls: maxConcurrentToolCalls,
    ...(reviewer === undefined ? {} : { reviewer }),
    ...(toolMetrics === undefined ? {} : { metrics: toolMetrics }),
  }
}

function journalOf(options: RunOptions, logger: Logger): RunJournal {
  return listenerJournal(
    (event) => options.onEvent?.(event),
    (error) => {
      logger.error('A listener of run events threw', { error })
    },
  )
}
