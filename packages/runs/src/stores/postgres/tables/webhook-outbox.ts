/** The webhook outbox in Postgres. */
import { ColumnReader, type StoredRow } from '../../shared/column-reader.ts'
import {
  formatDeliveryId,
  parseDeliveryId,
  UNREADABLE_WEBHOOK,
} from '../../shared/record-fields.ts'
import { clampCount, finiteOrNull } from '../../shared/query-numbers.ts'
import { fromColumn, toColumn } from '../database/text.ts'

import type {
  ClaimDeliveries,
  ClaimedDelivery,
  DeliveryEnd,
  WebhookOutbox,
} from '../../../ports/webhook-outbox.ts'
import type { PostgresParts } from '../rows/parts.ts'

/**
 * The outbox of a Postgres store. `due_at` is the time from which a delivery may be claimed; while it is claimed, that is
 * the end of its claim. NULL means never. The clock of the database measures instants.
 */
export class PostgresWebhookOutbox implements WebhookOutbox {
  readonly #parts: PostgresParts

  constructor(parts: PostgresParts) {
    this.#parts = parts
  }

  /** Skips deliveries that another process is claiming or settling. */
  async claim({ limit, claimMs }: ClaimDeliveries): Promise<readonly ClaimedDelivery[]> {
    const { requests } = this.#parts
    const { schema } = requests
    const rows = await requests.query(
      `WITH due AS (
         SELECT id, due_at FROM ${schema}.deliveries WHERE due_at <= statement_timestamp()
         ORDER BY due_at, id LIMIT $1 FOR UPDATE SKIP LOCKED
       ), claimed AS (
         UPDATE ${schema}.deliveries SET attempt = attempt + 1,
           due_at = clock_timestamp() + $2 * interval '1 millisecond'
         FROM due WHERE deliveries.id = due.id
         RETURNING deliveries.id, run, seq, webhook, attempt, due.due_at AS was_due
       )
       SELECT claimed.id, run_id, seq, webhook, attempt FROM claimed JOIN ${schema}.runs ON runs.id = run
       ORDER BY was_due, claimed.id`,
      [clampCount(limit), finiteOrNull(claimMs)],
    )
    const read = rows.map((row) => ({ row, delivery: toDelivery(row) }))
    const damaged = read.filter(({ delivery }) => delivery === undefined)
    if (damaged.length > 0) {
      // Ended, so that they are not claimed again.
      await requests.query(
        `UPDATE ${schema}.deliveries SET due_at = NULL, outcome = 'given_up', reason = $2
         WHERE id = ANY($1)`,
        [damaged.map(({ row }) => row['id']), toColumn(UNREADABLE_WEBHOOK)],
      )
    }
    return read.flatMap(({ delivery }) => delivery ?? [])
  }

  async settle(
    { id, attempt }: Pick<ClaimedDelivery, 'id' | 'attempt'>,
    end: DeliveryEnd,
  ): Promise<void> {
    const parts = parseDeliveryId(id)
    if (parts === undefined) return
    const { requests } = this.#parts
    const isRetry = end.kind === 'retry'
    await requests.query(
      `UPDATE ${requests.schema}.deliveries
       SET due_at = clock_timestamp() + $5 * interval '1 millisecond', outcome = $6,
         reason = coalesce($7, reason)
       FROM ${requests.schema}.runs
       WHERE runs.id = run AND run_id = $1 AND seq = $2 AND webhook = $3 AND attempt = $4
         AND outcome IS NULL`,
      [
        toColumn(parts.runId),
        parts.seq,
        toColumn(parts.webhook),
        attempt,
        isRetry ? finiteOrNull(end.dueInMs) : null,
        isRetry ? null : end.kind,
        end.kind === 'done' ? null : toColumn(end.reason),
      ],
    )
  }
}

/** Reads a delivery; undefined when the name of its webhook is damaged. */
function toDelivery(row: StoredRow): ClaimedDelivery | undefined {
  const webhook = new ColumnReader(row).text('webhook', fromColumn)
  if (webhook === undefined) return undefined
  const parts = { runId: fromColumn(String(row['run_id'])), seq: Number(row['seq']), webhook }
  return { id: formatDeliveryId(parts), ...parts, attempt: Number(row['attempt']) }
}
