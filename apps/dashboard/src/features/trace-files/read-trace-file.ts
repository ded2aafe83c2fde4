/**
 * Reads a trace file and returns its run, or everything that is wrong with it. Supports traces (of
 * AgentEnsemble and Tutti) and lists of events (NDJSON or a JSON array). Pure.
 */
import { decode, decodeLoggedRunEvent, type LoggedRunEvent, type RunState } from '@tutti/protocol'
import {
  ExecutionTrace,
  isJsonObject,
  type Problem,
  RUN_EVENT_TYPES,
} from '@tutti/protocol/internal'

import { formatBytes } from '../../lib/format.ts'
import { type FollowedLog, createRunLog, appendEvents } from '../../api/run-log.ts'
import { toRunState } from './trace-state.ts'
import { describeEvents, describeTrace, type TraceFacts } from './trace-facts.ts'

/**
 * Maximum size of a file in bytes, which a browser can validate and show without blocking for long.
 */
export const MAX_TRACE_FILE_BYTES = 50_000_000

/** Result of reading a file. */
export type ReadFile =
  | {
      readonly ok: true
      readonly state: RunState
      readonly facts: TraceFacts
      /** Present if the file contains events; it can then be replayed. */
      readonly log?: FollowedLog
      /** Time of the end, in milliseconds since 1970. */
      readonly at: number
    }
  | { readonly ok: false; readonly reason: string; readonly problems: readonly Problem[] }

type Reading = Generator<number, ReadFile>

/** Returns the reason why a file of this size is rejected; undefined if it is accepted. */
export function findSizeProblem(bytes: number): string | undefined {
  if (bytes === 0) return 'The file is empty.'
  if (bytes <= MAX_TRACE_FILE_BYTES) return undefined
  return `The file is too large: ${formatBytes(bytes)}. The maximum is ${formatBytes(MAX_TRACE_FILE_BYTES)}.`
}

/** Reads the text of a file synchronously. */
export function readTraceFile(text: string): ReadFile {
  const reading = readTraceFileInSteps(text)
  for (;;) {
    const step = reading.next()
    if (step.done === true) return step.value
  }
}

/** Reads the text of a file; yields its progress, from 0 to 1, now and then. */
export function* readTraceFileInSteps(text: string): Reading {
  const whole = text.replace(/^\u{FEFF}/u, '')
  const value = parseJson(whole)
  if ('value' in value) return yield* readValue(value.value)
  // NDJSON is not valid JSON from its second line on.
  if (looksLikeLines(whole)) return yield* readLines(whole)
  return {
    ok: false,
    reason: 'The file is not JSON.',
    problems: [{ path: '', message: value.problem }],
  }
}

function* readValue(value: unknown): Reading {
  if (Array.isArray(value))
    return yield* readEventValues(value.map((item, at) => [`/${at}`, item] as const))
  if (isJsonObject(value) && value['type'] === 'dag') return { ...NO_TRACE, reason: IS_GRAPH }
  if (isJsonObject(value) && 'seq' in value && 'type' in value)
    return yield* readEventValues([['', value]])
  if (!isJsonObject(value) || !('taskTraces' in value || 'ensembleId' in value)) return NO_TRACE
  const decoded = decode(ExecutionTrace, value)
  if (!decoded.ok) {
    const reason = 'The file is not a valid trace of AgentEnsemble or Tutti.'
    return { ok: false, reason, problems: decoded.problems }
  }
  const trace = decoded.value
  const state = toRunState(trace)
  return { ok: true, state, facts: describeTrace(trace, state), at: Date.parse(trace.completedAt) }
}

function* readLines(text: string): Reading {
  const problems: Problem[] = []
  const values: (readonly [location: string, value: unknown])[] = []
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const value = parseJson(line)
    const location = `line ${at + 1}`
    if ('value' in value) values.push([location, value.value])
    else problems.push({ path: location, message: value.problem })
  }
  const read = yield* readEventValues(values)
  if (problems.length === 0) return read
  return {
    ok: false,
    reason: NOT_EVENTS,
    problems: [...problems, ...(read.ok ? [] : read.problems)],
  }
}

