/**
 * Activity of runs in this process, for metrics, traces and logs: occurrences without an event, and the events of the
 * runs that this process executes.
 */
import type { Logger } from '@tutti/core'
import type { LoggedRunEvent } from '@tutti/protocol'
import type { NewRun, RunRecord } from '../domain/run-record.ts'

export type ExecutionEnd = 'ended' | 'ready' | 'parked' | 'lost'

/** Something that happened to a run in this process. */
export type RunActivity =
  /** It was accepted; a repeated submission is not reported. */
  | { readonly kind: 'accepted'; readonly run: Omit<NewRun, 'submission'> }
  /** This process has claimed it. With `lostOwners` above 0, an earlier owner lost it. */
  | { readonly kind: 'claimed'; readonly run: RunRecord; readonly lostOwners: number }
  /** This process no longer owns it. `lost`: another process owns it, or its events could not be stored. */
  | { readonly kind: 'released'; readonly runId: string; readonly end: ExecutionEnd }
  /** A command was applied to it while it was unowned. */
  | {
      readonly kind: 'written_unowned'
      readonly runId: string
      readonly events: readonly LoggedRunEvent[]
    }
  /** One of its model calls waited for a rate limit. */
  | { readonly kind: 'rate_limited'; readonly runId: string; readonly waitedMs: number }

/** Receives activity. It must return at once. */
export type ActivityListener = (activity: RunActivity) => void

/**
 * Receives the newest durable events of a run that this process executes, in order and each once. It must return at
 * once.
 */
export type ExecutedListener = (runId: string, events: readonly LoggedRunEvent[]) => void

/** The listeners of a service. */
export interface ActivityListeners {
  readonly onActivity: readonly ActivityListener[]
  readonly onExecuted: readonly ExecutedListener[]
  readonly logger: Logger
}

/** Reports an activity. Errors of listeners are logged. */
export function reportActivity(
  { onActivity, logger }: ActivityListeners,
  activity: RunActivity,
): void {
  for (const listener of onActivity) {
    try {
      listener(activity)
    } catch (error) {
      logger.error('An activity listener threw', { error })
    }
  }
}

/** Reports durable events. Errors of listeners are logged. */
export function reportExecuted(
  { onExecuted, logger }: ActivityListeners,
  runId: string,
  events: readonly LoggedRunEvent[],
): void {
  for (const listener of onExecuted) {
    try {
      listener(runId, events)
    } catch (error) {
      logger.error('A listener of executed events threw', { runId, error })
    }
  }
}
