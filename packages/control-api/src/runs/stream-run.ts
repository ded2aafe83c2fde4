/** Answers with the events of a run over SSE. */
import type { LoggedRunEvent, RunEvent } from '@tutti/protocol'
import { MAX_PROBLEMS, RUN_EVENT_TYPES, shortText, suggest } from '@tutti/protocol/internal'
import {
  badRequest,
  runEventsEncoder,
  STREAM_HEADERS,
  type StreamAnswer,
} from '@tutti/gateway/internal'

import { trackReader, type LiveReader } from '../metrics/live-reader.ts'

import type { ResolvedControlApiOptions } from '../options.ts'

/** Events of a run and the ones to send. */
export interface RunStream {
  readonly runId: string
  readonly batches: AsyncIterator<readonly LoggedRunEvent[]>
  readonly wants: TypeFilter
  /** Whether the reader restores texts that were sent before. */
  readonly omitsRepeats: boolean
  /** Headers in addition to those of every stream. @default none */
  readonly headers?: Readonly<Record<string, string>>
}

/** Answers with the events of a run until it ends or the reader leaves. */
export function streamRun(
  { clock, heartbeatMs, logger, metrics, runs, unread }: ResolvedControlApiOptions,
  { runId, batches, wants, omitsRepeats, headers }: RunStream,
): StreamAnswer {
  let reader: LiveReader | undefined
  const encoder = runEventsEncoder({
    wants,
    omitsRepeats,
    given(sent) {
      reader?.recordDelivery(sent)
    },
    onError(error) {
      logger.warn('Closed an event stream early: failed to read its events', { runId, error })
    },
  })
  const watch = {
    begun() {
      const { instruments } = metrics
      reader = trackReader({ instruments, clock: runs.clock, transport: 'sse' })
    },
    over: () => reader?.end(),
  }
  const parts = { batches, encoder, clock, heartbeatMs, watch, unread }
  return { headers: { ...STREAM_HEADERS, ...headers }, parts }
}

/** Returns whether a reader wants events of a type. */
export type TypeFilter = (type: RunEvent['type']) => boolean

/**
 * Returns the filter of a comma-separated list of event types. Without a list, and with an empty list or `*`, every event
 * passes.
 *
 * @throws {TuttiError} BAD_REQUEST naming up to {@link MAX_PROBLEMS} unknown types, each with the similar one or else with the
 * known ones.
 */
export function createTypeFilter(list: string | undefined): TypeFilter {
  const names = (list ?? '').split(',').map((name) => name.trim())
  const wanted = new Set(names.filter((name) => name !== ''))
  const unknown = [...wanted].filter(
    (name) => name !== '*' && !RUN_EVENT_TYPES.some((type) => type === name),
  )
  if (unknown.length > 0) {
    const problems = unknown
      .slice(0, MAX_PROBLEMS)
      .map((name) => ({ path: '/events', message: describeUnknown(name) }))
    throw badRequest('query', problems)
  }
  return wanted.size === 0 || wanted.has('*') ? () => true : (type) => wanted.has(type)
}

function describeUnknown(name: string): string {
  const meant = suggest(name, RUN_EVENT_TYPES)
  const hint =
    meant === undefined ? `known are ${RUN_EVENT_TYPES.join(', ')}` : `did you mean "${meant}"?`
  return `has the unknown event type "${shortText(name)}": ${hint}`
}
