/**
 * What runs do in this process, for those who count it or write it down. Readers of events are told elsewhere; these
 * are the things that are no event, and the events of just the runs that this process executes.
 */
import type { Logger } from '@tutti/core'
import type { LoggedRunEvent } from '@tutti/protocol'
import type { ExecutionEnd } from './execution.ts'
import type { NewRun, RunRecord } from '../run-record.ts'

/** Something that happened to a run here. */
export type RunActivity =
  /** It was taken in; the same submission again is not told. */
  | { readonly kind: 'accepted'; readonly run: Omit<NewRun, 'submission'> }
  /** This process is its owner from now on. With `lostOwners` above 0 an owner before it was lost. */
  | { readonly kind: 'claimed'; readonly run: RunRecord; readonly lostOwners: number }
  /** This process has nothing more to do with it. `lost`: somebody else has it, or it could not be kept. */
  | { readonly kind: 'let_go'; readonly runId: string; readonly end: ExecutionEnd }
  /** It was unowned, and a command was applied to it. */
  | {
      readonly kind: 'written_unowned'
      readonly runId: string
      readonly events: readonly LoggedRunEvent[]
    }
  /** A model call of it waited for its turn under a rate limit. */
  | { readonly kind: 'rate_limited'; readonly runId: string; readonly waitedMs: number }

/** Told of what runs do here. It must return at once. */
export type ActivityListener = (activity: RunActivity) => void

/**
 * Told of the newest events of a run that this process executes, in order and each once, when they are durable. It must
 * return at once.
 */
export type ExecutedListener = (runId: string, events: readonly LoggedRunEvent[]) => void

/** Who is told. */
export interface ActivityListeners {
  readonly onActivity: readonly ActivityListener[]
  readonly onExecuted: readonly ExecutedListener[]
  readonly logger: Logger
}

/** Tells of an activity. What a listener throws reaches nobody else. */
export function tellActivity({ onActivity, logger }: ActivityListeners, told: RunActivity): void {
  for (const listener of onActivity) {
    try {
      listener(told)
    } catch (error) {
      logger.error('A listener of what runs do threw', { error })
    }
  }
}

/** Tells of durable events. What a listener throws reaches nobody else. */
export function tellExecuted(
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
