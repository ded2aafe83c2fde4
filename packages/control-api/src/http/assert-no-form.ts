/** Pure: refuses what a form of any web page can send without being asked whether it may. */
import { assertJson } from '@tutti/gateway'

/** The media types of forms. @see https://fetch.spec.whatwg.org/#cors-safelisted-request-header */
const FORM_TYPES = /^\s*(?:text\/plain|multipart\/form-data|application\/x-www-form-urlencoded)\b/i

/**
 * Refuses a POST that is said to be a form, also when it has no body.
 *
 * @throws {TuttiError} UNSUPPORTED_MEDIA_TYPE.
 */
export function assertNoForm({ method, headers }: Pick<Request, 'method' | 'headers'>): void {
  const type = headers.get('content-type')
  if (method === 'POST' && type !== null && FORM_TYPES.test(type)) assertJson(type)
}
