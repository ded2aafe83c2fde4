/** Pure: texts about waits for events and times. A wait is a review that no person decides. */
import { toSingleLine } from '../../terminal/text-width.ts'

import type { ReviewState } from '@tutti/protocol/internal'

/** Fields that say what a review waits for. */
export type Waiting = Pick<ReviewState, 'kind' | 'waitsFor'>

/** Returns a clause about a wait, such as `waiting for event "paid" with key "order-17"`; undefined for a review. */
export function describeWait({ kind, waitsFor = [] }: Waiting): string | undefined {
  if (kind !== 'EVENT') return undefined
  if (waitsFor.length === 0) return 'sleeping'
  const events = waitsFor.map(({ name, key }) => {
    const text = `"${toSingleLine(name)}"`
    return key === undefined ? text : `${text} with key "${toSingleLine(key)}"`
  })
  return `waiting for event ${events.join(' or ')}`
}

/** Returns a hint with the command that ends a review or a wait; undefined for a sleep. */
export function formatDecideHint({
  reviewId,
  kind,
  waitsFor = [],
}: Waiting & Pick<ReviewState, 'reviewId'>): string | undefined {
  if (kind !== 'EVENT') return `decide with: tutti review ${reviewId}`
  const [event] = waitsFor
  if (event === undefined) return undefined
  const key = event.key === undefined ? '' : ` --key ${quoteArgument(event.key)}`
  return `deliver with: tutti deliver ${event.name}${key}`
}

/** Quotes an argument for a POSIX shell, if it needs quotes. */
function quoteArgument(text: string): string {
  const line = toSingleLine(text)
  return /^[\w.:@/+-]+$/.test(line) ? line : `'${line.replaceAll("'", String.raw`'\''`)}'`
}
