/**
 * Schedules, and the runs of their ticks.
 *
 *   due ─▶ claim ─▶ plan ─┬─▶ submit under the key of the tick ─▶ settle: last run, next tick
 *                         └─▶ leave out ─▶ settle: reason, next tick
 *
 * RUNS-SC5 A tick has at most one run, however many processes try: its idempotency key names the schedule and the tick. A
 *    process that dies between the two writes leaves a tick that the next one submits again, which returns the same run.
 * RUNS-SC6 The right of a schedule's actor is checked at each tick, and so is its run. A tick that is refused is recorded with
 *    the reason; the next one is tried at its time. Other schedules are not affected.
 * RUNS-SC7 A refusal that may pass, such as a full queue, is tried again until the tick is late; then `catchUp` applies.
 * RUNS-SC8 Ticks of one schedule are submitted in their order. Those during a pause are left out.
 * RUNS-SC9 Configured schedules replace saved ones of the same name, and are changed in the configuration only. Those that the
 *    configuration no longer has are deleted when a process starts.
 */
import { computeJsonDigest } from '@tutti/core/internal'
import { TuttiError } from '@tutti/core'
import { isTerminalRunStatus } from '@tutti/protocol'
import type { Problem } from '@tutti/protocol/internal'

import { field } from '../domain/field.ts'
import { lookMs } from '../domain/fleet-pace.ts'
import { DueLoop } from '../lifecycle/due-loop.ts'
import { assertNoProblems } from '../request/refusals.ts'
import { findDefinitionProblems, findScheduleNameProblem } from './definition-problems.ts'
import { planTicks } from './plan-tick.ts'
import { findDueTime, findNextTick, listScheduleTicks, toTickKey } from './ticks.ts'

import type { RunRecord } from '../domain/run-record.ts'
import type {
  ConfiguredSchedule,
  ScheduleDefinition,
  ScheduledSubmission,
} from '../domain/schedule.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type { NewSchedule, ScheduleRecord, TickEnd } from '../ports/schedule-store.ts'
import type { RunSubmission } from '../request/new-run.ts'
import type { ResolvedRunServiceOptions } from '../settings/options.ts'

/** Maximum number of schedules in a store. */
const MAX_SCHEDULES = 1_000

/** Number of schedules whose ticks one process submits at the same time. */
const TICKS_TOGETHER = 20

/** Time for which a tick is claimed, in milliseconds: much longer than a submission takes. */
const CLAIM_MS = 10_000

/** Time after which a refusal that may pass is tried again, in milliseconds. */
const RETRY_MS = 5_000

/** Interval at which a process looks for schedules that another one has claimed or saved, in milliseconds. */
const LOOK_EVERY_MS = 10_000

/** Parts that schedules need. */
export interface RunSchedulesOptions {
  readonly storage: Pick<RunStorage, 'queue' | 'schedules' | 'runs'>
  readonly settings: Pick<
    ResolvedRunServiceOptions,
    'clock' | 'logger' | 'schedules' | 'authorizeSchedule'
  >
  /** Submits a run. */
  readonly submit: (submission: RunSubmission) => Promise<RunRecord>
  /** Builds the run of a submission, without storing it. @throws {TuttiError} when it is invalid. */
  readonly check: (submission: RunSubmission) => unknown
  /** Cancels a run, unless it has ended. */
  readonly cancel: (runId: string) => Promise<unknown>
}

/** The fields of a schedule that a caller chooses. */
export interface SavedSchedule {
  readonly name: string
  readonly definition: ScheduleDefinition
  /** Whether it has no ticks until it is resumed. @default false */
  readonly isPaused?: boolean
  /** Name of the key to which its runs belong. */
  readonly actor?: string
}

/** A tick that is due, and the one after it. */
interface DueTick {
  readonly tick: number
  readonly next: number | undefined
  readonly now: number
}

/** Saves schedules and submits the runs of their ticks. */
export class RunSchedules {
  /** Submits the runs of ticks. */
  readonly loop: DueLoop
  readonly #options: RunSchedulesOptions

  constructor(options: RunSchedulesOptions) {
    const { clock, logger } = options.settings
    const { storage } = options
    this.#options = options
    this.loop = new DueLoop({
      clock,
      maxWaitMs: () => lookMs(LOOK_EVERY_MS, storage.queue.fleet.processes),
      task: () => this.#submitDue(),
      onError: (error) => {
        logger.warn('Failed to look for due schedules', { error })
      },
    })
  }

