/** Loads runs that requests of the Responses API began. */
import { TuttiError } from '@tutti/core'
import { decode, type HistoryMessage } from '@tutti/protocol'
import { eventPages, type RunRecord } from '@tutti/runs'

import { assertMayRead } from '../../runs/run-rights.ts'
import { sharedEnsembles } from '../../service/sharing.ts'
import { listMadeItems } from './input-items.ts'
import { readInput, toItemHistory, toItems } from './input.ts'
import { readTextSchema, toResponseRequest } from './parameters.ts'
import { RunResponses } from './run-responses.ts'
import { CreateResponseBody, type ResponseRequest, type ResponseState } from './wire.ts'

import type { Caller } from '../../caller.ts'
import type { GatewayOptions } from '../../gateway-options.ts'
import type { WireResponse } from './wire.ts'

/** Key of the request in the memo of a run. */
const MEMO = 'openaiResponses'

/** Returns the memo of a run: the request that began it. */
export function toMemo(body: CreateResponseBody): Readonly<Record<string, unknown>> {
  return { [MEMO]: body }
}

/** A run and the request that began it. */
export interface StoredRun {
  readonly run: RunRecord
  readonly body: CreateResponseBody
  readonly request: ResponseRequest
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
  const decoded = decode(CreateResponseBody, run.request?.memo?.[MEMO])
  if (!decoded.ok) return undefined
  return { run, body: decoded.value, request: toResponseRequest(decoded.value) }
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
 * Returns the conversation up to the end of a run, for the run that follows: its history, its question, and the items of
 * its responses.
 */
export function toNextHistory(
  { run, body }: StoredRun,
  responses: RunResponses,
): readonly HistoryMessage[] {
  const { text } = readInput(toItems(body.input))
  const before = run.request?.history ?? []
  const newest = before.at(-1)
  const isAsked = newest?.role === 'user' && newest.content === text && isEmpty(run.inputs)
  const asked: HistoryMessage[] = isAsked ? [] : [{ role: 'user', content: text }]
  return [...before, ...asked, ...toItemHistory(listMadeItems(run.runId, responses))]
}

function isEmpty(inputs: object): boolean {
  return Object.keys(inputs).length === 0
}

/** Returns the error for a response that does not exist, or is not stored. */
export function responseNotFound(id: string): TuttiError {
  return new TuttiError('RUN_NOT_FOUND', `No response with the id "${id}"`)
}
