/**
 * The engine: runs the tasks of an ensemble by its plan.
 *
 *   plan ─▶ Schedule.next ─▶ runTask … runTask ─▶ outcomes ─▶ Schedule.next ─▶ … ─▶ run_result
 *
 * `schedule.ts` decides the order, `run-task.ts` runs one task, `steering.ts` applies commands, and the journal
 * makes events and steps durable. Readers see a run only through its events, in one order.
 *
 * ENS-E2 A task starts as soon as every task that it waits for is completed, or skipped by a condition, and at most once per
 *    attempt.
 * ENS-E3 With FAIL_FAST nothing starts after a failure; running tasks finish.
 * ENS-E4 After the signal aborts, nothing starts; the run is CANCELLED when everything in flight has stopped.
 * ENS-E6 A resumed run never repeats ended tasks, answered model calls or ended tool calls.
 * ENS-E14 After a reviewer ends the run early, nothing starts; the run is COMPLETED with the completed tasks.
 * ENS-E15 After the budget of the run is used up, nothing starts; the run fails and names the limit.
 */
import type { TuttiError } from '@tutti/core'
import { toWaitingStatus } from '@tutti/protocol/internal'

import { replayMismatchError, type ReplayDifference } from '../scope/replay.ts'
import { fromStepError } from '../scope/step-log.ts'
import { addUsage, toRunMetrics } from '../usage/usage.ts'
import { emitEnd, emitResumption, emitStart, toResult } from './run-events.ts'
import { exitEarlyError, hasEndedRun } from '../reviews/review-end.ts'
import { createRunParts, type RunParts } from './run-parts.ts'
import { PlannedSlots } from './planned-slots.ts'
import { findOutcome } from './find-outcome.ts'
import { runTask } from './run-task.ts'
import { TaskChoices } from './task-choices.ts'
import { findTaskDifference } from './task-difference.ts'
import { Schedule } from '../definition/schedule.ts'
import type { TaskOutcome } from '../scope/task-outcome.ts'
import { TaskStates, toTaskResult, type TrackedTask } from './task-states.ts'
import { Verdict } from './verdict.ts'

import { readRecordedTasks } from './task-list.ts'

import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'
import type { Inputs } from '../definition/inputs.ts'
import type { Task } from '../definition/task.ts'
import type { RunHandle, RunSnapshot } from './run-handle.ts'
import type { RunEnding, RunResult } from './run-result.ts'
import type { RunOptions } from './run-options.ts'
import { isRecordedTask, type WorkerTask } from '../hierarchy/workers.ts'
import { toAddedRun, type ReceivedConversation, type TaskScope } from '../scope/task-scope.ts'
import { TaskSlot } from '../work/task-slots.ts'

/** A run in flight. */
export class Run {
  readonly #ensemble: ResolvedEnsemble
  readonly #options: RunOptions
  readonly #parts: RunParts
  readonly #tasks: TaskStates
  readonly #schedule: Schedule
  readonly #choices: TaskChoices
  readonly #verdict = new Verdict()
  /** Number of running tasks that the engine started. */
  #running = 0
  /** Number of running tasks that an agent delegated. */
  #delegated = 0
  /** Number of running tasks of both kinds that wait for people. */
  #held = 0
  #resumeTime: (() => void) | undefined
  #stopWaitingForRoom: (() => void) | undefined
  #ended: RunEnding | undefined
  /** Names of the workers that this process has run or continued. */
  readonly #reached = new Set<string>()
  /** Promises of the tasks whose end the run awaits together with its own. */
  readonly #recording: Promise<void>[] = []

