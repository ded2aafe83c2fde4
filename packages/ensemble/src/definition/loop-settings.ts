/** Types and limits of loops. */
import type { ChildTask } from './operations.ts'
import type { ReviewSettings } from './review-settings.ts'
import type { Inputs } from './template.ts'

/** Maximum value of `max` of a loop. */
export const MAX_ROUNDS = 1_000

/** Default maximum size of `{history}`, in tokens of 4 characters. */
export const DEFAULT_HISTORY_TOKENS = 32_000

/** Maximum size of the outputs of all rounds together with `result: 'all'`, in characters. */
export const MAX_ALL_OUTPUTS_LENGTH = 8_000_000

/** Answer of a judge: whether the loop ends, and what the next round should change. */
export interface LoopVerdict {
  readonly done: boolean
  readonly feedback?: string | null
}

/** State of a loop when its condition is evaluated. */
export interface LoopState<Output> {
  /** Number of the round, from 1. */
  readonly round: number
  /** Outputs of all rounds, the newest last. */
  readonly outputs: readonly Output[]
  readonly inputs: Inputs
}

/** Whether a loop ends after a round. Its result is recorded, so it can read a time or a file. */
export type LoopCondition<Output> = (output: Output, state: LoopState<Output>) => boolean

/** Rounds in `{history}`: the newest ones, up to `window` rounds and up to `maxTokens`. */
export interface LoopHistory {
  /** Maximum number of rounds, at least 1. @default no limit */
  readonly window?: number
  /**
   * Maximum size in tokens of 4 characters, at least 1. Older rounds are left out, and the text says which. The newest round is
   * always complete. @default 32000
   */
  readonly maxTokens?: number
}

/** A condition of a loop that ends it when it returns true; other languages can return anything. */
export interface LoopTest {
  readonly test: (output: unknown, state: LoopState<unknown>) => unknown
  /** Description for errors and manifests. */
  readonly text?: string
  /** Names of the inputs that it reads; absent if they are not known, as those of code. */
  readonly inputs?: { readonly required: readonly string[]; readonly optional: readonly string[] }
}

/** Settings of a loop, apart from its condition. */
export interface LoopSettings {
  /** Maximum number of rounds, from 1 to 1000. */
  readonly max: number
  /**
   * Reaction to the end of the last round: `accept` takes its output, `fail` fails the task with TASK_FAILED, and `review` asks a
   * person. CONTINUE accepts the output, EDIT replaces it, and REJECT with feedback orders another round, up to
   * `maxRevisions` times. @default fail; accept without `until` and `stopWhenUnchanged`
   */
  readonly onMax?: 'accept' | 'fail' | 'review' | { readonly review: ReviewSettings }
  /** Whether the loop ends when a round has the same output as the one before. @default false */
  readonly stopWhenUnchanged?: boolean
  /** Rounds in the variable `{history}` of the next round; `all` up to 32000 tokens. @default last */
  readonly history?: 'last' | 'all' | LoopHistory
  /**
   * Output of the task: that of the last round, or the list of all, whose outputs have at most 8,000,000 characters together; a
   * longer list fails the task. @default last
   */
  readonly result?: 'last' | 'all'
}

/** Repetition of a task: its condition and its settings. */
export interface Loop<Output> extends LoopSettings {
  /**
   * Ends the loop after the first round for which the function returns true, or for which the judge answers true or
   * `{ done: true }`. The feedback of the judge is `{feedback}` in the next round. @default all `max` rounds
   */
  readonly until?:
    | LoopCondition<Output>
    | { readonly judge: ChildTask<boolean> | ChildTask<LoopVerdict> }
}
