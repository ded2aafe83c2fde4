/** Converts the directive of a body or message. Pure. */
import { badRequest, durationMs, WANTED_DURATION } from '@tutti/gateway/internal'

import type { DirectiveInput, InjectBody } from '@tutti/protocol/internal'

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
