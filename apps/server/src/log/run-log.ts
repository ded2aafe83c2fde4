/**
 * Logs the lifecycle of runs: one line when a run is accepted, started or taken over, and has ended, and one line per
 * task, at level debug if it has completed. Failures are warnings with the message of their error. Apart from these
 * messages, lines contain ids, names, codes and numbers, never text of people or models.
 */
import type { Logger } from '@tutti/core'
import { limitText, type LogFields } from '@tutti/core/internal'

import type { LoggedRunEvent } from '@tutti/protocol'
import type { RunServiceOptions } from '@tutti/runs'
import type { RunRecord } from '@tutti/runs/adapter'
import type { RunActivity } from '@tutti/runs/internal'

/** Listeners of a run service that write the log. */
export type RunLogListeners = Required<Pick<RunServiceOptions, 'onActivity' | 'onExecuted'>>

/** Fields of a run in each of its lines. */
interface RunFields extends LogFields {
  readonly runId: string
  readonly ensemble: string
}

/** Creates the listeners. */
export function runLogListeners(logger: Logger): RunLogListeners {
  const runs = new Map<string, RunFields>()
  return {
    onActivity: [
      (activity) => {
        logActivity(logger, runs, activity)
      },
    ],
    onExecuted: [
      (runId, events) => {
        const fields = runs.get(runId)
        if (fields === undefined) return
        for (const event of events) logEvent(logger, fields, event)
      },
    ],
  }
}

function logActivity(logger: Logger, runs: Map<string, RunFields>, activity: RunActivity): void {
  switch (activity.kind) {
    case 'accepted':
      logger.info('Run accepted', { ...toRunFields(activity.run), actor: activity.run.actor })
      return
    case 'claimed': {
      const { run, lostOwners } = activity
      const { createdAt, startedAt, epoch } = run
      runs.set(run.runId, toRunFields(run))
      if (epoch === 1)
        logger.info('Run started', { ...toRunFields(run), waitedMs: measureWait(createdAt) })
      else if (lostOwners > 0)
        logger.warn('Run taken over', { ...toRunFields(run), epoch, lostOwners })
      else
        logger.info('Run resumed', { ...toRunFields(run), epoch, startedAt: toIsoTime(startedAt) })
      return
    }
    case 'released': {
      const fields = runs.get(activity.runId)
      runs.delete(activity.runId)
      const { end } = activity
      if (end === 'ended' || fields === undefined) return
      const level = end === 'lost' ? 'warn' : 'info'
      logger[level](RELEASED[end], fields)
      return
    }
    default:
  }
}

const RELEASED = {
  ready: 'Run handed over',
  parked: 'Run parked',
  lost: 'Run lost',
} as const

function logEvent(logger: Logger, run: RunFields, event: LoggedRunEvent): void {
  switch (event.type) {
    case 'run_result': {
      const { status, durationMs, code, error, metrics } = event
      const { totalTokens, totalToolCalls, costUsd } = metrics ?? {}
      const used = { totalTokens, totalToolCalls, costUsd }
      const level = status === 'FAILED' ? 'warn' : 'info'
      const failure = { code, reason: shortenReason(error) }
      logger[level]('Run ended', { ...run, status, durationMs, ...failure, ...used })
      return
    }
    case 'task_completed': {
      const { taskName, attempt, durationMs } = event
      logger.debug('Task completed', { ...run, taskName, attempt, durationMs })
      return
    }
    case 'task_attempt_failed':
    case 'task_failed': {
      const { taskName, attempt, durationMs, code, willRetry } = event
      const fields = { ...run, taskName, attempt, durationMs, code }
      // The decision of a person is not a failure, and its reason is the text of that person.
      if (code === 'REVIEW_REJECTED') logger.info('Task rejected', { ...fields, willRetry })
      else logger.warn('Task failed', { ...fields, reason: shortenReason(event.reason), willRetry })
      return
    }
    case 'llm_iteration_failed': {
      const { taskName, attempt, model, code, retryInMs, nextModel } = event
      const failure = { code, reason: shortenReason(event.reason), retryInMs, nextModel }
      logger.warn('Model call failed', { ...run, taskName, attempt, model, ...failure })
      return
    }
    default:
  }
}

/** Maximum length of the message of an error in a line, in characters. Its event has all of it. */
const MAX_REASON_LENGTH = 2_000

function shortenReason(reason: string | undefined): string | undefined {
  return reason === undefined ? undefined : limitText(reason, MAX_REASON_LENGTH)
}

function toRunFields({
  runId,
  ensemble,
  request,
}: Pick<RunRecord, 'runId' | 'ensemble' | 'request'>): RunFields {
  return { runId, ensemble, traceId: request?.traceparent?.split('-')[1] }
}

function measureWait(createdAt: number): number {
  return Math.max(0, Date.now() - createdAt)
}

function toIsoTime(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString()
}
