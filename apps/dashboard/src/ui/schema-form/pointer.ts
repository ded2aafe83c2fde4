/** JSON pointers (RFC 6901), and immutable reads and updates by pointer. */
import { isJsonObject } from '@tutti/protocol/internal'

/** Returns the pointer of a member of `path`. */
export function toChildPointer(path: string, key: string | number): string {
  return `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** Returns the keys of a pointer, outermost first. */
export function parsePointer(path: string): readonly string[] {
  return path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Returns the parent of a pointer; undefined for the root. */
export function toParentPointer(path: string): string | undefined {
  return path === '' ? undefined : path.slice(0, path.lastIndexOf('/'))
}

/** Whether `path` is `outer` or inside it. */
export function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}/`)
}

/** Returns the value at a pointer; undefined when it does not exist. */
export function getValueAt(value: unknown, path: string): unknown {
  let current = value
  for (const key of parsePointer(path)) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) {
      return undefined
    }
    current = Reflect.get(current, key)
  }
  return current
}

/** Returns the value with `next` at a pointer; missing parent objects are created. */
export function setValueAt(value: unknown, path: string, next: unknown): unknown {
  return changeAt(value, parsePointer(path), () => next)
}

/** Returns the value without the field or list item at a pointer. */
export function removeValueAt(value: unknown, path: string): unknown {
  const keys = parsePointer(path)
  const last = keys.at(-1)
  if (last === undefined) return undefined
  return changeAt(value, keys.slice(0, -1), (holder) => {
    if (Array.isArray(holder)) return holder.filter((_, index) => String(index) !== last)
    if (typeof holder !== 'object' || holder === null) return holder
    return Object.fromEntries(Object.entries(holder).filter(([key]) => key !== last))
  })
}

function changeAt(
  value: unknown,
  [key, ...rest]: readonly string[],
  change: (value: unknown) => unknown,
): unknown {
  if (key === undefined) return change(value)
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value
    const at = Number(key)
    const inner = changeAt(items[at], rest, change)
    return at < items.length ? items.with(at, inner) : [...items, inner]
  }
  const fields: Readonly<Record<string, unknown>> = isJsonObject(value) ? value : {}
  const own = Object.hasOwn(fields, key) ? fields[key] : undefined
  const inner = changeAt(own, rest, change)
  // Not a spread with a computed key, because `__proto__` must be an ordinary name.
  return Object.fromEntries(
    Object.hasOwn(fields, key)
      ? Object.entries(fields).map(([name, old]) => [name, name === key ? inner : old])
      : [...Object.entries(fields), [key, inner]],
  )
}