  constructor(ensemble: ResolvedEnsemble, inputs: Inputs, options: RunOptions) {
    this.#ensemble = ensemble
    this.#options = options
    this.#parts = createRunParts({ ensemble, inputs, options, host: this })
    const recorded = readRecordedTasks(this.#parts.scope.log)
    this.#schedule = new Schedule(ensemble.plan, ensemble)
    this.#tasks = new TaskStates({
      tasks: this.#parts.tasks,
      inputs,
      recorded,
      onPhase: (taskName, phase) => {
        this.#schedule.set(taskName, phase)
      },
    })
    this.#choices = new TaskChoices({
      scope: this.#parts.scope,
      tasks: this.#tasks,
      schedule: this.#schedule,
    })
    if (!this.#parts.scope.log.isEmpty) this.#restore()
  }

  /** Starts the run, and returns its handle. */
  start(): RunHandle {
    const { steering, scope, services } = this.#parts
    return {
      runId: scope.runId,
      result: this.execute(),
      send: (command) => steering.send(command),
      cancel: (options) => steering.cancel(options),
      switchModel: (model, { task, ...by } = {}) => {
        const taskName = typeof task === 'object' ? task.name : task
        return steering.switchModel(model, {
          ...(taskName === undefined ? {} : { taskName }),
          ...by,
        })
      },
      inject: (input) => steering.inject(typeof input === 'string' ? { content: input } : input),
      decide: (reviewId, decision) => steering.decide(reviewId, decision),
      deliver: (event) => services.reviews.deliver(event),
      drain: () => scope.inFlight.drain(),
      snapshot: () => this.#snapshot(),
    }
  }

  /** Returns the index of a task; for a new name, the index of the next added task. */
  indexOf(taskName: string): number {
    return this.#tasks.get(taskName)?.taskIndex ?? this.#tasks.count + 1
  }

  /** Whether a task with this name has begun. */
  isTaken(taskName: string): boolean {
    const state = this.#tasks.get(taskName)
    return state !== undefined && !this.#isUntouched(state)
  }

  /** Names of all tasks, those of the plan first. */
  get taskNames(): readonly string[] {
    return Array.from(this.#tasks.all, ({ taskName }) => taskName)
  }

  /** Whether the run has a task with this name. */
  hasTask(taskName: string): boolean {
    return this.#tasks.get(taskName) !== undefined
  }

  /** Whether a task with this name is completed. */
  isCompleted(taskName: string): boolean {
    return this.#tasks.resultOf(taskName) !== undefined
  }

  /** Whether this process has run, or continued, a worker with this name. */
  hasReached(taskName: string): boolean {
    return this.#reached.has(taskName)
  }

  /** Runs a task that the task of `parent` adds. */
  async runWorker(
    parent: TaskScope,
    { signal, inputs, received, slot, ...worker }: WorkerTask,
  ): Promise<TaskOutcome> {
    const { taskName, task } = worker
    this.#reached.add(taskName)
    const state = this.#tasks.get(taskName) ?? this.#tasks.add(worker)
    const step = this.#parts.scope.log.task(taskName).of('task_begun').at(-1)
    const difference = isRecordedTask(task)
      ? undefined
      : findTaskDifference(taskName, { step, task })
    if (step !== undefined && difference !== undefined) throw this.stopMismatched(difference)
    const ended = findOutcome(this.#parts.scope.log, this.#tasks, taskName)
    if (ended !== undefined) return ended
    const isPlanned = this.#isUntouched(state) && this.#tasks.isPlanned(state.task)
    // A manager delegates tasks of the plan, which may no longer start. Work that another agent delegates is
    // part of the task of that agent.
    if (isPlanned && this.#stopsStarting) {
      return { kind: 'not_begun', lost: [] }
    }
    const { inFlight, waitingTasks: waiting } = this.#parts.scope
    const taking = parent.slot.beginPart()
    if (taking !== undefined) await inFlight.pauseUntil(taking)
    const own = slot ?? new TaskSlot({ pools: [], parent: parent.slot, waiting, signal })
    this.#delegated += 1
    this.#updateTime()
    try {
      const how = { task, parent, signal, inputs, received, slot: own }
      const outcome = await this.#runTask(state, how)
      this.#settle(state, outcome)
      return outcome
    } finally {
      this.#delegated -= 1
      this.#updateTime()
      if (slot === undefined) own.end()
      else own.stopWaiting()
      await parent.slot.continueAfterPart(inFlight)
    }
  }

  /** Prevents further tasks from starting, because a reviewer ended the run. */
  endEarly(exit: TuttiError): void {
    this.#verdict.endEarly(exit)
    this.#parts.services.reviews.exitAll()
  }

  /** Whether the task has not begun, neither in this process nor in an earlier one. */
  #isUntouched({ taskName, phase }: TrackedTask): boolean {
    return phase === 'pending' && !this.#parts.scope.log.hasTask(taskName)
  }

  /** Executes the run; called once. */
  async execute(): Promise<RunResult> {
    const { signal } = this.#options
    const { steering } = this.#parts
    const onAbort = (): void => {
      steering.stop(signal?.reason)
    }
    const stopTimer = this.#begin()
    try {
      if (signal?.aborted === true) onAbort()
      else signal?.addEventListener('abort', onAbort, { once: true })
      // Wait so that the caller has the handle before the first task begins.
      await Promise.resolve()
      if (!this.#parts.scope.log.isEmpty) this.#checkTasks()
      await this.#runTasks()
      const result = this.#finish()
      if (this.#recording.length > 0) await Promise.all(this.#recording)
      return result
    } finally {
      this.#parts.services.reviews.close()
      signal?.removeEventListener('abort', onAbort)
      stopTimer?.()
    }
  }

  /** Emits the start or the resumption of the run. Returns the function that stops its time limit. */
  #begin(): (() => void) | undefined {
    const { scope, steering } = this.#parts
    const { resume } = this.#options
    if (scope.log.hasBegun) {
      emitResumption(scope, {
        epoch: resume?.epoch ?? 1,
        completedTasks: this.#tasks.listCompleted().filter((name) => scope.log.hasEnd(name)),
        added: this.#tasks.added,
        // The run fails if the code lacks a task that has begun.
        removed: this.#tasks.removed.filter(({ taskName }) => !scope.log.hasTask(taskName)),
      })
    } else {
      emitStart(scope, this.#tasks.planned)
    }
    // A run that has not begun can have received commands.
    if (!scope.log.isEmpty) {
      steering.restore(scope.log.runSteps)
      // An interrupted process may have recorded a call without the switch that follows from it.
      steering.followRules()
    }
    const maxDurationMs = this.#parts.budget?.maxDurationMs
    if (maxDurationMs === undefined || maxDurationMs === Infinity) return undefined
    // A limit that an earlier process reached is the reason of the end even if all tasks have ended.
    return scope.stopwatch.onReachOrNow(maxDurationMs, () => {
      steering.abort(scope.meter.exceeded('maxDurationMs', maxDurationMs))
    })
  }

  /** Restores the tasks from the steps of an earlier process. */
  #restore(): void {
    const { scope, services } = this.#parts
    const { log } = scope
    for (const step of log.runSteps) {
      if (step.kind !== 'task_skipped') continue
      const state = this.#tasks.get(step.taskName)
      if (state === undefined) continue
      if (step.excluded === true) this.#schedule.exclude(step.taskName)
      this.#tasks.setPhase(state, 'skipped')
    }
    for (const worker of services.delegations.listEarlier()) {
      if (this.#tasks.get(worker.taskName) === undefined) this.#tasks.add(worker)
    }
    for (const taskName of log.taskNames) {
      const state = this.#tasks.get(taskName)
      if (state !== undefined) this.#restoreTask(state)
    }
  }

  #restoreTask(state: TrackedTask): void {
    const { taskName } = state
    const { scope, services } = this.#parts
    const known = scope.log.task(taskName)
    // The decision of a reviewer comes before the end of its task, so its reason does.
    for (const closed of scope.log.hasTask(taskName) ? known.own('gate_closed') : []) {
      if (hasEndedRun(closed)) this.endEarly(exitEarlyError(taskName, closed.timedOut))
    }
    for (const { used, willRetry, error } of known.of('task_failed')) {
      this.#tasks.countLost([used])
      if (!willRetry) this.#fail(state, fromStepError(error))
    }
    for (const step of known.of('task_completed')) {
      this.#tasks.complete(state, toTaskResult(step))
      if (step.exit !== undefined) this.#verdict.endEarly(fromStepError(step.exit))
    }
    for (const { attempt, directiveIds } of known.of('model_turn')) {
      services.directives.markReached({ taskName, attempt }, directiveIds)
    }
    state.attempt = known.of('task_begun').at(-1)?.attempt ?? 0
  }

  /** Stops the run if its code does not have a task that began, or the task has another output. */
  #checkTasks(): void {
    const { log } = this.#parts.scope
    for (const taskName of log.taskNames) {
      const step = log.task(taskName).of('task_begun').at(-1)
      const task = this.#tasks.get(taskName)?.task
      // The handler that adds the task again shows its code.
      if (task !== undefined && isRecordedTask(task)) continue
      const difference = findTaskDifference(taskName, { step, task })
      if (difference !== undefined) this.stopMismatched(difference)
    }
  }

  /** Stops the run, because its code differs from its steps. Returns the error. */
  stopMismatched(difference: ReplayDifference): TuttiError {
    const error = replayMismatchError(difference)
    this.#abortMismatched(error)
    return error
  }

  #abortMismatched(error: TuttiError): void {
    this.#verdict.fail(error, { isDelegated: false })
    this.#parts.steering.abort(error)
  }

  /** Starts tasks as they become ready, until nothing runs and nothing can start. */
  #runTasks(): Promise<void> {
    return new Promise((resolve, reject) => {
      const { inFlight } = this.#parts.scope
      const runOne = async (state: TrackedTask, refusal?: TuttiError): Promise<void> => {
        this.#running += 1
        inFlight.beginTask()
        this.#tasks.setPhase(state, 'running')
        const slot = slots.create(this.#parts.scope)
        try {
          const taking = slot.take()
          if (taking !== undefined) await inFlight.pauseUntil(taking)
          const outcome = await this.#runTask(state, { task: state.task, slot, refusal })
          this.#settle(state, outcome)
          this.#running -= 1
          slot.end()
          advance()
        } catch (error) {
          reject(error)
        } finally {
          inFlight.endAgentCalls(`${state.taskName}/`)
          inFlight.endTask()
        }
      }
      let isAdvancing = false
      const advance = (): void => {
        // A task can free its slot while it starts.
        if (isAdvancing) return
        isAdvancing = true
        slots.serve()
        for (;;) {
          const refused = this.#stopsStarting ? [] : this.#choices.make()
          for (const { state, error } of refused) void runOne(state, error)
          // Nothing else starts before their failures count.
          if (refused.length > 0) break
          const next = this.#listStartable(advance)
          for (const state of next) void runOne(state)
          if (next.length === 0 && (this.#stopsStarting || !this.#schedule.hasChoices)) break
        }
        isAdvancing = false
        this.#updateTime()
        if (this.#running === 0) resolve()
      }
      const slots = new PlannedSlots(this.#schedule, advance)
      // Tasks that an earlier process began continue even if no other task may start.
      if (!this.#parts.scope.log.isEmpty) {
        isAdvancing = true
        for (const state of this.#listResumed()) void runOne(state)
        isAdvancing = false
      }
      advance()
    })
  }

  #listResumed(): readonly TrackedTask[] {
    const scheduled = this.#tasks.named(this.#ensemble.plan.scheduled)
    return scheduled.filter((state) => state.phase === 'pending' && !this.#isUntouched(state))
  }

  get #stopsStarting(): boolean {
    return this.#parts.steering.stopsStarting || this.#verdict.isExited
  }

  #listStartable(onFewerWaiting: () => void): readonly TrackedTask[] {
    if (this.#stopsStarting) return []
    const { waitingTasks } = this.#parts.scope
    if (waitingTasks.isFull) {
      this.#stopWaitingForRoom?.()
      this.#stopWaitingForRoom = waitingTasks.whenRoom(onFewerWaiting)
      return []
    }
    const { start, skip } = this.#schedule.next()
    for (const [name, reason] of skip) {
      this.#choices.skip(name, `Task "${reason}" did not complete`)
    }
    return this.#verdict.isUsedUp ? [] : this.#tasks.named(start)
  }

  #runTask(
    state: TrackedTask,
    how: {
      readonly task: Task
      readonly parent?: TaskScope
      readonly signal?: AbortSignal
      readonly inputs?: Inputs | undefined
      readonly received?: ReceivedConversation | undefined
      readonly slot: TaskSlot
      readonly refusal?: TuttiError | undefined
    },
  ): Promise<TaskOutcome> {
    const { taskName, taskIndex } = state
    const { parent } = how
    const scope = parent === undefined ? this.#parts.scope : toAddedRun(parent)
    const { inputs = scope.inputs } = how
    const run = inputs === scope.inputs ? scope : { ...scope, inputs }
    this.#tasks.setPhase(state, 'running')
    state.slot = how.slot
    return runTask({
      ...how,
      run,
      services: this.#parts.services,
      taskName,
      taskIndex,
      countTasks: () => this.#tasks.count,
      text: how.task === state.task ? state.text : how.task,
      context: this.#tasks.contextOf(how.task, run, (role) =>
        this.#parts.services.delegations.listManaged(run, role),
      ),
      onHold: (held) => {
        this.#onHold(held)
      },
      onAttempt: (attempt) => {
        state.attempt = attempt
      },
      awaitRecorded: (recorded) => {
        if (parent !== undefined || this.#tasks.hasPending) return recorded
        recorded.catch(() => undefined)
        this.#recording.push(recorded)
        return undefined
      },
    })
  }

  #onHold(held: boolean): void {
    this.#held += held ? 1 : -1
    this.#updateTime()
  }

  /** Whether every running task waits for people. A delegated task may work while its delegator waits. */
  get #onlyWaits(): boolean {
    const running = this.#running + this.#delegated
    return running > 0 && this.#held >= running
  }

  /** Stops the working time of the run while every running task waits for people. */
  #updateTime(): void {
    if (this.#onlyWaits) this.#resumeTime ??= this.#parts.scope.stopwatch.hold()
    else {
      this.#resumeTime?.()
      this.#resumeTime = undefined
    }
  }

  #settle(state: TrackedTask, outcome: TaskOutcome): void {
    this.#tasks.countLost(outcome.lost)
    switch (outcome.kind) {
      case 'completed':
        this.#tasks.complete(state, outcome.result)
        if (outcome.exit !== undefined) this.endEarly(outcome.exit)
        return
      case 'failed':
        this.#fail(state, outcome.error)
        if (outcome.error.code === 'REPLAY_MISMATCH') this.#abortMismatched(outcome.error)
        if (outcome.error.code === 'EXIT_EARLY') this.endEarly(outcome.error)
        return
      case 'not_begun':
        this.#tasks.setPhase(state, 'pending')
        if (outcome.exit !== undefined) this.endEarly(outcome.exit)
    }
  }

  #fail(state: TrackedTask, error: TuttiError): void {
    this.#tasks.setPhase(state, 'failed')
    const isDelegated = !this.#ensemble.plan.scheduled.includes(state.taskName)
    this.#verdict.fail(error, { isDelegated })
  }

  #finish(): RunResult {
    const { scope, steering } = this.#parts
    const { order, scheduled } = this.#ensemble.plan
    const { signal } = scope
    const isDone = scheduled.every(
      (name) =>
        this.#tasks.get(name)?.phase === 'completed' ||
        (this.#tasks.get(name)?.phase === 'skipped' && this.#schedule.isExcluded(name)),
    )
    const status = this.#verdict.ending({ isDone, cancelMode: steering.cancelled?.mode, signal })
    for (const state of this.#tasks.pending) {
      this.#choices.skip(state.taskName, this.#verdict.explainSkip(status, signal))
    }
    steering.close()
    const last = order.findLast((name) => this.#tasks.resultOf(name) !== undefined)
    const result = toResult({
      runId: scope.runId,
      status,
      output: (last === undefined ? undefined : this.#tasks.resultOf(last)?.output) ?? '',
      tasks: this.#tasks.results(),
      durationMs: this.#parts.durationMs(),
      used: this.#tasks.used(),
      error: this.#verdict.error(status, signal),
    })
    this.#ended = status
    emitEnd(result, this.#verdict.exitReason(status), {
      outputTask: last,
      clock: scope.clock,
      journal: scope.journal,
      cancelled: steering.cancelled,
    })
    return result
  }

  #snapshot(): RunSnapshot {
    const { steering, services } = this.#parts
    const reviews = services.reviews.open
    const waits = reviews.length > 0 && this.#onlyWaits
    const active = waits ? toWaitingStatus(reviews.map(({ kind }) => kind)) : 'RUNNING'
    return {
      status: this.#ended ?? (steering.cancelled === undefined ? active : 'CANCELLING'),
      tasks: this.#tasks.snapshots(),
      reviews,
      metrics: toRunMetrics(addUsage(this.#tasks.used())),
    }
  }
}
