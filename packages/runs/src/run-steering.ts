/** What people ask of a run, as wishes, and what they are answered; see the methods of `RunService`. */
import { TuttiError } from '@tutti/core'

import { field } from './record-fields.ts'

import type { RunStore } from './ports/run-store.ts'
import type { RunExecutor } from './run-executor.ts'
import type { ReviewRecord } from './run-record.ts'
import type { SwitchOptions } from './wish-options.ts'
import type { WishEnd, Wishes } from './wishes.ts'
import type {
  CancelOptions,
  Directive,
  DirectiveInput,
  GateDecision,
  ModelSwitch,
  TierChoice,
} from '@tutti/ensemble'

/** How long a cancel waits for the owner to say that it was heard: it is durable without. */
const CANCEL_ANSWER_MS = 1_000

/** How long another wish waits for its answer: longer than a run takes to find a new owner. */
const ANSWER_MS = 30_000

/** Steers runs, whoever executes them. */
export class RunSteering {
  readonly #store: Pick<RunStore, 'steps'>
  readonly #executor: Pick<RunExecutor, 'executeNow'>
  readonly #wishes: Pick<Wishes, 'send'>

  constructor(
    store: Pick<RunStore, 'steps'>,
    executor: Pick<RunExecutor, 'executeNow'>,
    wishes: Pick<Wishes, 'send'>,
  ) {
    this.#store = store
    this.#executor = executor
    this.#wishes = wishes
  }

  /** Cancels a run; a run that nobody executes, and that has nothing to finish, ends here and now. */
  async cancel(
    runId: string,
    { mode = 'abort', actor }: CancelOptions,
  ): Promise<'CANCELLING' | 'CANCELLED'> {
    const wish = { kind: 'cancel', mode, ...field('actor', actor) } as const
    const end = await this.#wishes.send(runId, wish, { answerTimeoutMs: CANCEL_ANSWER_MS })
    if (end.kind !== 'at_rest') return 'CANCELLING'
    const steps = await this.#store.steps(runId)
    const hasWork = steps.some(({ kind }) => kind === 'task_begun')
    // What began is let finish; that is work like any other, and waits for its turn.
    if (mode === 'boundary' && hasWork) return 'CANCELLING'
    return (await this.#executor.executeNow(runId)) === 'ended' ? 'CANCELLED' : 'CANCELLING'
  }

  /** Switches the model of a run, or of one task. */
  async switchModel(
    runId: string,
    model: string | TierChoice,
    { task, actor }: SwitchOptions,
  ): Promise<ModelSwitch> {
    const how = { ...field('taskName', task), ...field('actor', actor) }
    const wish = { kind: 'switch_model', model, ...how } as const
    const end = await this.#wishes.send(runId, wish, { answerTimeoutMs: ANSWER_MS })
    // NOTE: what the engine answers to this wish, maybe by way of JSON.
    return valueOf(runId, end) as ModelSwitch
  }

  /** Tells the agents of a run something. */
  async inject(runId: string, input: DirectiveInput | string): Promise<Directive> {
    const directive = typeof input === 'string' ? { content: input } : input
    const wish = { kind: 'inject', directive } as const
    const end = await this.#wishes.send(runId, wish, { answerTimeoutMs: ANSWER_MS })
    // NOTE: what the engine answers to this wish, maybe by way of JSON.
    return valueOf(runId, end) as Directive
  }

  /** Decides a review. The decision has an id, so that one that is applied twice counts once. */
  async decide(review: ReviewRecord, decision: GateDecision): Promise<void> {
    const { reviewId, runId, status } = review
    if (status !== 'OPEN') {
      throw new TuttiError('REVIEW_RESOLVED', `Review "${reviewId}" is closed`)
    }
    const identified = { id: crypto.randomUUID(), ...decision }
    const wish = { kind: 'decide', reviewId, decision: identified } as const
    valueOf(runId, await this.#wishes.send(runId, wish, { answerTimeoutMs: ANSWER_MS, review }))
  }
}

function valueOf(runId: string, end: WishEnd): unknown {
  if (end.kind !== 'kept') return end.value
  throw new TuttiError(
    'NOT_CONFIRMED',
    `The wish is kept, but nobody who executes run ${runId} has answered within ${ANSWER_MS} ms`,
    { retryable: true },
  )
}
