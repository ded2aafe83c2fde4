/**
 * Interprets commands: a command is plain data, and this is the only code that knows what each kind does to a run,
 * in flight or unowned.
 *
 *   RunCommand ─▶ interpretCommand ─▶ CommandTarget ─▶ reply
 */
import { TuttiError } from '@tutti/core'

import type { ReplyTo, ReviewVerdict, RunCommandKind, RunCommandOf } from '@tutti/protocol'
import type { Steering } from './steering.ts'

/** A run that commands change. */
export interface CommandTarget {
  readonly steering: Pick<Steering, 'cancel' | 'switchModel' | 'inject'>
  /** Decides a review; resolves when the decision is recorded. */
  readonly decide: (reviewId: string, verdict: ReviewVerdict) => Promise<void>
}

type Interpreters = {
  readonly [K in RunCommandKind]: (
    target: CommandTarget,
    command: RunCommandOf<K>,
  ) => ReplyTo<K> | Promise<ReplyTo<K>>
}

const INTERPRETERS: Interpreters = {
  cancel({ steering }, options) {
    if (steering.cancel(options)) return { status: 'CANCELLING' }
    throw new TuttiError('RUN_COMPLETED', 'The run is over')
  },
  switch_model: ({ steering }, { model, ...how }) => steering.switchModel(model, how),
  inject: ({ steering }, { directive }) => ({ id: steering.inject(directive).id }),
  async decide(target, { reviewId, decision }) {
    await target.decide(reviewId, decision)
    return {}
  },
}

/**
 * Does what a command says.
 *
 * @throws {TuttiError} RUN_COMPLETED when the run is over, and what the target throws; then nothing has changed.
 */
export async function interpretCommand<K extends RunCommandKind>(
  target: CommandTarget,
  command: RunCommandOf<K>,
): Promise<ReplyTo<K>> {
  const interpret: Interpreters[K] = INTERPRETERS[command.kind]
  return interpret(target, command)
}
