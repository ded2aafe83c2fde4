/**
 * The webhook outbox. `due_at` is the time from which a delivery may be claimed; while it is claimed, that is the end of
 * its claim. NULL means never. The clock of the store measures instants.
 */
import { ColumnReader, type StoredRow } from '../column-reader.ts'
import { clampCount, finiteOrNull } from '../query-numbers.ts'
import { formatDeliveryId, parseDeliveryId, UNREADABLE_WEBHOOK } from '../record-fields.ts'

import type { ClaimedDelivery, WebhookOutbox } from '../../../ports/webhook-outbox.ts'
import type { StoreParts } from '../schema/dialect.ts'
import type { StoredTexts } from '../schema/columns.ts'

/**
 * Claims up to `limit` deliveries that are due, the longest due first, for `claimMs` milliseconds, or for ever if that is
 * null. Returns their `run`, `run_id`, `seq`, `webhook` and `attempt`.
 */
export type ClaimDue = (limit: number, claimMs: number | null) => Promise<readonly StoredRow[]>

/** Returns the outbox of a database. */
export function webhookOutbox(
  { dialect: { texts, duration }, requests }: Pick<StoreParts, 'dialect' | 'requests'>,
  claimDue: ClaimDue,
): WebhookOutbox {
  const { id: toId, text: toText } = texts.encode
  return {
    async claim({ limit, claimMs }) {
      const rows = await claimDue(clampCount(limit), roundUp(claimMs))
      const read = rows.map((row) => ({ row, delivery: readDelivery(texts, row) }))
      for (const { row, delivery } of read) {
        if (delivery !== undefined) continue
        // Ended, so that it is not claimed again.
        await requests.query(
          `UPDATE $schema.deliveries SET due_at = NULL, outcome = 'given_up', reason = $4
           WHERE run = $1 AND seq = $2 AND webhook = $3`,
          [row['run'], row['seq'], row['webhook'], toText(UNREADABLE_WEBHOOK)],
        )
      }
      return read.flatMap(({ delivery }) => delivery ?? [])
    },
    async settle({ id, attempt }, end) {
      const parts = parseDeliveryId(id)
      if (parts === undefined) return
      const isRetry = end.kind === 'retry'
      await requests.query(
        `UPDATE $schema.deliveries
         SET due_at = $now + ${duration('$5')}, outcome = $6, reason = coalesce($7, reason)
         FROM $schema.runs
         WHERE runs.id = run AND run_id = $1 AND seq = $2 AND webhook = $3 AND attempt = $4
           AND outcome IS NULL`,
        [
          toId(parts.runId),
          parts.seq,
          toText(parts.webhook),
          attempt,
          isRetry ? roundUp(end.dueInMs) : null,
          isRetry ? null : end.kind,
          end.kind === 'done' ? null : toText(end.reason),
        ],
      )
    },
  }
}

function roundUp(ms: number): number | null {
  return finiteOrNull(Math.ceil(ms))
}

/** Reads a delivery; undefined when the name of its webhook is damaged. */
function readDelivery(texts: StoredTexts, row: StoredRow): ClaimedDelivery | undefined {
  const webhook = new ColumnReader(row).text('webhook', texts.text)
  if (webhook === undefined) return undefined
  const runId = String(texts.id(String(row['run_id'])))
  const parts = { runId, seq: Number(row['seq']), webhook }
  return { id: formatDeliveryId(parts), ...parts, attempt: Number(row['attempt']) }
}