  /** Returns all schedules, by name. */
  list(): Promise<readonly ScheduleRecord[]> {
    return this.#options.storage.schedules.list()
  }

  /** Returns a schedule. @throws {TuttiError} SCHEDULE_NOT_FOUND. */
  async get(name: string): Promise<ScheduleRecord> {
    const found = await this.#options.storage.schedules.get(name)
    if (found === undefined) throw scheduleNotFound(name)
    return found
  }

  /** Returns the next ticks of a schedule without jitter, in milliseconds since 1970; none while it is paused. */
  nextTicks({ definition, nextTick }: ScheduleRecord, count: number): readonly number[] {
    return nextTick === undefined ? [] : listScheduleTicks(definition, nextTick - 1, count)
  }

  /**
   * Adds a schedule.
   *
   * @throws {TuttiError} BAD_REQUEST naming every problem; SCHEDULE_EXISTS
   * when the name is taken; SCHEDULE_LIMIT.
   */
  async add(saved: SavedSchedule): Promise<ScheduleRecord> {
    const { name } = saved
    this.#assertValid(saved)
    const isAdded = await this.#options.storage.schedules.add(this.#plan(saved), MAX_SCHEDULES)
    if (isAdded) return this.#changed(name)
    if ((await this.#options.storage.schedules.get(name)) !== undefined) {
      const message = `A schedule named "${name}" already exists`
      throw new TuttiError('SCHEDULE_EXISTS', message)
    }
    const message = `The store has the maximum number of ${MAX_SCHEDULES} schedules`
    throw new TuttiError('SCHEDULE_LIMIT', message)
  }

  /** Replaces a schedule. @throws {TuttiError} as `add`; SCHEDULE_NOT_FOUND, SCHEDULE_READ_ONLY. */
  async replace(saved: SavedSchedule): Promise<ScheduleRecord> {
    this.#assertValid(saved)
    return this.#update(saved.name, (before) => this.#plan(saved, before))
  }

  /** Pauses a schedule, or resumes it at its next tick. @throws {TuttiError} SCHEDULE_NOT_FOUND, SCHEDULE_READ_ONLY. */
  async setPaused(name: string, isPaused: boolean): Promise<ScheduleRecord> {
    return this.#update(name, (before) => {
      if (before.isPaused === isPaused) return undefined
      const { definition, actor } = before
      return this.#plan({ name, definition, isPaused, ...field('actor', actor) }, before)
    })
  }

  /** Deletes a schedule; its runs remain. @throws {TuttiError} SCHEDULE_NOT_FOUND, SCHEDULE_READ_ONLY. */
  async delete(name: string): Promise<void> {
    for (;;) {
      const { revision, isConfigured } = await this.get(name)
      if (isConfigured) throw readOnly(name)
      if (await this.#options.storage.schedules.delete(name, revision)) return
    }
  }

  /** Returns the submission of a run between the ticks, for a caller to submit. @throws {TuttiError} SCHEDULE_NOT_FOUND. */
  async prepareRun(name: string): Promise<ScheduledSubmission> {
    const { run } = (await this.get(name)).definition
    return { ...run, tags: { ...run.tags, schedule: name } }
  }

  /** Stores the schedules of the configuration (RUNS-SC9). @throws {TuttiError} CONFIG_INVALID naming every problem. */
  async syncConfig(): Promise<void> {
    const { storage, settings } = this.#options
    const { schedules: configured } = settings
    if (configured === undefined) return
    const problems = configured.flatMap((one) => this.#describeProblems(one))
    if (problems.length > 0) {
      throw new TuttiError('CONFIG_INVALID', `Cannot start schedules: ${problems.join('; ')}`)
    }
    for (const one of configured) await this.#syncOne(one)
    const names = new Set(configured.map(({ name }) => name))
    for (const { name, isConfigured, revision } of await storage.schedules.list()) {
      if (isConfigured && !names.has(name)) await storage.schedules.delete(name, revision)
    }
  }

  async #syncOne({
    name,
    paused = false,
    actor,
    ...definition
  }: ConfiguredSchedule): Promise<void> {
    const { schedules } = this.#options.storage
    const saved = { name, definition, isPaused: paused, ...field('actor', actor) }
    for (;;) {
      const before = await schedules.get(name)
      if (before === undefined) {
        if (await schedules.add({ ...this.#plan(saved), isConfigured: true }, Infinity)) return
        continue
      }
      const isSame =
        before.isConfigured &&
        before.isPaused === paused &&
        before.actor === actor &&
        computeJsonDigest(before.definition) === computeJsonDigest(definition)
      if (isSame) return
      const next = { ...this.#plan(saved, before), isConfigured: true }
      if (await schedules.replace(next, before.revision)) return
    }
  }

  #describeProblems({ name, paused: _paused, actor: _actor, ...definition }: ConfiguredSchedule) {
    return this.#findProblems({ name, definition }).map(
      ({ path, message }) => `schedule ${JSON.stringify(name)}${path} ${message}`,
    )
  }

  async #update(
    name: string,
    change: (before: ScheduleRecord) => NewSchedule | undefined,
  ): Promise<ScheduleRecord> {
    for (;;) {
      const before = await this.get(name)
      if (before.isConfigured) throw readOnly(name)
      const next = change(before)
      if (next === undefined) return before
      if (await this.#options.storage.schedules.replace(next, before.revision)) {
        return this.#changed(name)
      }
    }
  }

  async #changed(name: string): Promise<ScheduleRecord> {
    this.loop.wakeIn(0)
    return this.get(name)
  }

  /** Returns the columns of a schedule. One whose ticks are as before keeps its next tick, so that none is lost. */
  #plan(
    { name, definition, isPaused = false, actor }: SavedSchedule,
    before?: ScheduleRecord,
  ): NewSchedule {
    const hasSameTicks =
      before?.definition.cron === definition.cron &&
      before.definition.timeZone === definition.timeZone &&
      // The keys of two actors differ, so a tick that has a run already would have another.
      before.actor === actor
    const nextTick = isPaused
      ? undefined
      : ((hasSameTicks ? before.nextTick : undefined) ??
        findNextTick(definition, this.#options.settings.clock.now()))
    return {
      name,
      definition,
      isConfigured: false,
      isPaused,
      ...field('actor', actor),
      ...toTickTimes(name, definition, nextTick),
    }
  }

  #assertValid(saved: SavedSchedule): void {
    assertNoProblems('', this.#findProblems(saved))
  }

  #findProblems({ name, definition }: SavedSchedule): readonly Problem[] {
    const problems = [
      findScheduleNameProblem(name) ?? [],
      findDefinitionProblems(definition),
    ].flat()
    // A run that is not an object is a problem already.
    if (problems.some(({ path }) => path === '/run')) return problems
    return [
      ...problems,
      ...findRunProblems(() => this.#options.check(toSubmission(name, definition, 0))),
    ]
  }

  /** Submits the runs of all due ticks. Returns the time until the next one, in milliseconds. */
  async #submitDue(): Promise<number> {
    const { storage, settings } = this.#options
    const { schedules, nextInMs, now } = await storage.schedules.findDue(TICKS_TOGETHER)
    await Promise.all(
      schedules.map(async (schedule) => {
        try {
          await this.#submitTick(schedule, now)
        } catch (error) {
          // The tick is due again when its claim ends.
          settings.logger.warn('Failed to submit a tick', { schedule: schedule.name, error })
        }
      }),
    )
    return schedules.length === 0 ? nextInMs : 0
  }

  async #submitTick(schedule: ScheduleRecord, now: number): Promise<void> {
    const { name, definition, nextTick: tick } = schedule
    const { schedules } = this.#options.storage
    if (tick === undefined || !(await schedules.claim(schedule, CLAIM_MS))) return
    const { ticks, next, skipped } = planTicks(schedule, tick, now)
    let current = schedule
    if (skipped !== undefined) {
      const problem = { tick, at: now, code: 'SKIPPED', message: skipped }
      const first = ticks[0] ?? next
      const times = toTickTimes(name, definition, first)
      const end = { ...times, ...(ticks.length === 0 ? {} : { dueAt: now + CLAIM_MS }), problem }
      if (!(await schedules.settle(current, end)) || ticks.length === 0) return
      current = { ...current, ...field('nextTick', first) }
    }
    for (const [index, one] of ticks.entries()) {
      const after = ticks[index + 1] ?? next
      const end = await this.#submit(current, { tick: one, next: after, now })
      const isRetried = end.nextTick === one
      // The claim lasts until the last of these ticks.
      const isLast = index === ticks.length - 1
      const settled = isRetried || isLast ? end : { ...end, dueAt: now + CLAIM_MS }
      if (!(await schedules.settle(current, settled)) || isRetried) return
      current = { ...current, ...field('nextTick', after), ...field('lastRun', end.lastRun) }
    }
  }

  async #submit(
    schedule: ScheduleRecord,
    { tick, next: nextTick, now }: DueTick,
  ): Promise<TickEnd> {
    const { storage, settings } = this.#options
    const { name, definition, actor, lastRun } = schedule
    const { overlap = 'allow' } = definition
    const next = toTickTimes(name, definition, nextTick)
    try {
      // Schedules of the configuration that name no key belong to the operator.
      const isFree = schedule.isConfigured && actor === undefined
      const quota = isFree ? undefined : await settings.authorizeSchedule?.(actor, definition.run)
      if (overlap !== 'allow' && lastRun !== undefined) {
        const last = await storage.runs.get(lastRun.runId)
        const isRunning = last !== undefined && !isTerminalRunStatus(last.status)
        if (isRunning && overlap === 'skip') {
          const message = `Left out: run ${lastRun.runId} of the last tick has not ended (overlap: skip)`
          return { ...next, problem: { tick, at: now, code: 'SKIPPED', message } }
        }
        if (isRunning) await this.#options.cancel(lastRun.runId)
      }
      const { runId } = await this.#options.submit({
        ...toSubmission(name, definition, tick),
        idempotencyKey: toTickKey(name, tick),
        ...field('actor', actor),
        ...field('quota', quota),
      })
      return { ...next, lastRun: { tick, runId } }
    } catch (error) {
      const { code, message, retryable } = TuttiError.from(error, 'ENGINE_FAILED')
      // The tick has a run: another process stored it before the schedule was changed.
      if (code === 'IDEMPOTENCY_CONFLICT') return next
      settings.logger.warn('A tick of a schedule was refused', {
        schedule: name,
        tick,
        code,
        error,
      })
      const problem = { tick, at: now, code, message }
      return retryable ? { nextTick: tick, dueAt: now + RETRY_MS, problem } : { ...next, problem }
    }
  }
}

