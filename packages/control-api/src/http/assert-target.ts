/** Pure: refuses addresses that are malformed. */
import { badRequest } from '@tutti/gateway'

/**
 * Refuses a path or query with a percent sign that encodes nothing, or no text in UTF-8: parsers
 * disagree on what it means.
 *
 * @throws {TuttiError} BAD_REQUEST.
 */
export function assertTarget(url: string): void {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  const target = url.slice(start)
  if (!target.includes('%') || decodeTarget(target) !== undefined) return
  const message = `must be percent-encoded UTF-8, got ${JSON.stringify(target)}`
  throw badRequest('request target', [{ path: '', message }])
}

/** Returns the decoded target: the bundler removes a `decodeURIComponent` whose result is not used. */
function decodeTarget(target: string): string | undefined {
  try {
    return decodeURIComponent(target)
  } catch {
    return undefined
  }
}
