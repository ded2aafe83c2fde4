/**
 * Which problem is told at which field. Pure.
 *
 * P1 Every problem is told at one place: its own field, else the nearest one round it, else at the whole.
 * P2 A field that nobody has come to yet is not told that it is empty.
 */
import { above, valueAtPointer } from './pointer.ts'

import type { Problem } from '@tutti/protocol'

/** Messages by the pointer of the field that shows them. */
export type PlacedProblems = ReadonlyMap<string, readonly string[]>

/** Puts problems at the fields that are drawn. P1 */
export function placedProblems(
  problems: readonly Problem[],
  drawn: ReadonlySet<string>,
): PlacedProblems {
  const placed = new Map<string, string[]>()
  for (const problem of problems) {
    const place = nearestDrawn(problem.path, drawn)
    const text = problemText(problem, place)
    const texts = placed.get(place) ?? []
    if (!texts.includes(text)) placed.set(place, [...texts, text])
  }
  return placed
}

/** The text of a problem at the field of `place`, which may be around it. */
export function problemText({ path, message }: Problem, place: string): string {
  const inside = path.slice(place.length + 1).replaceAll('/', ' › ')
  return inside === '' ? sentence(message) : `${inside} ${message}`
}

/** The pointer of the field where the problem of a place is told. P1 */
export function nearestDrawn(path: string, drawn: ReadonlySet<string>): string {
  let place: string | undefined = path
  while (place !== undefined && !drawn.has(place)) place = above(place)
  return place ?? ''
}

/** The problems that somebody who has come to the fields `touched` is told of. P2 */
export function shownProblems(
  problems: readonly Problem[],
  value: unknown,
  touched: ReadonlySet<string>,
): readonly Problem[] {
  return problems.filter(({ path }) => {
    if (touched.has(path)) return true
    const there = valueAtPointer(value, path)
    const isEmpty = there === undefined || there === null || there === ''
    return !isEmpty && !(Array.isArray(there) && there.length === 0)
  })
}

function sentence(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1)
}
