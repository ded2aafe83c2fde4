/**
 * Schedules: saves them, lists them, and submits the runs of their ticks (`submit-ticks.ts`). The code that computes ticks, with
 * its parser of expressions, is loaded when the first schedule is saved or due.
 *
 * RUNS-SC9 Configured schedules replace saved ones of the same name, and are changed in the configuration only. Those that the
 *    configuration no longer has are deleted when a process starts.
 */
import { computeJsonDigest } from '@tutti/core/internal'
import { TuttiError } from '@tutti/core'

import { field } from '../domain/field.ts'
import { threadNotFound } from '../domain/refusals.ts'
import { lookMs } from '../domain/fleet-pace.ts'
import { DueLoop } from '../lifecycle/due-loop.ts'
import { assertNoProblems } from '../request/refusals.ts'

import type { Problem } from '@tutti/protocol/internal'
import type { ConfiguredSchedule, ScheduledSubmission } from '../domain/schedule.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type { NewSchedule, ScheduleRecord } from '../ports/schedule-store.ts'
import type { RunSubmission } from '../request/new-run.ts'
import type { ResolvedRunServiceOptions } from '../settings/options.ts'
import type { SavedSchedule } from './save-schedule.ts'
import type { SubmitTicksOptions } from './submit-ticks.ts'

/** Maximum number of schedules in a store. */
const MAX_SCHEDULES = 1_000

/** Number of schedules whose ticks one process submits at the same time. */
const TICKS_TOGETHER = 20

/** Interval at which a process looks for schedules that another one has claimed or saved, in milliseconds. */
const LOOK_EVERY_MS = 10_000

/** Parts that schedules need. */
export interface RunSchedulesOptions extends SubmitTicksOptions {
  readonly storage: Pick<RunStorage, 'queue' | 'schedules' | 'runs' | 'threads'>
  readonly settings: Pick<
    ResolvedRunServiceOptions,
    'clock' | 'logger' | 'schedules' | 'authorizeSchedule'
  >
  /** Builds the run of a submission, without storing it. @throws {TuttiError} when it is invalid. */
  readonly check: (submission: RunSubmission) => unknown
}

/** Loads the code that checks schedules and finds their next ticks. */
const loadSaving = () => import('./save-schedule.ts')

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
  async nextTicks(
    { definition, nextTick }: ScheduleRecord,
    count: number,
  ): Promise<readonly number[]> {
    if (nextTick === undefined) return []
    const { listScheduleTicks } = await import('./ticks.ts')
    return listScheduleTicks(definition, nextTick - 1, count)
  }

  /**
   * Adds a schedule.
   *
   * @throws {TuttiError} BAD_REQUEST naming every problem; SCHEDULE_EXISTS
   * when the name is taken; SCHEDULE_LIMIT.
   */
  async add(saved: SavedSchedule): Promise<ScheduleRecord> {
    const { name } = saved
    await this.#assertValid(saved)
    const added = await this.#plan(saved)
    const isAdded = await this.#options.storage.schedules.add(added, MAX_SCHEDULES)
    if (isAdded) return this.#changed(name)
    if ((await this.#options.storage.schedules.get(name)) !== undefined) {
      const message = `A schedule named "${name}" already exists`
      throw new TuttiError('SCHEDULE_EXISTS', message)
    }
    const message =
      `Cannot save schedule "${name}": at most ${MAX_SCHEDULES} are stored, ` +
      'and one key can fill half of the room that the others leave'
    throw new TuttiError('SCHEDULE_LIMIT', message)
  }

  /** Replaces a schedule. @throws {TuttiError} as `add`; SCHEDULE_NOT_FOUND, SCHEDULE_READ_ONLY. */
  async replace(saved: SavedSchedule): Promise<ScheduleRecord> {
    await this.#assertValid(saved)
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
    const described = await Promise.all(configured.map((one) => this.#describeProblems(one)))
    const problems = described.flat()
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
        if (await schedules.add({ ...(await this.#plan(saved)), isConfigured: true }, Infinity))
          return
        continue
      }
      const isSame =
        before.isConfigured &&
        before.isPaused === paused &&
        before.actor === actor &&
        computeJsonDigest(before.definition) === computeJsonDigest(definition)
      if (isSame) return
      const next = { ...(await this.#plan(saved, before)), isConfigured: true }
      if (await schedules.replace(next, before.revision)) return
    }
  }

  async #describeProblems(configured: ConfiguredSchedule): Promise<readonly string[]> {
    const { name, paused: _paused, actor: _actor, ...definition } = configured
    const problems = await this.#findProblems({ name, definition })
    return problems.map(({ path, message }) => `schedule ${JSON.stringify(name)}${path} ${message}`)
  }

  async #update(
    name: string,
    change: (before: ScheduleRecord) => Promise<NewSchedule> | undefined,
  ): Promise<ScheduleRecord> {
    for (;;) {
      const before = await this.get(name)
      if (before.isConfigured) throw readOnly(name)
      const next = await change(before)
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

  async #plan(saved: SavedSchedule, before?: ScheduleRecord): Promise<NewSchedule> {
    const { planSchedule } = await loadSaving()
    return planSchedule(saved, this.#options.settings.clock.now(), before)
  }

  async #assertValid(saved: SavedSchedule): Promise<void> {
    const problems = [await this.#findProblems(saved), await this.#findThreadProblem(saved)]
    assertNoProblems('', problems.flat())
  }

  /** A configured schedule may name a thread that does not exist yet: its ticks report that. */
  async #findThreadProblem({ definition: { run } }: SavedSchedule): Promise<readonly Problem[]> {
    // A run that is not an object is another problem.
    const threadId: unknown = Reflect.get(Object(run), 'threadId')
    if (typeof threadId !== 'string') return []
    if ((await this.#options.storage.threads.get(threadId)) !== undefined) return []
    return [{ path: '/run/threadId', message: threadNotFound(threadId).message }]
  }

  async #findProblems(saved: SavedSchedule) {
    const { findScheduleProblems } = await loadSaving()
    return findScheduleProblems(saved, this.#options.check)
  }

  /** Submits the runs of all due ticks. Returns the time until the next one, in milliseconds. */
  async #submitDue(): Promise<number> {
    const { storage, settings } = this.#options
    const { schedules, nextInMs, now } = await storage.schedules.findDue(TICKS_TOGETHER)
    if (schedules.length === 0) return nextInMs
    const { submitTicks } = await import('./submit-ticks.ts')
    await Promise.all(
      schedules.map(async (schedule) => {
        try {
          await submitTicks(schedule, now, this.#options)
        } catch (error) {
          // The tick is due again when its claim ends.
          settings.logger.warn('Failed to submit a tick', { schedule: schedule.name, error })
        }
      }),
    )
    return 0
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