function* readEventValues(
  values: readonly (readonly [location: string, value: unknown])[],
): Reading {
  const read = yield* readEvents(values)
  if (!read.ok) return { ok: false, reason: NOT_EVENTS, problems: read.problems }
  const { log, unknownTypes } = read
  const facts = describeEvents(log, unknownTypes)
  return { ok: true, state: log.state, facts, log, at: log.instants.at(-1) ?? 0 }
}

const NOT_EVENTS = 'The file is not a list of events of a single run.'

const IS_GRAPH = 'The file is a task graph (DAG), not a trace.'

const NO_TRACE: Extract<ReadFile, { ok: false }> = {
  ok: false,
  reason: 'The file is JSON, but neither a trace nor a list of events.',
  problems: [],
}

function looksLikeLines(text: string): boolean {
  const [first = '', second] = text.trim().split('\n', 2)
  return second !== undefined && 'value' in parseJson(first)
}

function parseJson(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

/** A log, or the problems that prevent reading it. */
type ReadEvents =
  | {
      readonly ok: true
      readonly log: FollowedLog
      /** Distinct unknown types of events, which are omitted. */
      readonly unknownTypes: readonly string[]
    }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Maximum number of reported problems: a systematic mistake repeats on every line. */
const MAX_PROBLEMS = 200

const KNOWN_TYPES: ReadonlySet<unknown> = new Set(RUN_EVENT_TYPES)

/** Number of events between two yields, which take a few hundredths of a second. */
const STEP = 500

/** Reads events with their paths in the file. Yields its progress, from 0 to 1, now and then. */
export function* readEvents(
  values: readonly (readonly [location: string, value: unknown])[],
): Generator<number, ReadEvents> {
  const problems: Problem[] = []
  const unknownTypes = new Set<string>()
  const events: LoggedRunEvent[] = []
  let seq: number | undefined
  for (const [at, [location, value]] of values.entries()) {
    if (at % STEP === STEP - 1) yield at / values.length
    const position = readSeq(value)
    if (seq !== undefined && position !== undefined && position !== seq + 1) {
      problems.push({ path: location, message: `seq must be ${seq + 1}, got ${position}` })
    }
    seq = position ?? seq
    const unknown = findUnknownType(value)
    if (unknown !== undefined) {
      unknownTypes.add(unknown)
      continue
    }
    const decoded = decodeLoggedRunEvent(value)
    if (decoded.ok) events.push(decoded.value)
    else
      problems.push(
        ...decoded.problems.map((one) => ({ ...one, path: joinLocation(location, one) })),
      )
  }
  problems.push(...findLogProblems(events))
  if (problems.length > 0) return { ok: false, problems: limitProblems(problems) }
  // Omitted events leave gaps, and a part of a log may start anywhere, so the events are
  // renumbered.
  const numbered = events.map((event, at) => (event.seq === at ? event : { ...event, seq: at }))
  return { ok: true, log: appendEvents(createRunLog(), numbered), unknownTypes: [...unknownTypes] }
}

function findLogProblems(events: readonly LoggedRunEvent[]): readonly Problem[] {
  const runs = [...new Set(events.map(({ runId }) => runId))]
  if (events.length === 0)
    return [{ path: '', message: 'contains no event that this version supports' }]
  if (runs.length === 1) return []
  return [
    { path: '', message: `must contain the events of one run, got those of ${runs.join(', ')}` },
  ]
}

function limitProblems(problems: readonly Problem[]): readonly Problem[] {
  if (problems.length <= MAX_PROBLEMS) return problems
  const more = problems.length - MAX_PROBLEMS
  return [...problems.slice(0, MAX_PROBLEMS), { path: '', message: `and ${more} more` }]
}

function findUnknownType(value: unknown): string | undefined {
  const type = isJsonObject(value) ? value['type'] : undefined
  return typeof type === 'string' && !KNOWN_TYPES.has(type) ? type : undefined
}

function readSeq(value: unknown): number | undefined {
  const seq = isJsonObject(value) ? value['seq'] : undefined
  return typeof seq === 'number' ? seq : undefined
}

function joinLocation(location: string, { path }: Problem): string {
  if (location.startsWith('/') || location === '') return `${location}${path}`
  return path === '' ? location : `${location}, ${path}`
}
