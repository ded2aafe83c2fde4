/** A short run as its log contains it, and a handler that serves a log like the server. */
import type { LoggedRunEvent, RunDetail, RunEvent } from '@tutti/protocol'

import type { Exchange } from './wire-server.ts'

/** Id of the run of all samples. */
export const RUN_ID = 'run-1'

/** Path to the events of the sample run. */
export const EVENTS_PATH = `/api/runs/${RUN_ID}/events`

const INSTANT = '2026-01-01T00:00:00.000Z'

/** A token of the sample run. */
export function token(text: string): RunEvent {
  return {
    type: 'token',
    token: text,
    agentRole: 'Writer',
    taskDescription: 'Write',
    sentAt: INSTANT,
    taskName: 'write',
    taskIndex: 1,
    attempt: 1,
    iterationIndex: 0,
  }
}

/** The end of the sample run. */
export const RESULT: RunEvent = {
  type: 'run_result',
  runId: RUN_ID,
  status: 'COMPLETED',
  outputs: [{ taskName: 'write', output: 'Grüße, 世界 🎻' }],
  durationMs: 12,
}

/** Adds the run, the number and the id to events, starting with `firstSeq`. */
export function logged(events: readonly RunEvent[], firstSeq = 0): LoggedRunEvent[] {
  return events.map((event, index) => {
    const seq = firstSeq + index
    return { ...event, runId: RUN_ID, seq, id: `${RUN_ID}:${seq}` }
  })
}

/** The log of the sample run, from `run_queued` to `run_result`. */
export const LOG: readonly LoggedRunEvent[] = logged([
  {
    type: 'run_queued',
    queuedAt: INSTANT,
    ensemble: 'sample',
    workflow: 'SEQUENTIAL',
    totalTasks: 1,
    inputs: {},
    tags: {},
  },
  token('Grüße, '),
  token('世界 '),
  token('🎻'),
  RESULT,
])

/** The sample run after its end. */
export const ENDED: RunDetail = {
  runId: RUN_ID,
  status: 'COMPLETED',
  startedAt: '2026-01-01T00:00:00.000Z',
  workflow: 'SEQUENTIAL',
  inputs: {},
  tags: {},
  tasks: [],
  metrics: { totalTokens: 0, totalToolCalls: 0 },
  pendingReviews: [],
  ensemble: 'sample',
  lastSeq: 4,
}

/** Encodes an event as the server does. */
export function frame(event: LoggedRunEvent): string {
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

/** Encodes several events as the server does. */
export function frames(events: readonly LoggedRunEvent[]): string {
  return events.map(frame).join('')
}

/** Returns the events that a request selects, by the rules of the server. */
export function asked(
  log: readonly LoggedRunEvent[],
  { query, lastEventId }: Exchange,
): LoggedRunEvent[] {
  const types = query.get('events')?.split(',')
  const from = lastEventId === undefined ? Number(query.get('from') ?? 0) : seqOf(lastEventId) + 1
  const first = from < 0 ? Math.max(0, log.length + from) : from
  return log
    .filter(({ seq }) => seq >= first)
    .filter(({ type }) => types === undefined || types.includes(type))
}

function seqOf(id: string): number {
  return Number(id.slice(id.indexOf(':') + 1))
}

/** Returns all events of a loop. */
export async function collect<T>(events: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = []
  for await (const event of events) collected.push(event)
  return collected
}
