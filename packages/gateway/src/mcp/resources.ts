/**
 * Runs of the shared ensembles as MCP resources: a run with its tasks as JSON, and its output as text.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources
 */
import { ProtocolError } from '@modelcontextprotocol/server'
import { TuttiError } from '@tutti/core'
import { shortText } from '@tutti/protocol/internal'
import type { ChangedRun, RunRecord } from '@tutti/runs/adapter'
import { readTurn } from '@tutti/runs/internal'

import { decodeChangeCursor, encodeChangeCursor } from '../service/change-cursor.ts'
import { sharedEnsembles } from '../service/sharing.ts'

import type {
  ListResourcesResult,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from '@modelcontextprotocol/server'
import type { RunDetail } from '@tutti/protocol'
import type { Caller } from '../caller.ts'
import type { Sharing } from '../gateway-options.ts'

/** Reads runs in the form of REST. */
export interface RunReader {
  /** @throws {TuttiError} RUN_NOT_FOUND; FORBIDDEN when the caller may not read the run. */
  detail(runId: string, caller: Caller): Promise<RunDetail>
}

/** Number of runs on a page. */
const PAGE = 50

const INVALID_PARAMS = -32_602

const NOT_FOUND = -32_002

/** URI templates of runs. */
export const RESOURCE_TEMPLATES: readonly ResourceTemplateType[] = [
  {
    uriTemplate: 'tutti://runs/{runId}',
    name: 'run',
    title: 'Run',
    description: 'A run with its tasks and open reviews',
    mimeType: 'application/json',
  },
  {
    uriTemplate: 'tutti://runs/{runId}/output',
    name: 'run-output',
    title: 'Output of a run',
    description: 'Output of the last completed task; empty when there is none',
    mimeType: 'text/plain',
  },
]

/**
 * Lists the runs of the shared ensembles, the one whose status changed last first.
 *
 * @throws {ProtocolError} for a cursor that this server did not make.
 */
export async function listResources(
  options: Sharing,
  cursor: string | undefined,
): Promise<ListResourcesResult> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor)
  const found = await options.runs.listByChange({
    ensembles: sharedEnsembles(options).map(({ name }) => name),
    after,
    // One run more than the page shows whether another page follows.
    limit: PAGE + 1,
  })
  const page = found.runs.slice(0, PAGE)
  const resources: Resource[] = []
  for (const { runId } of page) {
    await readTurn()
    const run = await options.runs.record(runId)
    if (run !== undefined) resources.push(toResource(run))
  }
  const last = page.at(-1)
  return {
    resources,
    ...(last === undefined || found.runs.length <= PAGE
      ? {}
      : { nextCursor: encodeChangeCursor(last) }),
  }
}

function toResource({ runId, ensemble, status, startedAt, createdAt }: RunRecord): Resource {
  return {
    uri: `tutti://runs/${encodeURIComponent(runId)}`,
    name: runId,
    title: `${ensemble} (${status})`,
    description: `Run of ${new Date(startedAt ?? createdAt).toISOString()}`,
    mimeType: 'application/json',
  }
}

function decodeCursor(cursor: string): ChangedRun {
  const position = decodeChangeCursor(cursor)
  if (position !== undefined) return position
  throw new ProtocolError(INVALID_PARAMS, `Unknown cursor "${shortText(cursor)}"`)
}

/** Options, reader and caller of a read. */
export interface ResourceReading {
  readonly options: Sharing
  readonly reader: RunReader
  readonly caller: Caller
}

/**
 * Reads a run of a shared ensemble, or its output.
 *
 * @throws {ProtocolError} when the resource does not exist.
 * @throws {TuttiError} FORBIDDEN when the caller may not read the run.
 */
export async function readResource(
  uri: string,
  { options, reader, caller }: ResourceReading,
): Promise<ReadResourceResult> {
  const [, runId, output] = /^tutti:\/\/runs\/([\w.~%-]+)(\/output)?$/.exec(uri) ?? []
  if (runId === undefined) throw notFound(uri)
  try {
    const detail = await reader.detail(decodeSegment(runId), caller)
    if (!sharedEnsembles(options).some(({ name }) => name === detail.ensemble)) throw notFound(uri)
    if (output === undefined) {
      return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(detail) }] }
    }
    const done = detail.tasks.findLast((task) => task.output !== undefined)
    return { contents: [{ uri, mimeType: 'text/plain', text: done?.output ?? '' }] }
  } catch (error) {
    if (TuttiError.isInstance(error) && error.code === 'RUN_NOT_FOUND') throw notFound(uri)
    throw error
  }
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function notFound(uri: string): ProtocolError {
  return new ProtocolError(NOT_FOUND, `Unknown resource "${shortText(uri)}"`, { uri })
}
