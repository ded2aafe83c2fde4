/**
 * Checks what processes sent to others: text of streams, webhooks, and their health. Pure.
 *
 * CHAOS-P4 The text of each event in a live stream equals its text when it is read afterwards.
 * CHAOS-W1 The webhook of a run has accepted the notification of its end, or will get it again.
 * CHAOS-W2 A notification belongs to an event of a run with the webhook, and has its type.
 * CHAOS-W3 The times of the notifications of a run have the order of its events.
 * CHAOS-H1 A process is not ready while its store is unavailable, and ready again afterwards.
 * CHAOS-H2 It is live meanwhile.
 */
import { findGoneRuns, mayRestOnLost } from './lost-changes.ts'

import type { Evidence, KeptRun } from './evidence.ts'
import type { LoggedRunEvent } from '@tutti/protocol'

/** Returns the violations, one sentence each. */
export function judgeOutside(evidence: Evidence): readonly string[] {
  return [...judgeText(evidence), ...judgeWebhooks(evidence), ...judgeHealth(evidence)]
}

function judgeText(evidence: Evidence): readonly string[] {
  const gone = findGoneRuns(evidence)
  const afterwards = new Map(evidence.readAfterwards.map((read) => [read.runId, read]))
  return evidence.streams.flatMap(({ runId, events }) => {
    const read = afterwards.get(runId)
    if (read === undefined || gone.has(runId)) return []
    if (read.status !== 200) return [`P4 its stream is answered with ${read.status}: ${runId}`]
    const wrong = events.find(
      ({ id, text, at }) => read.texts.get(id) !== text && !mayRestOnLost(evidence, at),
    )
    if (wrong === undefined) return []
    return [`P4 was live ${wrong.text} and is ${read.texts.get(wrong.id)}: ${runId}`]
  })
}

/** Returns the id of a notification of an event. */
function deliveryId(runId: string, seq: number): string {
  return `${runId}:${seq}:chaos`
}

function judgeWebhooks(evidence: Evidence): readonly string[] {
  const { runs, deliveries, openDeliveries, submitted } = evidence
  const violations: string[] = []
  const keys = new Set(
    submitted.flatMap(({ planned }) =>
      planned.hasWebhook === true ? [planned.idempotencyKey] : [],
    ),
  )
  const notifying = new Map(
    runs.flatMap((run) => (keys.has(run.idempotencyKey) ? [[run.runId, run] as const] : [])),
  )
  const accepted = new Set(deliveries.flatMap(({ id, isAccepted }) => (isAccepted ? [id] : [])))
  for (const { runId, lastSeq } of notifying.values()) {
    const id = deliveryId(runId, lastSeq)
    if (accepted.has(id) || openDeliveries.includes(id)) continue
    violations.push(`W1 the webhook has not accepted the end of the run: ${runId}`)
  }
  const gone = findGoneRuns(evidence)
  for (const { id, type, runId, at } of deliveries) {
    if (gone.has(runId) || mayRestOnLost(evidence, at)) continue
    const events = notifying.get(runId)?.events ?? []
    const event = events.find(({ seq }) => deliveryId(runId, seq) === id)
    if (event === undefined || typeOf(event) !== type) violations.push(`W2 ${type} was sent: ${id}`)
  }
  return [...violations, ...[...notifying.values()].flatMap((run) => judgeTimes(run, evidence))]
}

/** Returns the type of the notification of an event. */
function typeOf(event: LoggedRunEvent): string {
  if (event.type === 'run_result') return `run.${event.status.toLowerCase()}`
  return event.type === 'review_requested' ? 'review.requested' : 'none'
}

function judgeTimes({ runId, events }: KeptRun, { deliveries }: Evidence): readonly string[] {
  const times = events.flatMap(({ seq }) => {
    const sent = deliveries.find(({ id }) => id === deliveryId(runId, seq))
    return sent === undefined ? [] : [sent.eventAt]
  })
  return times.some((time, index) => time < (times[index - 1] ?? 0))
    ? [`W3 the notifications have the times ${times.join(', ')}: ${runId}`]
    : []
}

function judgeHealth({ health }: Evidence): readonly string[] {
  return health.flatMap(({ name, kind, wanted, ready, live }) => {
    const when = `${wanted === 200 ? 'after' : 'during'} ${kind}`
    return [
      ...(ready === wanted ? [] : [`H1 the readiness of ${name} is ${ready} ${when}`]),
      ...(live.length === 1 && live[0] === 200
        ? []
        : [`H2 the liveness of ${name} is ${live.join(', ') || 'unknown'} ${when}`]),
    ]
  })
}
