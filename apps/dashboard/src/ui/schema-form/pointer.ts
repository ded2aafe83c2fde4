/** JSON pointers (RFC 6901), and values that are read and changed by them. Nothing is changed in place. */
import { isJsonObject } from '@tutti/protocol'

/** The pointer of a member of the place that `path` points to. */
export function childPointer(path: string, key: string | number): string {
  return `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** The keys along a pointer, outermost first. */
export function keysOf(path: string): readonly string[] {
  return path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** The pointer of the place round a place; undefined for the outermost. */
export function above(path: string): string | undefined {
  return path === '' ? undefined : path.slice(0, path.lastIndexOf('/'))
}

/** Whether `path` points to `place` or to something inside of it. */
export function isWithin(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`)
}

/** The value that a pointer points to; undefined when there is none. */
export function valueAtPointer(value: unknown, path: string): unknown {
  let current = value
  for (const key of keysOf(path)) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) {
      return undefined
    }
    current = Reflect.get(current, key)
  }
  return current
}

/** The value with `next` at a pointer; objects on the way that are not there are made. */
export function withValueAt(value: unknown, path: string, next: unknown): unknown {
  return changed(value, keysOf(path), () => next)
}

/** The value without what is at a pointer: a field is taken away, an item of a list taken out. */
export function withoutValueAt(value: unknown, path: string): unknown {
  const keys = keysOf(path)
  const last = keys.at(-1)
  if (last === undefined) return undefined
  return changed(value, keys.slice(0, -1), (holder) => {
    if (Array.isArray(holder)) return holder.filter((_, index) => String(index) !== last)
    if (typeof holder !== 'object' || holder === null) return holder
    return Object.fromEntries(Object.entries(holder).filter(([key]) => key !== last))
  })
}

function changed(
  value: unknown,
  [key, ...rest]: readonly string[],
  change: (value: unknown) => unknown,
): unknown {
  if (key === undefined) return change(value)
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value
    const at = Number(key)
    const inner = changed(items[at], rest, change)
    return at < items.length ? items.with(at, inner) : [...items, inner]
  }
  const fields: Readonly<Record<string, unknown>> = isJsonObject(value) ? value : {}
  const own = Object.hasOwn(fields, key) ? fields[key] : undefined
  const inner = changed(own, rest, change)
  // Not a spread with a computed key: `__proto__` is a name like any other here.
  return Object.fromEntries(
    Object.hasOwn(fields, key)
      ? Object.entries(fields).map(([name, old]) => [name, name === key ? inner : old])
      : [...Object.entries(fields), [key, inner]],
  )
}
