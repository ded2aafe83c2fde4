/** Converts bodies and messages to commands. Pure. */
import { actorOf, badRequest, type Caller, durationMs, WANTED_DURATION } from '@tutti/gateway'

import type { DirectiveInput, InjectBody, RunCommandOf, SwitchModelBody } from '@tutti/protocol'

/**
 * Returns the command that switches the model.
 *
 * @throws {TuttiError} BAD_REQUEST unless exactly one of `model` and `tier` is given.
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
    throw badRequest('request', [{ path: '/tier', message: 'cannot be given together with model' }])
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

/** Source of a directive, for errors. */
export interface DirectiveSource {
  readonly what: string
  /** Path of the directive in its source. @default '' */
  readonly path?: string
}

/** Converts the fields that bodies and messages have in common. */
export function toDirective(
  { content, action, value, priority, ttl }: Omit<InjectBody, 'action'> & { action?: string },
  source: DirectiveSource,
): DirectiveInput {
  return {
    ...(content === undefined ? {} : { content }),
    ...(action === undefined ? {} : { action }),
    ...(value === undefined ? {} : { value }),
    ...(priority === undefined ? {} : { priority }),
    ...(ttl === undefined ? {} : { ttlMs: parseTtl(ttl, source) }),
  }
}

function parseTtl(ttl: string, { what, path = '' }: DirectiveSource): number {
  const length = durationMs(ttl)
  if (length !== undefined && length > 0) return length
  const message = `${WANTED_DURATION}, got "${ttl}"`
  throw badRequest(what, [{ path: `${path}/ttl`, message }])
}
