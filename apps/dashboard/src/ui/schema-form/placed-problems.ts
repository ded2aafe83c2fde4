/**
 * Assigns problems to fields. Pure.
 *
 * DASH-P1 Every problem is shown once: at its own field, else at the nearest enclosing field, else at
 *    the root.
 * DASH-P2 An empty field is not reported before the reader has visited it.
 */
import { toParentPointer, getValueAt, isWithin } from './pointer.ts'

import type { Problem } from '@tutti/protocol/internal'

/** Messages by the pointer of the field that shows them. */
export type PlacedProblems = ReadonlyMap<string, readonly string[]>

/** Assigns problems to the rendered fields. DASH-P1 */
export function placeProblems(
  problems: readonly Problem[],
  drawn: ReadonlySet<string>,
): PlacedProblems {
  const placed = new Map<string, string[]>()
  for (const problem of problems) {
    const drawnPath = findNearestDrawn(problem.path, drawn)
    const text = formatProblemAt(problem, drawnPath)
    const texts = placed.get(drawnPath) ?? []
    if (!texts.includes(text)) placed.set(drawnPath, [...texts, text])
  }
  return placed
}

/** Returns the errors of a field, which include those inside it; a group shows only its own. */
export function findErrorsWithin(
  problems: readonly Problem[],
  pointer: string,
  isGroup = false,
): readonly string[] {
  const shown = problems.filter(({ path }) =>
    isGroup ? path === pointer : isWithin(path, pointer),
  )
  return [...new Set(shown.map((problem) => formatProblemAt(problem, pointer)))]
}

/** Returns the text of a problem for the field at `drawnPath`, which may enclose it. */
export function formatProblemAt({ path, message }: Problem, drawnPath: string): string {
  const inside = path.slice(drawnPath.length + 1).replaceAll('/', ' › ')
  return inside === '' ? toSentence(message) : `${inside} ${message}`
}

/** Returns the pointer of the field that shows problems of `path`. DASH-P1 */
export function findNearestDrawn(path: string, drawn: ReadonlySet<string>): string {
  let drawnPath: string | undefined = path
  while (drawnPath !== undefined && !drawn.has(drawnPath)) drawnPath = toParentPointer(drawnPath)
  return drawnPath ?? ''
}

/** Returns the problems to show after the reader has visited the fields `touched`. DASH-P2 */
export function selectShownProblems(
  problems: readonly Problem[],
  value: unknown,
  touched: ReadonlySet<string>,
): readonly Problem[] {
  return problems.filter(({ path }) => {
    if (touched.has(path)) return true
    const there = getValueAt(value, path)
    const isEmpty = there === undefined || there === null || there === ''
    return !isEmpty && !(Array.isArray(there) && there.length === 0)
  })
}

function toSentence(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1)
}
