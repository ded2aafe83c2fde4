/**
 * Wishes for runs, on their way to whoever executes them.
 *
 * W1 A signal is kept before its sender is answered, and answered by the owner of its run, in the write that
 *    shows its effect.
 * W2 A run that nobody has gets no signal: its sender writes to it at rest.
 * W3 When a run ends, signals that nobody has answered are answered with RUN_COMPLETED.
 * W4 The record of a run that is sent a cancel is CANCELLING from then on.
 */
import type { RunRecord } from '../run-record.ts'
import type { DirectiveInput, GateDecision, RunStep, StepError, TierChoice } from '@tutti/ensemble'
import type { CancelMode } from '@tutti/protocol'

/** Takes wishes to the owners of runs. */
export interface RunSignals {
  /** Sends a wish to the owner of a run, or gives the run when nobody has it; undefined when unknown. */
  send(runId: string, wish: RunWish): Promise<SentSignal | undefined>
  /** Signals of these runs that nobody has answered, in the order in which they were sent. */
  pending(runIds: readonly string[]): Promise<readonly Signal[]>
  /** The answer to a signal; undefined while there is none. */
  answer(signalId: string): Promise<SignalAnswer | undefined>
}

/** Something that somebody wants of a run. Plain data. */
export type RunWish =
  | { readonly kind: 'cancel'; readonly mode: CancelMode; readonly actor?: string }
  | {
      readonly kind: 'switch_model'
      /** Alias of a model, or a tier. */
      readonly model: string | TierChoice
      readonly taskName?: string
      readonly actor?: string
    }
  | { readonly kind: 'inject'; readonly directive: DirectiveInput }
  | { readonly kind: 'decide'; readonly reviewId: string; readonly decision: GateDecision }

/** A wish that was sent. */
export interface Signal {
  /** Unique, also over all stores. */
  readonly id: string
  readonly runId: string
  readonly wish: RunWish
}

/** What an owner says to a signal. */
export type SignalAnswer = { readonly signalId: string } & (
  | { readonly ok: true; readonly value?: unknown }
  | { readonly ok: false; readonly error: StepError }
)

/** What became of a wish. */
export type SentSignal =
  | { readonly kind: 'sent'; readonly signalId: string }
  | { readonly kind: 'at_rest'; readonly run: RunRecord; readonly steps: readonly RunStep[] }
  | { readonly kind: 'ended'; readonly run: RunRecord }
