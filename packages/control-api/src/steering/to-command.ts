/** Converts bodies and messages to commands. Pure. */
import { actorOf, badRequest, type Caller } from '@tutti/gateway/internal'

import { toDirective } from '../runs/to-directive.ts'

import type { InjectBody, RunCommandOf, SwitchModelBody } from '@tutti/protocol/internal'

/**
 * Returns the command that switches the model.
 *
 * @throws {TuttiError} BAD_REQUEST unless exactly one of `model` and `tier` is specified.
 */
export function toSwitchCommand(
  { model, tier, taskName }: SwitchModelBody,
  caller: Caller,
): RunCommandOf<'switch_model'> {
  return {
    kind: 'switch_model',
    model: chooseModel(model, tier),
    ...(taskName === undefined ? {} : { taskName }),
    ...actorOf(caller),
  }
}

function chooseModel(
  model: string | undefined,
  tier: string | undefined,
): RunCommandOf<'switch_model'>['model'] {
  if (model !== undefined && tier !== undefined) {
    throw badRequest('request', [{ path: '/tier', message: 'cannot be combined with model' }])
  }
  if (tier !== undefined) return { tier }
  if (model !== undefined) return model
  throw badRequest('request', [{ path: '/model', message: 'or tier is required' }])
}

/**
 * Returns the command that injects a directive.
 *
 * @throws {TuttiError} BAD_REQUEST when `ttl` is 0 or has months or years.
 */
export function toInjectCommand(
  { target, ...body }: InjectBody,
  caller: Caller,
): RunCommandOf<'inject'> {
  const to = target === undefined ? {} : { to: target }
  return {
    kind: 'inject',
    directive: { ...toDirective(body, { what: 'request body' }), ...to, ...actorOf(caller) },
  }
}
