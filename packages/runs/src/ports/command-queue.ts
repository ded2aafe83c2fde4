/**
 * Pending commands: those not yet answered by the process that executes their run.
 *
 * RUNS-W1 A command is stored before its sender gets a reply. The owner of its run replies in the write that shows its
 *    effect.
 * RUNS-W2 A command for an unowned run is not queued; the process that receives it applies it.
 * RUNS-W3 When a run ends, its pending commands are answered with RUN_COMPLETED.
 * RUNS-W4 The record of a run that is sent a cancel is CANCELLING from then on.
 */
import type { TuttiError } from '@tutti/core'
import type { RunStep, StepError } from '@tutti/ensemble/internal'
import type { RunCommand } from '@tutti/protocol'
import type { RunRecord } from '../domain/run-record.ts'

/** Queues commands for the owners of runs. */
export interface CommandQueue {
  /** Queues a command for the owner of a run, or returns the unowned run; undefined when unknown. */
  send(runId: string, command: RunCommand): Promise<SentCommand | undefined>
  /** Returns the unanswered commands for these runs, in the order in which they were sent. */
  pending(runIds: readonly string[]): Promise<readonly PendingCommand[]>
  /** Returns the answer to a command; undefined while there is none. */
  answer(commandId: string): Promise<CommandAnswer | undefined>
}

/** A queued command. */
export interface PendingCommand {
  /** Unique across all stores. */
  readonly id: string
  readonly runId: string
  readonly command: RunCommand
}

/** The owner's answer to a command. */
export type CommandAnswer = { readonly commandId: string } & (
  | { readonly ok: true; readonly value?: unknown }
  | { readonly ok: false; readonly error: StepError }
)

/** Result of sending a command. */
export type SentCommand =
  | { readonly kind: 'sent'; readonly commandId: string }
  | {
      readonly kind: 'unowned'
      readonly run: RunRecord
      /** The fencing token for a write to the run; see `UnownedWrite`. */
      readonly token: string
      readonly steps: readonly RunStep[]
      /** Present when its steps are damaged; `steps` is then empty. */
      readonly unreadable?: TuttiError
    }
  | { readonly kind: 'ended'; readonly run: RunRecord }
