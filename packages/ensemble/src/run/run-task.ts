/**
 * Runs one task: the review before it, then attempts until one completes or fails for good.
 *
 *   review before ─▶ attempt ─▶ completed
 *                    ▲    └──▶ failed, may be retried ─┐
 *                    └── wait, or reviewer's feedback ◀┘
 *
 * ENS-T5 A failed task is retried up to `retries` times, after a growing wait, unless another attempt cannot
 *    help; a task that a reviewer rejected is repeated as often as its review allows.
 * ENS-T6 The time limit of a task applies to each attempt, and does not run while a review is open.
 * ENS-T7 The budget of a task covers all its attempts and the work that it delegates.
 */
import { TuttiError } from '@tutti/core'
import { sleep } from '@tutti/core/internal'

import type { TaskText } from '../definition/task-text.ts'
import type { ContextOutput } from '../definition/handler.ts'
import { Meter } from '../usage/budget.ts'
import { computeModelRetryDelay } from '../model/retry-delay.ts'
import { countEarlierTask } from '../scope/count-earlier.ts'
import { fromStepError } from '../scope/step-log.ts'
import { reviewSettingsOf, type ReviewSettings } from '../definition/review-settings.ts'
import {
  failBeforeStart,
  runAttempt,
  type AttemptEnd,
  type AttemptInput,
  type TaskServices,
} from './attempt.ts'
import { endReplaced, type AttemptFailure } from './attempt-failure.ts'
import { BEFORE_SLOT } from '../reviews/review-slots.ts'
import { exitEarlyError, rejectionError } from '../reviews/review-end.ts'
import { onAbort, StopController } from '../work/on-abort.ts'
import { Stopwatch } from '../work/stopwatch.ts'
import { TaskScope, type ReceivedConversation } from '../scope/task-scope.ts'
import type { TaskSlot } from '../work/task-slots.ts'

import type { TaskLog, AttemptHistory } from '../scope/step-log.ts'
import type { Task } from '../definition/task.ts'
import type { Usage } from '../usage/usage.ts'
import type { RunScope } from '../scope/run-scope.ts'
import type { TaskOutcome } from '../scope/task-outcome.ts'

/** Input of {@link runTask}. */
export interface RunTaskInput {
  readonly run: RunScope
  readonly services: TaskServices
  readonly task: Task
  readonly taskName: string
  readonly taskIndex: number
  /** Returns the number of tasks of the run, with those delegated so far. */
  readonly countTasks: () => number
  /** Its texts with the inputs of the run filled in. */
  readonly text: TaskText
  readonly context: readonly ContextOutput[]
  /** Error with which the task begins and fails, without a review or any work. */
  readonly refusal?: TuttiError | undefined
  /** Task that delegated this one. */
  readonly parent?: TaskScope | undefined
  /** Conversation that the task continues. */
  readonly received?: ReceivedConversation | undefined
  /** @default the signal of the run */
  readonly signal?: AbortSignal | undefined
  readonly slot: TaskSlot
  /** Called when the task begins to wait for people, and when it continues. */
  readonly onHold: (held: boolean) => void
  /** Called with the number of each attempt that begins. */
  readonly onAttempt: (attempt: number) => void
  /**
   * Receives the promise that resolves when the completed task is durable. Returns it if the task must await it;
   * undefined if nothing can start after the task, because then the run awaits it at its end.
   */
  readonly awaitRecorded: (recorded: Promise<void>) => Promise<void> | undefined
}

/** Outcome of the review before a task. */
type Permission =
  | { readonly kind: 'go' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'rejected' | 'exit'; readonly error: TuttiError }

const GO: Permission = { kind: 'go' }

/** Runs a task. Rejects only if the engine itself fails. */
export function runTask(input: RunTaskInput): Promise<TaskOutcome> {
  return new TaskRun(input).run()
}

const NOTHING_TO_CLOSE = (): void => undefined

class TaskRun {
  readonly #input: RunTaskInput
  readonly #meter: Meter
  readonly #lost: Usage[] = []
  #text: TaskText
  /** Working time of the attempts before the current one, in milliseconds. */
  #earlierMs: number
  /** Attempt of the scope that was opened last; the review before a task and its attempt have one each. */
  #openAttempt: number | undefined
  /** Stopwatch of the current attempt. */
  #stopwatch: Stopwatch | undefined

