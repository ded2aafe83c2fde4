/** Converts the body of a request for a fork. Pure. */
import { actorOf, type Caller, type ForkContent } from '@tutti/gateway/internal'

import { toDirective } from './to-directive.ts'

import type { ForkRunBody } from '@tutti/protocol'

/**
 * Returns the request for a fork.
 *
 * @throws {TuttiError} BAD_REQUEST when the `ttl` of a directive is 0 or has months or years.
 */
export function toForkBody(
  { directives, preview: _, ...body }: ForkRunBody,
  caller: Caller,
): ForkContent {
  if (directives === undefined) return body
  return {
    ...body,
    directives: directives.map(({ target, ...directive }, index) => ({
      ...toDirective(directive, { what: 'request body', path: `/directives/${index}` }),
      ...(target === undefined ? {} : { to: target }),
      ...actorOf(caller),
    })),
  }
}
