/** Refuses malformed URLs. Pure. */
import { badRequest } from '@tutti/gateway/internal'

/**
 * Refuses a path or query whose percent-encoding is malformed or not UTF-8, because parsers disagree on its meaning.
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

/** Returns the decoded target, or undefined. The result must be used, or the bundler removes the call. */
function decodeTarget(target: string): string | undefined {
  try {
    return decodeURIComponent(target)
  } catch {
    return undefined
  }
}
