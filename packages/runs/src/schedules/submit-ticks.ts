/**
 * Submits the runs of due schedules.
 *
 *   due ─▶ claim ─▶ ticks that wait ─▶ plan ─┬─▶ submit under the key of the tick ─▶ settle: last run, next tick
 *                                            ├─▶ queue ─▶ settle: ticks that wait, next tick
 *                                            └─▶ leave out ─▶ settle: reason, next tick
 *
 * RUNS-SC5 A tick has at most one run, however many processes try: its idempotency key names the schedule and the tick. A
 *    process that dies between the two writes leaves a tick that the next one submits again, which returns the same run.
 * RUNS-SC6 The right of a schedule's actor is checked at each tick, and so is its run. A tick that is refused is recorded with
 *    the reason; the next one is tried at its time. Other schedules are not affected.
 * RUNS-SC7 A refusal that may pass, such as a full queue, is tried again until the tick is late; then `catchUp` applies. A tick
 *    that waits is tried again without this limit.
 * RUNS-SC8 Ticks of one schedule are submitted in their order. Those during a pause are left out.
 * RUNS-SC10 With `overlap` `queueOne` or `queueAll`, a tick waits while the run of the last one has not ended, or earlier ticks
 *    wait. Each becomes a run when the one before has ended. Ticks beyond the maximum number are left out.
 */
import { TuttiError } from '@tutti/core'
import { isTerminalRunStatus } from '@tutti/protocol'

import { field } from '../domain/field.ts'
import { maxQueuedTicks } from '../domain/schedule.ts'
import { planTicks } from './plan-tick.ts'
import { findDueTime, toTickKey, toTickSubmission, toTickTimes } from './ticks.ts'

import type { RunStorage } from '../ports/run-storage.ts'
import type { ScheduleRecord, TickEnd, TickProblem, TickRun } from '../ports/schedule-store.ts'
import type { RunRecord } from '../domain/run-record.ts'
import type { RunSubmission } from '../request/new-run.ts'
import type { ResolvedRunServiceOptions } from '../settings/options.ts'

/** Time for which a tick is claimed, in milliseconds: much longer than a submission takes. */
const CLAIM_MS = 10_000

/**
 * Time after which a refusal that may pass is tried again, and interval at which a run that another tick waits for is checked, in
 * milliseconds.
 */
const RETRY_MS = 5_000

/** Parts that submit the runs of ticks. */
export interface SubmitTicksOptions {
  readonly storage: Pick<RunStorage, 'schedules' | 'runs'>
  readonly settings: Pick<ResolvedRunServiceOptions, 'logger' | 'authorizeSchedule'>
  /** Submits a run. */
  readonly submit: (submission: RunSubmission) => Promise<RunRecord>
  /** Cancels a run, unless it has ended. */
  readonly cancel: (runId: string) => Promise<unknown>
}

/** Result of treating a tick. */
interface TickOutcome {
  readonly lastRun?: TickRun
  readonly problem?: TickProblem
  /** Whether the tick waits for the run of the last one. @default false */
  readonly isQueued?: boolean
  /** Whether the tick is tried again. @default false */
  readonly isRetried?: boolean
}

/** Submits the runs of all ticks of a schedule that are due at `now`, by the clock of the store. */
export async function submitTicks(
  schedule: ScheduleRecord,
  now: number,
  options: SubmitTicksOptions,
): Promise<void> {
  if (!(await options.storage.schedules.claim(schedule, CLAIM_MS))) return
  const submitter = new TickSubmitter(schedule, now, options)
  if (await submitter.submitQueued()) await submitter.submitDue()
}

/** The next due time of a schedule after a step of {@link TickSubmitter}. */
type Hold =
  /** The claim lasts, because another tick is due. */
  | 'claim'
  /** The same tick is tried again. */
  | 'retry'
  /** The schedule is due at its next tick, and earlier if ticks wait. */
  | 'none'

/** The ticks of one claimed schedule. */
class TickSubmitter {
  /** The schedule as it is stored. */
  #schedule: ScheduleRecord
  readonly #now: number
  readonly #options: SubmitTicksOptions

  constructor(schedule: ScheduleRecord, now: number, options: SubmitTicksOptions) {
    this.#schedule = schedule
    this.#now = now
    this.#options = options
  }

