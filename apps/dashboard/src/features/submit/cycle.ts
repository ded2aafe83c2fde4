/** Tasks that wait for each other in a circle. Pure. */

/** The keys along one circle, first and last the same; undefined when there is none. */
export function findCircle(
  waitsFor: ReadonlyMap<string, readonly string[]>,
): readonly string[] | undefined {
  const done = new Set<string>()
  for (const key of waitsFor.keys()) {
    const circle = circleFrom([key], waitsFor, done)
    if (circle !== undefined) return circle
  }
  return undefined
}

/** Goes depth first from the end of `path`; what is `done` leads to no circle. */
function circleFrom(
  path: readonly string[],
  waitsFor: ReadonlyMap<string, readonly string[]>,
  done: Set<string>,
): readonly string[] | undefined {
  const last = path.at(-1) ?? ''
  if (done.has(last)) return undefined
  for (const next of waitsFor.get(last) ?? []) {
    if (path.includes(next)) return [...path.slice(path.indexOf(next)), next]
    const circle = circleFrom([...path, next], waitsFor, done)
    if (circle !== undefined) return circle
  }
  done.add(last)
  return undefined
}
