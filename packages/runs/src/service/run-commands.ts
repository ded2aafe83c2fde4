/**
 * Routes commands to the processes that own their runs, and returns the replies.
 *
 *   command ─▶ queue.send ─┬─ owned ───▶ the owner interprets it ─▶ answer ─▶ reply
 *                          └─ unowned ─▶ interpreted here, written to the store
 *
 * RUNS-W5 A command is durable before its sender gets a reply.
 * RUNS-W6 The owner of the run replies, in this or another process. For an unowned run the same interpreter runs here.
 * RUNS-W7 A command takes effect exactly once, even if the owner of the run changes at the same moment.
 * RUNS-W8 A command without an answer in time stays queued, and its sender gets NOT_CONFIRMED. A cancel is reported as
 *    under way instead: it is durable.
 */
import { TuttiError } from '@tutti/core'
import { isoNow, sleep } from '@tutti/core/internal'
import { applyToUnowned, hasOpenHandler, type AppliedCommand } from '@tutti/ensemble/internal'
import { decode, type RunCommand } from '@tutti/protocol'
import {
  commandEntry,
  type ReplyTo,
  type RunCommandKind,
  type RunCommandOf,
} from '@tutti/protocol/internal'

import { reportActivity } from '../settings/activity.ts'
import { field } from '../domain/field.ts'
import {
  ensembleUnavailable,
  runCompleted,
  runUnreadable,
  storeRefused,
} from '../domain/refusals.ts'

import type { RunEventFeed } from '../feed/event-feed.ts'
import type { ResolvedRunServiceOptions } from '../settings/options.ts'
import type { CommandAnswer, SentCommand } from '../ports/command-queue.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type { RunEnsembles } from '../request/run-ensembles.ts'
import type { BuildCheck } from '../lineage/build-check.ts'
import type { RunExecutor } from '../lifecycle/run-executor.ts'
import type { RunRecord } from '../domain/run-record.ts'

/** The parts of a run service that commands pass through. */
export interface RunCommandsOptions {
  readonly storage: RunStorage
  readonly ensembles: RunEnsembles
  readonly executor: RunExecutor
  readonly buildCheck: BuildCheck
  readonly feed: RunEventFeed
  readonly settings: ResolvedRunServiceOptions
}

type UnownedCommand = Extract<SentCommand, { kind: 'unowned' }>

/**
 * Time that the sender of a cancel waits for its answer or for the end of the run, in milliseconds. The cancel is durable before.
 */
const CANCEL_ANSWER_MS = 1_000

/** Time that the sender of another command waits, in milliseconds: longer than a run takes to find a new owner. */
const ANSWER_MS = 30_000

/** Polling interval for an answer without a notification, in milliseconds. */
const POLL_MS = 1_000

/** Sends commands. */
export class RunCommands {
  readonly #options: RunCommandsOptions
  /** Wakes the sender of a command, by the command's id. */
  readonly #waiting = new Map<string, () => void>()

  constructor(options: RunCommandsOptions) {
    this.#options = options
  }

  /** Sends a command; see `RunService.send`. */
  async send<K extends RunCommandKind>(
    runId: string,
    command: RunCommandOf<K>,
  ): Promise<ReplyTo<K>> {
    const reply = await this.#deliver(runId, command)
    const decoded = decode(commandEntry(command.kind).reply, reply)
    if (decoded.ok) return decoded.value
    throw new TuttiError('ENGINE_FAILED', `Cannot read the reply to a command for run ${runId}`)
  }

  /** Wakes the sender of a command whose answer was stored. */
  onAnswer(commandId: string): void {
    this.#waiting.get(commandId)?.()
  }

