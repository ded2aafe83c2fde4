/**
 * Runs as MCP resources: a run with its tasks as JSON, and its output as text.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources
 */
import { ProtocolError } from '@modelcontextprotocol/server'
import { TuttiError } from '@tutti/core'
import { shortText } from '@tutti/protocol'

import type {
  ListResourcesResult,
  ReadResourceResult,
  ResourceTemplateType,
} from '@modelcontextprotocol/server'
import type { ListRunsQuery, RunDetail, RunList } from '@tutti/protocol'

/** Reads runs in the form of REST. */
export interface RunReader {
  list(query: ListRunsQuery): Promise<RunList>
  /** @throws {TuttiError} RUN_NOT_FOUND. */
  detail(runId: string): Promise<RunDetail>
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
 * Lists runs, newest first.
 *
 * @throws {ProtocolError} for a cursor that this server did not make.
 */
export async function listResources(
  reader: RunReader,
  cursor: string | undefined,
): Promise<ListResourcesResult> {
  const offset = decodeCursor(cursor)
  const { runs: page, total } = await reader.list({ limit: PAGE, offset })
  const next = offset + page.length
  return {
    resources: page.map(({ runId, ensemble, status, startedAt }) => ({
      uri: `tutti://runs/${encodeURIComponent(runId)}`,
      name: runId,
      title: `${ensemble} (${status})`,
      description: `Run of ${startedAt}`,
      mimeType: 'application/json',
    })),
    ...(page.length > 0 && next < total ? { nextCursor: String(next) } : {}),
  }
}

function decodeCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor)
  throw new ProtocolError(INVALID_PARAMS, `Unknown cursor "${shortText(cursor)}"`)
}

/**
 * Reads a run or its output.
 *
 * @throws {ProtocolError} when the resource does not exist.
 */
export async function readResource(reader: RunReader, uri: string): Promise<ReadResourceResult> {
  const [, runId, output] = /^tutti:\/\/runs\/([\w.~%-]+)(\/output)?$/.exec(uri) ?? []
  if (runId === undefined) throw notFound(uri)
  try {
    const detail = await reader.detail(decodeSegment(runId))
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