  constructor(input: RunTaskInput) {
    this.#input = input
    const { run, task, taskName, text, parent } = input
    this.#text = text
    this.#meter = new Meter({
      label: `task "${taskName}"`,
      budget: task.budget,
      elapsed: () => this.#workedMs(),
      parent: parent?.meter ?? run.meter,
    })
    countEarlierTask(this.#meter, run.log, taskName)
    this.#earlierMs = sumEarlierAttempts(run.log.task(taskName))
  }

  async run(): Promise<TaskOutcome> {
    const { run, taskName } = this.#input
    const log = run.log.task(taskName)
    let progress = this.#endReplaced(log.progress())
    const begun = log.find('task_begun', 1)
    const description = begun?.description
    if (description !== undefined) this.#text = { ...this.#text, description }
    const refusal =
      begun?.refusal === undefined ? this.#input.refusal : fromStepError(begun.refusal)
    if (refusal !== undefined) return this.#refuse(progress, refusal)
    const settings = reviewSettingsOf(this.#input.task.beforeReview)
    const before =
      settings === undefined
        ? this.#replayBefore(progress)
        : await this.#askBefore(progress, settings)
    if (before.kind === 'stopped') return { kind: 'not_begun', lost: this.#lost }
    if (before.kind === 'exit') {
      return { kind: 'not_begun', exit: before.error, lost: this.#lost }
    }
    const rejection = before.kind === 'rejected' ? before.error : undefined
    for (;;) {
      // The review of the attempt before can have ended without a decision.
      const taking = this.#input.slot.take()
      if (taking !== undefined) await run.inFlight.pauseUntil(taking)
      const end = await this.#attempt(progress, rejection)
      if (end.kind === 'completed') {
        const { result, exit } = end
        const lost = this.#lost
        return exit === undefined ? { kind: 'completed', result, lost } : { ...end, lost }
      }
      this.#lost.push(end.used)
      if (!end.willRetry) return { kind: 'failed', error: end.error, lost: this.#lost }
      progress = advanceHistory(progress, end)
      if (end.revision === undefined) await this.#waitToRetry(progress.failures)
    }
  }

  /** Begins the task and fails it. */
  async #refuse(progress: AttemptHistory, refusal: TuttiError): Promise<TaskOutcome> {
    const { attempt, close } = this.#prepare(progress)
    const { error, used } = failBeforeStart(attempt, refusal, { isRefused: true })
    close()
    return { kind: 'failed', error, lost: [...this.#lost, used] }
  }

  /** Ends the attempt that a forked run had begun, if the fork request provides the output of the task. */
  #endReplaced(progress: AttemptHistory): AttemptHistory {
    const { run, taskName } = this.#input
    const isReplaced =
      progress.begun && run.log.findGiven(taskName, progress.attempt + 1) !== undefined
    if (!isReplaced) return progress
    const { attempt, close } = this.#prepare(progress)
    const end = endReplaced(attempt)
    close()
    this.#lost.push(end.used)
    return advanceHistory(progress, end)
  }

  /** Returns the decision of the review before a task whose code no longer has one. */
  #replayBefore(progress: AttemptHistory): Permission {
    const { run, services, taskName, signal = run.signal } = this.#input
    const review = run.log.task(taskName).findReview(BEFORE_SLOT)
    if (review !== undefined && review.closed === undefined && signal.aborted) {
      const { scope, close } = this.#open(progress)
      services.reviews.closeUnopened(scope)
      close()
      return { kind: 'stopped' }
    }
    if (review?.closed === undefined || review.isCopied) return GO
    const { decision, timedOut, error } = review.closed
    if (error !== undefined) return { kind: 'rejected', error: fromStepError(error) }
    if (decision.action !== 'REJECT') return GO
    return { kind: 'rejected', error: rejectionError(taskName, decision.feedback, timedOut) }
  }

  /** Opens the review before the task, or finds it in the log, and applies its decision. */
  async #askBefore(progress: AttemptHistory, settings: ReviewSettings): Promise<Permission> {
    const { services, taskName } = this.#input
    const { scope, close } = this.#open(progress)
    // A fork asks again before it continues a task, which then has no other end than a failure.
    const hasBegun = progress.begun || progress.attempt > 1
    try {
      const { decision, timedOut } = await services.reviews.ask(scope, {
        kind: 'TASK_INPUT',
        timing: 'BEFORE_EXECUTION',
        slot: BEFORE_SLOT,
        taskDescription: this.#text.description,
        settings,
      })
      switch (decision.action) {
        case 'CONTINUE':
          return { kind: 'go' }
        case 'EDIT':
          if ('text' in decision) this.#text = { ...this.#text, description: decision.text }
          return { kind: 'go' }
        case 'REJECT':
          return { kind: 'rejected', error: rejectionError(taskName, decision.feedback, timedOut) }
        case 'EXIT_EARLY':
          return {
            kind: hasBegun ? 'rejected' : 'exit',
            error: exitEarlyError(taskName, timedOut),
          }
      }
    } catch (error) {
      const isCancel = TuttiError.isInstance(error) && error.code === 'CANCELLED'
      if (!hasBegun && (scope.signal.aborted || isCancel)) return { kind: 'stopped' }
      return { kind: 'rejected', error: TuttiError.from(error, 'TASK_FAILED') }
    } finally {
      close()
    }
  }

  /** Creates the input of an attempt, and the function that releases it. */
  #prepare(progress: AttemptHistory): {
    readonly attempt: AttemptInput
    readonly close: () => void
  } {
    const { run, services, countTasks, context, onAttempt, signal = run.signal } = this.#input
    const { awaitRecorded } = this.#input
    const { scope, close } = this.#open(progress)
    onAttempt(progress.attempt)
    const text = this.#text
    const attempt = { scope, services, text, context, countTasks, progress, signal, awaitRecorded }
    return { attempt, close }
  }

  #attempt(progress: AttemptHistory, rejection: TuttiError | undefined): Promise<AttemptEnd> {
    const { attempt, close } = this.#prepare(progress)
    const ending =
      rejection === undefined
        ? runAttempt(attempt)
        : Promise.resolve(failBeforeStart(attempt, rejection))
    return close === NOTHING_TO_CLOSE ? ending : ending.finally(close)
  }

  /** Creates the scope of an attempt, and the function that releases it. */
  #open(progress: AttemptHistory): { readonly scope: TaskScope; readonly close: () => void } {
    const { run, task, taskName, taskIndex, parent, received, slot, onHold } = this.#input
    const { attempt } = progress
    if (attempt !== this.#openAttempt) this.#earlierMs = this.#workedMs()
    this.#openAttempt = attempt
    let resumeParent: (() => void) | undefined
    const stopwatch = new Stopwatch(run.clock, run.log.task(taskName).workedMs(attempt), (held) => {
      onHold(held)
      if (held) resumeParent = parent?.stopwatch.hold()
      else resumeParent?.()
    })
    this.#stopwatch = stopwatch
    const { signal, close } = this.#limitTime(stopwatch)
    const identity = {
      taskIndex,
      taskName,
      taskDescription: this.#text.description,
      agentRole: task.agent.role,
      attempt,
    }
    const isDelegated = parent !== undefined && received === undefined
    const depth = (parent?.depth ?? 0) + (isDelegated ? 1 : 0)
    const meter = this.#meter
    const parts = { run, task, identity, signal, stopwatch, meter, depth, received, slot }
    return { scope: new TaskScope(parts), close }
  }

  /** Returns a signal that also aborts at the time limit of the attempt or of the task's budget. */
  #limitTime(stopwatch: Stopwatch): {
    readonly signal: AbortSignal
    readonly close: () => void
  } {
    const { run, task, taskName, signal = run.signal } = this.#input
    const { timeoutMs = Infinity, budget: { maxDurationMs = Infinity } = {} } = task
    if (timeoutMs === Infinity && maxDurationMs === Infinity) {
      return { signal, close: NOTHING_TO_CLOSE }
    }
    const controller = new StopController()
    const stops = [
      onAbort(signal, () => {
        controller.abort(signal.reason)
      }),
      setLimit(stopwatch, timeoutMs, () => {
        const message = `Task "${taskName}" took longer than ${timeoutMs} ms`
        controller.abort(new TuttiError('TASK_TIMEOUT', message, { retryable: true }))
      }),
      setLimit(stopwatch, maxDurationMs - this.#earlierMs, () => {
        controller.abort(this.#meter.exceeded('maxDurationMs', maxDurationMs))
      }),
    ]
    return {
      signal: controller.signal,
      close() {
        for (const stop of stops) stop?.()
      },
    }
  }

  /** Returns the working time of all attempts so far, in milliseconds. */
  #workedMs(): number {
    return this.#earlierMs + (this.#stopwatch?.elapsed() ?? 0)
  }

  async #waitToRetry(failures: number): Promise<void> {
    const { run, task, signal = run.signal } = this.#input
    const leftMs = (task.budget?.maxDurationMs ?? Infinity) - this.#workedMs()
    const delayMs = computeModelRetryDelay(
      { retryable: true, details: undefined },
      { retries: failures - 1, maxRetries: Infinity },
    )
    run.inFlight.pause()
    await sleep(run.clock, Math.max(0, Math.min(delayMs ?? 0, leftMs)), signal)
    run.inFlight.resume()
  }
}

/** Returns the working time of the attempts that ended in an earlier process, in milliseconds. */
function sumEarlierAttempts(log: TaskLog): number {
  return log.of('task_failed').reduce((sum, { attempt }) => sum + log.workedMs(attempt), 0)
}

/** Returns the history after an attempt that will be retried. */
function advanceHistory(
  { attempt, failures, revisions }: AttemptHistory,
  { revision }: AttemptFailure,
): AttemptHistory {
  return {
    attempt: attempt + 1,
    begun: false,
    failures: failures + (revision === undefined ? 1 : 0),
    revisions: revisions + (revision === undefined ? 0 : 1),
    revision,
  }
}

function setLimit(stopwatch: Stopwatch, ms: number, onReach: () => void): (() => void) | undefined {
  return ms === Infinity ? undefined : stopwatch.onReach(ms, onReach)
}
