/** Loads runs that requests of the Responses API began. */
import { TuttiError } from '@tutti/core'
import { decode } from '@tutti/protocol'
import type { RunRecord } from '@tutti/runs/adapter'
import { eventPages } from '@tutti/runs/internal'

import { assertMayRead } from '../../runs/run-rights.ts'
import { sharedEnsembles } from '../../service/sharing.ts'
import { listMadeItems } from './input-items.ts'
import { readTextSchema, toResponseRequest } from './parameters.ts'
import { RunResponses } from './run-responses.ts'
import { CreateResponseBody, type ResponseRequest, type ResponseState } from './wire.ts'

import type { Caller } from '../../caller.ts'
import type { GatewayOptions } from '../../gateway-options.ts'
import type { EarlierItems } from './input.ts'
import type { InputItem, WireResponse } from './wire.ts'

/** Key of the request in the memo of a run. */
const MEMO = 'openaiResponses'

/** Key of the user message in a run's memo. */
const QUESTION = 'openaiQuestion'

/** Returns the memo of a run: the request that began it, and its question. */
export function toMemo(
  body: CreateResponseBody,
  question: string,
): Readonly<Record<string, unknown>> {
  return { [MEMO]: body, [QUESTION]: question }
}

/** A run and the request that began it. */
export interface StoredRun {
  readonly run: RunRecord
  readonly body: CreateResponseBody
  readonly request: ResponseRequest
  /** Newest message of the user when the run began. */
  readonly question: string
}

/** A run with what has happened so far. */
export interface LoadedRun {
  readonly stored: StoredRun
  readonly responses: RunResponses
}

/** Resources that the runs of shared ensembles are found with. */
type Finding = Pick<GatewayOptions, 'runs' | 'tools' | 'models' | 'shared'>

/**
 * Finds a run that a request of the Responses API began, of an ensemble that is shared, for a caller that will see it.
 *
 * @throws {TuttiError} FORBIDDEN when the caller may not read it.
 */
export async function findStoredRun(
  options: Finding,
  runId: string,
  caller: Caller,
): Promise<StoredRun | undefined> {
  const stored = await locateStoredRun(options, runId)
  if (stored !== undefined) assertMayRead(caller, stored.run)
  return stored
}

/** Finds a run as `findStoredRun` does, to act on it; the caller may not see more than its status. */
export async function locateStoredRun(
  options: Finding,
  runId: string,
): Promise<StoredRun | undefined> {
  const run = await options.runs.record(runId)
  if (run === undefined) return undefined
  if (!sharedEnsembles(options).some(({ name }) => name === run.ensemble)) return undefined
  return toStoredRun(run)
}

/** Returns a run with the request that began it; undefined for a run of another origin. */
export function toStoredRun(run: RunRecord): StoredRun | undefined {
  const memo = run.request?.memo ?? {}
  const decoded = decode(CreateResponseBody, memo[MEMO])
  const question = memo[QUESTION]
  if (!decoded.ok || typeof question !== 'string') return undefined
  return { run, body: decoded.value, request: toResponseRequest(decoded.value), question }
}

/** Returns the fold of the events of a run, before its first event. */
export function foldOf({ run, request }: StoredRun): RunResponses {
  return new RunResponses({
    runId: run.runId,
    createdAt: run.createdAt,
    background: request.background,
    isStructured: readTextSchema(request) !== undefined,
  })
}

/** Reads the events of a run so far. */
export async function readResponses(
  { runs }: Pick<GatewayOptions, 'runs'>,
  stored: StoredRun,
): Promise<RunResponses> {
  const responses = foldOf(stored)
  for await (const page of eventPages(runs, { runId: stored.run.runId, from: 0 })) {
    for (const event of page) responses.after(event)
  }
  return responses
}

/** Returns a response as the API has it. */
export function toWireResponse({ request, body }: StoredRun, state: ResponseState): WireResponse {
  const previous = state.previous_response_id ?? body.previous_response_id ?? null
  return { object: 'response', ...request, ...state, previous_response_id: previous }
}

/**
 * Returns the conversation up to the end of a segment, for the run of another request: the history of the run, its
 * question, and the items of its responses. Outputs in the request replace those of the run.
 */
export function toEarlier(
  { stored: { run, question }, responses }: LoadedRun,
  { segment, items }: { readonly segment: number; readonly items: readonly InputItem[] },
): EarlierItems {
  const before = run.request?.history ?? []
  const newest = before.at(-1)
  const isAsked = newest?.role === 'user' && newest.content === question && isEmpty(run.inputs)
  const isReplaced = (made: InputItem): boolean =>
    made.type === OUTPUT &&
    items.some(({ type, call_id: id }) => type === OUTPUT && id === made.call_id)
  return {
    history: isAsked ? before.slice(0, -1) : before,
    question,
    items: listMadeItems(run.runId, responses, segment).filter((made) => !isReplaced(made)),
  }
}

const OUTPUT = 'function_call_output'

function isEmpty(inputs: object): boolean {
  return Object.keys(inputs).length === 0
}

/** Returns the error for a response that does not exist, or is not stored. */
export function responseNotFound(id: string): TuttiError {
  return new TuttiError('RUN_NOT_FOUND', `No response with the id "${id}"`)
}
