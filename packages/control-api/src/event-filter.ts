/** Pure: which event types a reader wants. */
import { RUN_EVENT_TYPES, type RunEvent } from '@tutti/protocol'
import { badRequest } from '@tutti/gateway'

/** Whether a reader wants events of this type. */
export type EventFilter = (type: RunEvent['type']) => boolean

/**
 * The filter of a comma-separated list of event types; none, an empty one and `*` let everything pass.
 *
 * @throws {TuttiError} BAD_REQUEST naming every unknown type and the known ones.
 */
export function eventFilter(list: string | undefined): EventFilter {
  const names = (list ?? '').split(',').map((name) => name.trim())
  const wanted = new Set(names.filter((name) => name !== ''))
  const unknown = [...wanted].filter(
    (name) => name !== '*' && !RUN_EVENT_TYPES.some((type) => type === name),
  )
  if (unknown.length > 0) {
    const message = `names no event type: "${unknown.join('", "')}". Known: ${RUN_EVENT_TYPES.join(', ')}`
    throw badRequest('Query', [{ path: '/events', message }])
  }
  return wanted.size === 0 || wanted.has('*') ? () => true : (type) => wanted.has(type)
}