  /** Wakes all senders, because notifications may have been missed. */
  onMissed(): void {
    for (const wake of this.#waiting.values()) wake()
  }

  async #deliver(runId: string, given: RunCommand): Promise<unknown> {
    const command = withDecisionId(given)
    for (;;) {
      const sent = await this.#options.storage.commands.send(runId, command)
      if (sent === undefined) throw new TuttiError('RUN_NOT_FOUND', `No run with ID ${runId}`)
      if (sent.kind === 'ended') throw refusedByEnd(sent.run, command)
      if (sent.kind === 'sent') return this.#answerTo({ id: sent.commandId, runId, command })
      const applied = await this.#applyToUnowned(sent, command)
      if (applied === undefined) continue
      if (command.kind === 'cancel') return this.#endNow(runId, command)
      return command.kind === 'decide' ? this.#replyToDecision(runId) : applied.reply
    }
  }

  /** Returns the reply of the run's owner, here or in another process. */
  async #answerTo(pending: {
    readonly id: string
    readonly runId: string
    readonly command: RunCommand
  }): Promise<unknown> {
    const { executor, storage, settings } = this.#options
    const { clock } = settings
    const { id, runId, command } = pending
    const isCancel = command.kind === 'cancel'
    const timeoutMs = isCancel ? CANCEL_ANSWER_MS : ANSWER_MS
    const until = clock.elapsed() + timeoutMs
    const timer = new AbortController()
    const delivered = await Promise.race([
      executor.deliver(pending),
      sleep(clock, timeoutMs, timer.signal).then(() => undefined),
    ])
    timer.abort()
    const answer = delivered ?? (await this.#awaitAnswer(id, until))
    if (answer === undefined && !isCancel) throw notConfirmed(runId)
    if (answer === undefined || answer.ok) {
      return isCancel ? { status: 'CANCELLING' } : answer?.value
    }
    const { code, message, retryable, details } = answer.error
    const run = code === 'RUN_COMPLETED' ? await storage.runs.get(runId) : undefined
    throw run === undefined
      ? new TuttiError(code, message, { retryable, ...field('details', details) })
      : refusedByEnd(run, command)
  }

  /** Waits for the stored answer to a command; undefined when there is none in time. */
  async #awaitAnswer(commandId: string, until: number): Promise<CommandAnswer | undefined> {
    const { storage, settings } = this.#options
    const { clock } = settings
    try {
      for (;;) {
        const { promise: notified, resolve: notify } = Promise.withResolvers<void>()
        this.#waiting.set(commandId, notify)
        const answer = await storage.commands.answer(commandId)
        const leftMs = until - clock.elapsed()
        if (answer !== undefined || leftMs <= 0) return answer
        const stopTimer = clock.after(Math.min(leftMs, POLL_MS), notify)
        await notified
        stopTimer()
      }
    } finally {
      this.#waiting.delete(commandId)
    }
  }

  /** Applies a command to an unowned run; undefined when a process has claimed the run meanwhile. */
  async #applyToUnowned(
    unowned: UnownedCommand,
    command: RunCommand,
  ): Promise<AppliedCommand | undefined> {
    const { storage, feed, executor, settings } = this.#options
    const { run, token } = unowned
    const applied = await this.#interpret(unowned, command)
    const { events } = applied
    if (events.length === 0) return applied
    const { continues = false } = commandEntry(command.kind)
    const result = await storage.runs.commitUnowned({
      runId: run.runId,
      token,
      lastSeq: run.lastSeq,
      events: events.map((event) => settings.redact(event)),
      steps: applied.steps,
      next: continues ? 'ready' : 'stay',
    })
    if (result.kind === 'fenced') return undefined
    if (result.kind === 'failed') throw storeRefused(run.runId, result.error)
    if (result.kind !== 'written') throw TuttiError.from(result.error, 'STORE_UNAVAILABLE')
    reportActivity(settings, { kind: 'written_unowned', runId: run.runId, events: result.events })
    feed.offer(run.runId, result.events)
    if (continues) executor.wake()
    return applied
  }

  async #interpret(sent: UnownedCommand, command: RunCommand): Promise<AppliedCommand> {
    const { run, steps } = sent
    const { ensembles, storage, settings } = this.#options
    const { models, profiles, clock } = settings
    let ensemble
    try {
      assertReadable(sent)
      ensemble = ensembles.build(run)
    } catch (error) {
      // A run that cannot continue can still be cancelled.
      if (command.kind !== 'cancel') throw ensembleUnavailable(run, error)
      const { mode = 'abort', cause = 'SERVER', actor } = command
      const cancel = { mode, cause, ...field('actor', actor) }
      return {
        reply: {},
        events: [{ type: 'run_cancelling', requestedAt: isoNow(clock), ...cancel }],
        steps: [{ kind: 'cancel_asked', ...cancel, runMs: 0 }],
      }
    }
    const findRequest = async (reviewId: string) => {
      const [review] = await storage.runs.reviews({ runId: run.runId, reviewId })
      return review?.request
    }
    const unowned = {
      runId: run.runId,
      steps,
      findRequest,
      clock,
      profiles,
      ...field('models', models),
    }
    return applyToUnowned(ensemble, unowned, command)
  }

  async #replyToDecision(runId: string): Promise<ReplyTo<'decide'>> {
    const { buildCheck, settings } = this.#options
    try {
      return field('waitsForBuild', await buildCheck.checkDue(runId))
    } catch (error) {
      // The decision is durable, and every process repeats the check.
      settings.logger.warn('Failed to check the build of a decided run', { runId, error })
      return {}
    }
  }

  /** Ends a cancelled unowned run, unless started tasks may finish, or handlers are left to another process. */
  async #endNow(
    runId: string,
    { mode = 'abort' }: RunCommandOf<'cancel'>,
  ): Promise<ReplyTo<'cancel'>> {
    const { storage, executor, buildCheck, settings } = this.#options
    // A run whose steps are damaged cannot continue its tasks.
    const steps = await storage.runs.steps(runId).catch((error: unknown) => {
      if (TuttiError.isInstance(error) && error.code === 'RUN_UNREADABLE') return []
      throw error
    })
    const hasWork = steps.some(({ kind }) => kind === 'task_begun')
    // Started tasks finish like any other work, when the run is claimed.
    if (mode === 'boundary' && hasWork) return { status: 'CANCELLING' }
    if (hasOpenHandler(steps) && (!settings.executes || (await buildCheck.livesElsewhere(runId)))) {
      return { status: 'CANCELLING' }
    }
    // Compensations can take long.
    const timer = new AbortController()
    const end = await Promise.race([
      executor.executeNow(runId),
      sleep(settings.clock, CANCEL_ANSWER_MS, timer.signal).then(() => undefined),
    ])
    timer.abort()
    return { status: end === 'ended' ? 'CANCELLED' : 'CANCELLING' }
  }
}

