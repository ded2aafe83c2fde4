/**
 * Answers requests of peers over a WebSocket. A shared ensemble is a task for peers, a shared tool a tool.
 *
 * AE-T1 `task_accepted` is sent as soon as the run is durable. It contains the run id, so that the peer can cancel the
 *    run. `task_response` is sent when the run has ended.
 * AE-T2 The same `requestId` of the same peer is one run over any connection; each request gets the response. A lost
 *    connection does not affect the run.
 * AE-T3 A run that has not ended at its deadline is cancelled. The deadline does not run while a person decides (GW-G5).
 * AE-T4 With USE_CACHED, the newest COMPLETED run of the same task, key and actor is returned if it is not too old.
 */
import { isTerminalRunStatus, type LoggedRunEvent } from '@tutti/protocol'

import {
  type ExtensionConnection,
  findTool,
  type GatewayOptions,
  GatewayService,
  invokeCatalogTool,
  recordedCall,
  reportError,
  sharedCapabilities,
  sharedEnsembles,
  sharedTools,
  toRequestKey,
} from '@tutti/gateway/internal'
import { toTaskEnd, taskReporter } from './events.ts'
import { readPeerTrace, readTaskRequest } from './request.ts'

import type { RunRecord } from '@tutti/runs/adapter'
import type {
  SharedCapability,
  CapabilityQuery,
  TaskRequest,
  ToolRequest,
} from '@tutti/protocol/internal'

/**
 * Begins a task; its end is sent later.
 *
 * @throws {TuttiError} BAD_REQUEST with every problem, INVALID_ENSEMBLE for an unknown task, and as
 * `RunService.submit`; no message has been sent by then.
 */
export async function answerTaskRequest(
  request: TaskRequest,
  connection: ExtensionConnection,
): Promise<void> {
  const { options, caller, send } = connection
  const { requestId } = request
  const task = readTaskRequest(request, { ensembles: sharedEnsembles(options), caller })
  const { queued } = await options.runs.status.load()
  const run = await new GatewayService(options).begin(recordedCall(caller), () => task)
  const { runId, status } = run
  const queuePosition = status === 'ACCEPTED' ? queued : 0
  send({ type: 'task_accepted', requestId, runId, queuePosition })
  if (!task.isReported) return
  void reportTask(run, requestId, connection)
}

/**
 * Sends the progress and the end of a task. Resolves when the end has been sent or the connection is closed, and never
 * rejects: if the run cannot be read, the peer gets an `error`, and can repeat the request with its `requestId`.
 */
async function reportTask(
  run: RunRecord,
  requestId: string,
  { options, send, gone }: ExtensionConnection,
): Promise<void> {
  const progressOf = taskReporter()
  const report = (event: LoggedRunEvent): void => {
    const progress = progressOf(event)
    if (progress !== undefined) send({ type: 'task_progress', requestId, ...progress })
    if (event.type !== 'run_result') return
    send({ type: 'task_response', requestId, ...toTaskEnd(event) })
  }
  try {
    for await (const events of eventsToReport(run, options, gone)) {
      for (const event of events) report(event)
    }
  } catch (error) {
    send({ type: 'error', ...reportError(error, options).body, requestId })
  }
}

/** Yields the events of a run until its end; of an ended run only the result. */
async function* eventsToReport(
  { runId, status }: RunRecord,
  { runs }: Pick<GatewayOptions, 'runs'>,
  signal: AbortSignal,
): AsyncGenerator<readonly LoggedRunEvent[]> {
  if (isTerminalRunStatus(status)) {
    yield await runs.readEvents({ runId, from: 0, limit: 1, types: ['run_result'] })
  } else yield* runs.follow({ runId, from: 0, signal })
}

/**
 * Calls a tool and replies, as `POST /api/tools/{name}/invoke` does. The call is cancelled when the connection is
 * closed. A repeated request of a named ensemble has the same idempotency key.
 *
 * @throws {TuttiError} as `findTool` and `invokeTool`.
 */
export async function answerToolRequest(
  request: ToolRequest,
  { options, gone, send }: ExtensionConnection,
): Promise<void> {
  const { requestId, from } = request
  const tool = findTool(sharedTools(options), request.tool)
  const { status, output, errorMessage, durationMs } = await invokeCatalogTool(options, tool, {
    input: request.input ?? {},
    signal: gone,
    // Clients without a name may choose the same request id.
    ...(from === undefined ? {} : { idempotencyKey: toRequestKey(from, requestId) }),
    ...readPeerTrace(request),
  })
  const end =
    status === 'SUCCESS'
      ? ({ status: 'COMPLETED', result: output ?? '' } as const)
      : ({ status: 'FAILED', error: errorMessage ?? '' } as const)
  send({ type: 'tool_response', requestId, ...end, durationMs })
}

/** Lists the shared ensembles and tools that match a query. */
export function answerCapabilityQuery(
  { requestId, toolName, tag, capabilityType }: CapabilityQuery,
  { options, send }: ExtensionConnection,
): void {
  const fits = ({ name, type, tags = [] }: SharedCapability): boolean =>
    (toolName === undefined || (type === 'TOOL' && name === toolName)) &&
    (tag === undefined || tags.includes(tag)) &&
    (capabilityType === undefined || type === capabilityType)
  send({
    type: 'capability_response',
    requestId,
    ensemble: options.runs.ensembles[0]?.name ?? '',
    capabilities: sharedCapabilities(options).filter(fits),
  })
}
