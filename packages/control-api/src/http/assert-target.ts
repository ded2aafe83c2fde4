/** Pure: refuses addresses that are not written well. */
import { badRequest } from './api-error.ts'

/**
 * Refuses a path or query with a percent sign that encodes nothing, or no text in UTF-8: parsers
 * disagree on what it means.
 *
 * @throws {TuttiError} BAD_REQUEST.
 */
export function assertTarget(url: string): void {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  const target = url.slice(start)
  if (!target.includes('%')) return
  try {
    decodeURIComponent(target)
  } catch {
    const message = `must be percent-encoded UTF-8, got ${JSON.stringify(target)}`
    throw badRequest('Address', [{ path: '', message }])
  }
}
