/** Reads a run and its events for the export formats of AgentEnsemble. */
import { TuttiError } from '@tutti/core'
import { findRecord, type Caller, type GatewayOptions } from '@tutti/gateway/internal'
import type { RunRecord } from '@tutti/runs/adapter'
import { eventPages, eventSize } from '@tutti/runs/internal'

import { buildDagModel } from './dag-model.ts'
import { buildExecutionTrace } from './execution-trace.ts'

import type { LoggedRunEvent } from '@tutti/protocol'
import type { DagModel, ExecutionTrace } from '@tutti/protocol/internal'

/** Parts of the server, and the maximum size of the events behind a trace, in bytes. */
interface TraceOptions extends Pick<GatewayOptions, 'runs' | 'clock' | 'redactor'> {
  readonly maxTraceBytes: number
}

/**
 * Returns the trace of a run as of now.
 *
 * @throws {TuttiError} RUN_NOT_FOUND when the run does not exist, FORBIDDEN when the caller may not read it, PAYLOAD_TOO_LARGE
 * beyond `maxTraceBytes`.
 */
export async function readRunTrace(
  options: TraceOptions,
  runId: string,
  caller: Caller,
): Promise<ExecutionTrace> {
  const { clock } = options
  const { run, events } = await readRun(options, runId, caller)
  return buildExecutionTrace(run, events, clock.now())
}

/**
 * Returns the task graph of a run as of now.
 *
 * @throws {TuttiError} RUN_NOT_FOUND when the run does not exist, FORBIDDEN when the caller may not read it, PAYLOAD_TOO_LARGE
 * beyond `maxTraceBytes`.
 */
export async function readRunDag(
  options: TraceOptions,
  runId: string,
  caller: Caller,
): Promise<DagModel> {
  const { run, events } = await readRun(options, runId, caller)
  const now = options.clock.now()
  return buildDagModel(buildExecutionTrace(run, events, now), events, now)
}

async function readRun(
  { runs, redactor, maxTraceBytes }: TraceOptions,
  runId: string,
  caller: Caller,
): Promise<{ readonly run: RunRecord; readonly events: readonly LoggedRunEvent[] }> {
  const run = await findRecord(runs, runId, caller)
  const events: LoggedRunEvent[] = []
  let bytes = 0
  for await (const page of eventPages(runs, { runId, from: 0 })) {
    for (const event of page) {
      // Later events are skipped, so that record and events describe the same moment.
      if (event.type === 'token' || event.type === 'reasoning') continue
      if (event.seq > run.lastSeq) continue
      events.push(event)
      bytes += eventSize(event)
    }
    if (bytes > maxTraceBytes) throw tooLarge(run, maxTraceBytes)
    if ((page.at(-1)?.seq ?? run.lastSeq) >= run.lastSeq) break
  }
  // Events are stored without secrets. The record contains those of inputs and tags.
  return { run: redactor.value(run), events }
}

function tooLarge({ runId }: RunRecord, maxTraceBytes: number): TuttiError {
  return new TuttiError(
    'PAYLOAD_TOO_LARGE',
    `The events of run ${runId} exceed ${maxTraceBytes} bytes, the limit for a trace; ` +
      `read them with GET /api/runs/${runId}/events`,
  )
}
