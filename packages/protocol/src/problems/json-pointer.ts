/** JSON pointers (RFC 6901): `/tasks/0/description`, with `~` as `~0` and `/` as `~1`. */

/** The pointer of a member of the place that `path` points to. */
export function pointer(path: string, key: string | number): string {
  return `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** The value that a pointer points to; undefined when there is none. */
export function valueAt(value: unknown, path: string): unknown {
  let current = value
  for (const part of path.split('/').slice(1)) {
    if (typeof current !== 'object' || current === null) return undefined
    current = Reflect.get(current, part.replaceAll('~1', '/').replaceAll('~0', '~'))
  }
  return current
}
