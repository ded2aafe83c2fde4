/** JSON pointers (RFC 6901): `/tasks/0/description`, with `~` as `~0` and `/` as `~1`. */

/** Maximum characters of a field name in a pointer: a longer name is truncated, and the pointer then has no target. */
export const MAX_SEGMENT = 100

/** Returns the pointer to a member of the value at `path`. */
export function pointer(path: string, key: string | number): string {
  const name = String(key)
  const shown = name.length <= MAX_SEGMENT ? name : `${name.slice(0, MAX_SEGMENT - 1)}…`
  return `${path}/${shown.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** Returns the value that a pointer points to; undefined when it does not exist. */
export function valueAt(value: unknown, path: string): unknown {
  let current = value
  for (const part of path.split('/').slice(1)) {
    if (typeof current !== 'object' || current === null) return undefined
    current = Reflect.get(current, part.replaceAll('~1', '/').replaceAll('~0', '~'))
  }
  return current
}