  /** Submits the first tick that waits, if the run before it has ended. Returns whether another tick is due. */
  async submitQueued(): Promise<boolean> {
    const { name, definition, nextTick, queued } = this.#schedule
    if (queued.length === 0) return true
    const isDue = nextTick !== undefined && findDueTime(name, definition, nextTick) <= this.#now
    const hold = isDue ? 'claim' : 'none'
    while (this.#schedule.queued.length > 0) {
      const { queued: waiting, lastRun, problem } = this.#schedule
      const [tick = 0, ...rest] = waiting
      if (await this.#isRunning(lastRun)) break
      const { isRetried = false, ...outcome } = await this.#submit(tick)
      // The run of a tick that waited does not solve the problem of a later tick.
      const kept = (problem?.tick ?? 0) > tick ? field('problem', problem) : {}
      const end = { ...field('nextTick', nextTick), ...outcome, ...kept }
      if (!(await this.#settle({ ...end, queued: isRetried ? waiting : rest }, hold))) return false
      if (isRetried) break
    }
    const hasChanged = this.#schedule.queued.length < queued.length
    if (isDue || hasChanged) return isDue
    await this.#settle({ ...field('nextTick', nextTick), queued }, hold)
    return false
  }

  /** Submits, queues or leaves out the ticks that are due. */
  async submitDue(): Promise<void> {
    const { nextTick: tick, queued } = this.#schedule
    if (tick === undefined) return
    const { ticks, next, skipped } = planTicks(this.#schedule, tick, this.#now)
    if (skipped !== undefined) {
      const problem = this.#toProblem(tick, 'SKIPPED', skipped)
      const end = { ...field('nextTick', ticks[0] ?? next), queued, problem }
      if (!(await this.#settle(end, ticks.length === 0 ? 'none' : 'claim'))) return
    }
    for (const [index, one] of ticks.entries()) {
      const { isRetried = false, isQueued = false, ...outcome } = await this.#take(one)
      const before = this.#schedule.queued
      const end = {
        ...outcome,
        ...field('nextTick', isRetried ? one : (ticks[index + 1] ?? next)),
        queued: isQueued ? [...before, one] : before,
      }
      const isLast = index === ticks.length - 1
      if (!(await this.#settle(end, isRetried ? 'retry' : isLast ? 'none' : 'claim'))) return
      if (isRetried) return
    }
  }

  /** Treats one due tick as `overlap` says. */
  async #take(tick: number): Promise<TickOutcome> {
    const { definition, lastRun, queued } = this.#schedule
    const { overlap = 'allow' } = definition
    // The schedule was changed while its tick was submitted.
    if (lastRun?.tick === tick) return {}
    const isRunning = overlap !== 'allow' && (await this.#isRunning(lastRun))
    const most = maxQueuedTicks(overlap)
    if (most > 0 && (isRunning || queued.length > 0)) {
      if (queued.length < most) return { isQueued: true }
      const message = `Left out: the maximum number of ${most} ticks waits already (overlap: ${overlap})`
      return { problem: this.#toProblem(tick, 'SKIPPED', message) }
    }
    if (isRunning && overlap === 'skip') {
      const message = `Left out: run ${lastRun?.runId} of the last tick has not ended (overlap: skip)`
      return { problem: this.#toProblem(tick, 'SKIPPED', message) }
    }
    return this.#submit(tick, isRunning ? lastRun : undefined)
  }

  /** Submits the run of a tick. @param replaced running run of the last tick, which is cancelled first */
  async #submit(tick: number, replaced?: TickRun): Promise<TickOutcome> {
    const { submit, cancel, settings } = this.#options
    const { name, definition, actor, isConfigured } = this.#schedule
    try {
      // Schedules of the configuration that name no key belong to the operator.
      const isFree = isConfigured && actor === undefined
      const quota = isFree ? undefined : await settings.authorizeSchedule?.(actor, definition.run)
      if (replaced !== undefined) await cancel(replaced.runId)
      const { runId } = await submit({
        ...toTickSubmission(name, definition, tick),
        idempotencyKey: toTickKey(name, tick),
        ...field('actor', actor),
        ...field('quota', quota),
      })
      return { lastRun: { tick, runId } }
    } catch (error) {
      const { code, message, retryable } = TuttiError.from(error, 'ENGINE_FAILED')
      // The tick has a run: another process stored it before the schedule was changed.
      if (code === 'IDEMPOTENCY_CONFLICT') return {}
      const fields = { schedule: name, tick, code, error }
      settings.logger.warn('A tick of a schedule was refused', fields)
      return { problem: this.#toProblem(tick, code, message), isRetried: retryable }
    }
  }

  /** Records the end of a tick. Returns false if the schedule was changed meanwhile. */
  async #settle(end: Omit<TickEnd, 'dueAt'>, hold: Hold): Promise<boolean> {
    const { nextTick: _before, ...schedule } = this.#schedule
    const settled = { ...end, ...field('dueAt', this.#findDueAt(end, hold)) }
    if (!(await this.#options.storage.schedules.settle(this.#schedule, settled))) {
      if (end.lastRun !== undefined) await this.#recordRun(end.lastRun)
      return false
    }
    this.#schedule = { ...schedule, ...settled }
    return true
  }

  /** Records the last run of a schedule that was changed while the run was submitted, for which the next tick may wait. */
  async #recordRun(lastRun: TickRun): Promise<void> {
    const { schedules } = this.#options.storage
    const { name, createdAt } = this.#schedule
    for (;;) {
      const changed = await schedules.get(name)
      if (changed?.createdAt !== createdAt) return
      if ((changed.lastRun?.tick ?? 0) >= lastRun.tick) return
      const { queued } = changed
      const times = { ...field('nextTick', changed.nextTick), ...field('dueAt', changed.dueAt) }
      const end = { ...times, ...field('problem', changed.problem), queued, lastRun }
      if (await schedules.settle(changed, end)) return
    }
  }

  #findDueAt({ nextTick, queued }: Omit<TickEnd, 'dueAt'>, hold: Hold): number | undefined {
    if (hold === 'claim') return this.#now + CLAIM_MS
    if (hold === 'retry') return this.#now + RETRY_MS
    const { name, definition } = this.#schedule
    const { dueAt } = toTickTimes(name, definition, nextTick)
    return queued.length === 0 ? dueAt : Math.min(dueAt ?? Infinity, this.#now + RETRY_MS)
  }

  async #isRunning(lastRun: TickRun | undefined): Promise<boolean> {
    const last = lastRun && (await this.#options.storage.runs.get(lastRun.runId))
    return last !== undefined && !isTerminalRunStatus(last.status)
  }

  #toProblem(tick: number, code: string, message: string): TickProblem {
    return { tick, at: this.#now, code, message }
  }
}