/** @throws {TuttiError} RUN_NOT_RUNNING when columns or steps of the run are damaged: it can only be cancelled. */
function assertReadable({ run, unreadable }: UnownedCommand): void {
  const reason =
    unreadable ??
    (run.unreadable === undefined ? undefined : runUnreadable(run.runId, 'columns', run.unreadable))
  if (reason === undefined) return
  throw new TuttiError('RUN_NOT_RUNNING', `${reason.message}. Cancel the run`, { cause: reason })
}

/** Adds an id to a decision, so that it counts once even if it is applied twice. */
function withDecisionId(command: RunCommand): RunCommand {
  if (command.kind !== 'decide') return command
  return { ...command, decision: { id: crypto.randomUUID(), ...command.decision } }
}

/** Returns the error of a command for a run that has ended, whose reviews are closed. */
function refusedByEnd(run: RunRecord, command: RunCommand): TuttiError {
  if (command.kind !== 'decide') return hasEnded(run)
  return new TuttiError('REVIEW_RESOLVED', `Review "${command.reviewId}" is closed`)
}

function hasEnded(run: RunRecord): TuttiError {
  const { code, message } = runCompleted(run)
  return new TuttiError(code, message)
}

function notConfirmed(runId: string): TuttiError {
  return new TuttiError(
    'NOT_CONFIRMED',
    `The command was recorded, but the process that executes run ${runId} has not confirmed it within ${ANSWER_MS} ms`,
    { retryable: true },
  )
}
