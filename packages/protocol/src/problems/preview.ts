/**
 * Short, safe preview of any value for a message.
 *
 * Never throws and never walks far: it stops after `PREVIEW_LENGTH` characters and a few levels, so that a huge, deep or
 * cyclic value costs little.
 */

/** Maximum number of characters of a received value that a problem shows. */
export const PREVIEW_LENGTH = 120

const MAX_LEVELS = 3

/** Returns the value as JSON, truncated with `…` when long. */
export function previewOf(value: unknown): string {
  return truncate(write(value, PREVIEW_LENGTH, 0))
}

/** Returns the received value for a problem: a scalar unchanged, text truncated, anything else as a preview. */
export function receivedOf(value: unknown): unknown {
  if (typeof value === 'string') return truncate(value)
  if (value === null || typeof value === 'boolean') return value
  return typeof value === 'number' && Number.isFinite(value) ? value : previewOf(value)
}

/** Truncates between characters: half of a surrogate pair is not valid text everywhere. */
function truncate(text: string): string {
  if (text.length <= PREVIEW_LENGTH) return text
  const end = /[\uD800-\uDBFF]/.test(text.charAt(PREVIEW_LENGTH - 2)) ? 2 : 1
  return `${text.slice(0, PREVIEW_LENGTH - end)}…`
}

function write(value: unknown, room: number, level: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, room))
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return String(value)
  if (level === MAX_LEVELS) return Array.isArray(value) ? '[…]' : '{…}'
  return Array.isArray(value) ? writeArray(value, room, level) : writeObject(value, room, level)
}

function writeArray(items: readonly unknown[], room: number, level: number): string {
  let text = ''
  for (const item of items) {
    if (text.length > room) break
    text += `${text && ','}${write(item, room - text.length, level + 1)}`
  }
  return `[${text}]`
}

function writeObject(value: object, room: number, level: number): string {
  let text = ''
  for (const key in value) {
    if (text.length > room) break
    if (!Object.hasOwn(value, key)) continue
    const field: unknown = Reflect.get(value, key)
    text += `${text && ','}${JSON.stringify(key.slice(0, room))}:${write(field, room - text.length, level + 1)}`
  }
  return `{${text}}`
}
