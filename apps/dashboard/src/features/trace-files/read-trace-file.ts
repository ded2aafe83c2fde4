/**
 * Pure: from the text of a file to the run that it tells of, or to everything that is wrong with it. Read are
 * traces (AgentEnsemble's, ours) and lists of events (NDJSON, or one JSON array).
 */
import {
  decode,
  decodeLoggedRunEvent,
  ExecutionTrace,
  isJsonObject,
  type LoggedRunEvent,
  type Problem,
  RUN_EVENT_TYPES,
  type RunState,
} from '@tutti/protocol'

import { formatBytes } from '../../lib/format.ts'
import { type FollowedLog, emptyRunLog, withEvents } from '../../api/run-log.ts'
import { traceState } from './trace-state.ts'
import { factsOfEvents, factsOfTrace, type TraceFacts } from './trace-facts.ts'

/** Bytes of a file at most: what a browser still checks and shows without being busy for long. */
export const MAX_TRACE_FILE_BYTES = 50_000_000

/** A file as it was read. */
export type ReadFile =
  | {
      readonly ok: true
      readonly state: RunState
      readonly facts: TraceFacts
      /** When the file holds events: it can be replayed. */
      readonly log?: FollowedLog
      /** When it was, in milliseconds since 1970. */
      readonly at: number
    }
  | { readonly ok: false; readonly reason: string; readonly problems: readonly Problem[] }

type Reading = Generator<number, ReadFile>

/** Why a file of this size is not read; undefined when it is. */
export function sizeProblem(bytes: number): string | undefined {
  if (bytes === 0) return 'The file is empty.'
  if (bytes <= MAX_TRACE_FILE_BYTES) return undefined
  return `The file has ${formatBytes(bytes)}, and ${formatBytes(MAX_TRACE_FILE_BYTES)} are read at most.`
}

/** Reads the text of a file at once. */
export function readTraceFile(text: string): ReadFile {
  const reading = readingTraceFile(text)
  for (;;) {
    const step = reading.next()
    if (step.done === true) return step.value
  }
}

/** Reads the text of a file; stops now and then, and says how much is done, from 0 to 1. */
export function* readingTraceFile(text: string): Reading {
  const whole = text.replace(/^\u{FEFF}/u, '')
  const value = parsed(whole)
  if ('value' in value) return yield* readValue(value.value)
  // One JSON value a line is no JSON: its second line is one too many.
  if (looksLikeLines(whole)) return yield* readLines(whole)
  return { ok: false, reason: 'The file is not JSON.', problems: [atWhole(value.problem)] }
}

function* readValue(value: unknown): Reading {
  if (Array.isArray(value))
    return yield* eventsOf(value.map((item, at) => [`/${at}`, item] as const))
  if (isJsonObject(value) && value['type'] === 'dag') return { ...NO_TRACE, reason: IS_GRAPH }
  if (isJsonObject(value) && 'seq' in value && 'type' in value)
    return yield* eventsOf([['', value]])
  if (!isJsonObject(value) || !('taskTraces' in value || 'ensembleId' in value)) return NO_TRACE
  const decoded = decode(ExecutionTrace, value)
  if (!decoded.ok) {
    const reason = 'The file is not a trace as AgentEnsemble or this server writes it.'
    return { ok: false, reason, problems: decoded.problems }
  }
  const trace = decoded.value
  const state = traceState(trace)
  return { ok: true, state, facts: factsOfTrace(trace, state), at: Date.parse(trace.completedAt) }
}

function* readLines(text: string): Reading {
  const problems: Problem[] = []
  const values: (readonly [place: string, value: unknown])[] = []
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const value = parsed(line)
    const place = `line ${at + 1}`
    if ('value' in value) values.push([place, value.value])
    else problems.push({ path: place, message: value.problem })
  }
  const read = yield* eventsOf(values)
  if (problems.length === 0) return read
  return {
    ok: false,
    reason: NOT_EVENTS,
    problems: [...problems, ...(read.ok ? [] : read.problems)],
  }
}

function* eventsOf(values: readonly (readonly [place: string, value: unknown])[]): Reading {
  const read = yield* readEvents(values)
  if (!read.ok) return { ok: false, reason: NOT_EVENTS, problems: read.problems }
  const { log, unknownTypes } = read
  const facts = factsOfEvents(log, unknownTypes)
  return { ok: true, state: log.state, facts, log, at: log.instants.at(-1) ?? 0 }
}

const NOT_EVENTS = 'The file is not a list of the events of one run.'

const IS_GRAPH = 'The file is a task graph (DAG), not a trace.'

const NO_TRACE: Extract<ReadFile, { ok: false }> = {
  ok: false,
  reason: 'The file is JSON, but neither a trace nor a list of events.',
  problems: [],
}

function looksLikeLines(text: string): boolean {
  const [first = '', second] = text.trim().split('\n', 2)
  return second !== undefined && 'value' in parsed(first)
}

function parsed(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

function atWhole(message: string): Problem {
  return { path: '', message }
}

/** A log that was read, or why not. */
type ReadEvents =
  | {
      readonly ok: true
      readonly log: FollowedLog
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
