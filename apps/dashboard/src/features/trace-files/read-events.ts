/** Pure: from values to the log of one run, or to everything that is wrong with them. */
import {
  decodeLoggedRunEvent,
  RUN_EVENT_TYPES,
  type LoggedRunEvent,
  type Problem,
} from '@tutti/protocol'

import { emptyRunLog, withEvents, type RunLog } from '../../api/run-log.ts'

/** A log that was read, or why not. */
export type ReadEvents =
  | {
      readonly ok: true
      readonly log: RunLog
      /** Types of events that this version does not know, each once; they are left out. */
      readonly unknownTypes: readonly string[]
    }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Problems that are told at most: one mistake of a program is in every line. */
const MAX_PROBLEMS = 200

const KNOWN_TYPES: ReadonlySet<unknown> = new Set(RUN_EVENT_TYPES)

/** Events between two steps: some hundredths of a second. */
const STEP = 500

/** Reads events; each comes with its place in the file. Stops now and then, and says how much is done. */
export function* readEvents(
  values: readonly (readonly [place: string, value: unknown])[],
): Generator<number, ReadEvents> {
  const problems: Problem[] = []
  const unknownTypes = new Set<string>()
  const events: LoggedRunEvent[] = []
  let seq: number | undefined
  for (const [at, [place, value]] of values.entries()) {
    if (at % STEP === STEP - 1) yield at / values.length
    const position = positionOf(value)
    if (seq !== undefined && position !== undefined && position !== seq + 1) {
      problems.push({ path: place, message: `seq must be ${seq + 1}, got ${position}` })
    }
    seq = position ?? seq
    const unknown = unknownTypeOf(value)
    if (unknown !== undefined) {
      unknownTypes.add(unknown)
      continue
    }
    const decoded = decodeLoggedRunEvent(value)
    if (decoded.ok) events.push(decoded.value)
    else problems.push(...decoded.problems.map((one) => ({ ...one, path: joined(place, one) })))
  }
  problems.push(...problemsOfAll(events))
  if (problems.length > 0) return { ok: false, problems: cut(problems) }
  // Those that were left out leave gaps, and a part of a log may begin anywhere.
  const numbered = events.map((event, at) => (event.seq === at ? event : { ...event, seq: at }))
  return { ok: true, log: withEvents(emptyRunLog(), numbered), unknownTypes: [...unknownTypes] }
}

function problemsOfAll(events: readonly LoggedRunEvent[]): readonly Problem[] {
  const runs = [...new Set(events.map(({ runId }) => runId))]
  if (events.length === 0) return [{ path: '', message: 'has no event that this version knows' }]
  if (runs.length === 1) return []
  return [{ path: '', message: `must be the events of one run, got those of ${runs.join(', ')}` }]
}

function cut(problems: readonly Problem[]): readonly Problem[] {
  if (problems.length <= MAX_PROBLEMS) return problems
  const more = problems.length - MAX_PROBLEMS
  return [...problems.slice(0, MAX_PROBLEMS), { path: '', message: `and ${more} more` }]
}

function unknownTypeOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('type' in value)) return undefined
  const { type } = value
  return typeof type === 'string' && !KNOWN_TYPES.has(type) ? type : undefined
}

function positionOf(value: unknown): number | undefined {
  if (typeof value !== 'object' || value === null || !('seq' in value)) return undefined
  return typeof value.seq === 'number' ? value.seq : undefined
}

function joined(place: string, { path }: Problem): string {
  if (place.startsWith('/') || place === '') return `${place}${path}`
  return path === '' ? place : `${place}, ${path}`
}