/** Returns the next tick of a schedule, and the time at which it is due. */
function toTickTimes(
  name: string,
  definition: ScheduleDefinition,
  nextTick: number | undefined,
): Pick<ScheduleRecord, 'nextTick' | 'dueAt'> {
  return nextTick === undefined ? {} : { nextTick, dueAt: findDueTime(name, definition, nextTick) }
}

function toSubmission(name: string, { run }: ScheduleDefinition, tick: number): RunSubmission {
  const tags = { ...run.tags, schedule: name, tick: new Date(tick).toISOString() }
  return { ...run, tags }
}

/** Returns the problems with which a run is refused, with their paths. */
function findRunProblems(check: () => unknown): readonly Problem[] {
  try {
    check()
    return []
  } catch (error) {
    const { message, details } = TuttiError.from(error, 'BAD_REQUEST')
    // NOTE: casts at the boundary: refusals of requests have these forms.
    const problems = (details?.['problems'] ?? []) as readonly Problem[]
    const missing = (details?.['missing'] ?? []) as readonly string[]
    const all = [
      ...problems,
      ...missing.map((name) => ({
        path: `/inputs/${name}`,
        message: 'is required: a task uses this template variable',
      })),
    ]
    if (all.length === 0) return [{ path: '/run', message }]
    return all.map((problem) => ({ ...problem, path: `/run${problem.path}` }))
  }
}

function scheduleNotFound(name: string): TuttiError {
  return new TuttiError('SCHEDULE_NOT_FOUND', `No schedule named ${JSON.stringify(name)}`)
}

function readOnly(name: string): TuttiError {
  return new TuttiError(
    'SCHEDULE_READ_ONLY',
    `Schedule "${name}" is defined by the configuration of the server: change it there`,
  )
}
