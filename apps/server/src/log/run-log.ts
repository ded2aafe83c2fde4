/**
 * Writes what becomes of runs to the log: one line when a run is taken in, is begun or taken over, and has ended; of its
 * tasks one line each, at debug when they went well. Never what people or models wrote: ids, names, codes and numbers.
 */
import type { Logger, LogFields } from '@tutti/core'
import type { LoggedRunEvent } from '@tutti/protocol'
import type { RunActivity, RunRecord, RunServiceOptions } from '@tutti/runs'

/** The listeners of a run service that write. */
export type RunLogListeners = Required<Pick<RunServiceOptions, 'onActivity' | 'onExecuted'>>

/** What of a run goes with each of its lines. */
interface Told extends LogFields {
  readonly runId: string
  readonly ensemble: string
}

/** Makes the listeners. */
export function runLogListeners(logger: Logger): RunLogListeners {
  const runs = new Map<string, Told>()
  return {
    onActivity: [
      (activity) => {
        tellActivity(logger, runs, activity)
      },
    ],
    onExecuted: [
      (runId, events) => {
        const told = runs.get(runId)
        if (told === undefined) return
        for (const event of events) tellEvent(logger, told, event)
      },
    ],
  }
}

function tellActivity(logger: Logger, runs: Map<string, Told>, activity: RunActivity): void {
  switch (activity.kind) {
    case 'accepted':
      logger.info('Run accepted', { ...toldOf(activity.run), actor: activity.run.actor })
      return
    case 'claimed': {
      const { run, lostOwners } = activity
      const { createdAt, startedAt, epoch } = run
      runs.set(run.runId, toldOf(run))
      if (epoch === 1) logger.info('Run started', { ...toldOf(run), waitedMs: waited(createdAt) })
      else if (lostOwners > 0) logger.warn('Run taken over', { ...toldOf(run), epoch, lostOwners })
      else logger.info('Run goes on', { ...toldOf(run), epoch, startedAt: instant(startedAt) })
      return
    }
    case 'released': {
      const told = runs.get(activity.runId)
      runs.delete(activity.runId)
      const { end } = activity
      if (end === 'ended' || told === undefined) return
      const level = end === 'lost' ? 'warn' : 'info'
      logger[level](LET_GO[end], told)
      return
    }
    default:
  }
}

const LET_GO = {
  ready: 'Run handed over',
  parked: 'Run waits for a person',
  lost: 'Run lost',
} as const

function tellEvent(logger: Logger, told: Told, event: LoggedRunEvent): void {
  switch (event.type) {
    case 'run_result': {
      const { status, durationMs, code, metrics } = event
      const { totalTokens, totalToolCalls, costUsd } = metrics ?? {}
      const used = { totalTokens, totalToolCalls, costUsd }
      logger.info('Run ended', { ...told, status, durationMs, code, ...used })
      return
    }
    case 'task_completed': {
      const { taskName, attempt, durationMs } = event
      logger.debug('Task completed', { ...told, taskName, attempt, durationMs })
      return
    }
    case 'task_attempt_failed':
    case 'task_failed': {
      const { taskName, attempt, durationMs, code, willRetry } = event
      logger.info('Task failed', { ...told, taskName, attempt, durationMs, code, willRetry })
      return
    }
    case 'llm_iteration_failed': {
      const { taskName, attempt, model, code, retryInMs, nextModel } = event
      const fields = { ...told, taskName, attempt, model, code, retryInMs, nextModel }
      logger.info('Model call failed', fields)
      return
    }
    default:
  }
}

function toldOf({
  runId,
  ensemble,
  request,
}: Pick<RunRecord, 'runId' | 'ensemble' | 'request'>): Told {
  return { runId, ensemble, traceId: request?.traceparent?.split('-')[1] }
}

function waited(createdAt: number): number {
  return Math.max(0, Date.now() - createdAt)
}

function instant(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString()
}
