/** Makes a server speak to dashboards, trace viewers and ensembles of AgentEnsemble. */
import { maximumOf } from '@tutti/protocol/internal'

import { agentEnsembleDialect } from './dialect/dialect.ts'
import { toPeerRefusal } from './peer/events.ts'
import { answerCapabilityQuery, answerTaskRequest, answerToolRequest } from './peer/routes.ts'
import { traceRoutes } from './trace/routes.ts'

import type { ServerExtension } from '@tutti/gateway/internal'

/** Limits of the extension. */
export interface AgentEnsembleOptions {
  /** Maximum size of the events behind a trace or task graph, in bytes. @default 8000000 */
  readonly maxTraceBytes?: number | undefined
}

const DEFAULT_MAX_TRACE_BYTES = 8_000_000

/**
 * Creates the extension of a server: its dashboard dialect of WebSockets, the export of traces and task graphs, and
 * requests of peers.
 *
 * @throws {RangeError} when `maxTraceBytes` is not an integer of at least 1.
 */
export function agentEnsemble({
  maxTraceBytes = DEFAULT_MAX_TRACE_BYTES,
}: AgentEnsembleOptions = {}): ServerExtension {
  const most = maximumOf('maxTraceBytes')
  if (!Number.isInteger(maxTraceBytes) || maxTraceBytes < 1 || maxTraceBytes > most) {
    throw new RangeError(
      `maxTraceBytes must be an integer >= 1 and <= ${most}, got ${maxTraceBytes}`,
    )
  }
  return {
    routes: (options) => traceRoutes(options, { maxTraceBytes }),
    documented: [{ area: 'Runs', routes: ['getRunTrace', 'getRunDag'] }],
    messages: {
      task_request: {
        scope: 'runs:write',
        target: 'task',
        replies: ['task_accepted', 'task_progress', 'task_response'],
        answer: answerTaskRequest,
        toRefusal: toPeerRefusal,
      },
      tool_request: {
        scope: 'tools:invoke',
        target: 'tool',
        replies: ['tool_response'],
        answer: answerToolRequest,
        toRefusal: toPeerRefusal,
      },
      capability_query: {
        scope: 'runs:read',
        replies: ['capability_response'],
        answer: answerCapabilityQuery,
      },
    },
    dialect: agentEnsembleDialect,
  }
}
