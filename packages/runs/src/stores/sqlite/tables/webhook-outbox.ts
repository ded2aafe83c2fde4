/** The webhook outbox of the embedded store. */
import { clampCount } from '../../shared/query-numbers.ts'
import { ColumnReader, type StoredRow } from '../../shared/column-reader.ts'
import {
  formatDeliveryId,
  parseDeliveryId,
  UNREADABLE_WEBHOOK,
} from '../../shared/record-fields.ts'

import type {
  ClaimDeliveries,
  ClaimedDelivery,
  DeliveryEnd,
  WebhookOutbox,
} from '../../../ports/webhook-outbox.ts'
import type { SqliteParts } from '../rows/parts.ts'
import type { StatementSync } from 'node:sqlite'

/**
 * The outbox over an open database. `due_at` is the time from which a delivery may be claimed; while it is claimed, that
 * is the end of its claim. NULL means never.
 */
export class SqliteWebhookOutbox implements WebhookOutbox {
  readonly #parts: SqliteParts
  readonly #due: StatementSync
  readonly #take: StatementSync
  readonly #settle: StatementSync
  /** Ends a delivery that cannot be read, so that it is not claimed again. */
  readonly #abandon: StatementSync

  constructor(parts: SqliteParts) {
    const { database } = parts
    this.#parts = parts
    this.#due = database.prepare(
      `SELECT n, run_id, seq, webhook, attempt + 1 AS attempt FROM deliveries
         JOIN runs ON runs.id = run
       WHERE deliveries.due_at <= ? ORDER BY deliveries.due_at, n LIMIT ?`,
    )
    this.#take = database.prepare('UPDATE deliveries SET due_at = ?, attempt = ? WHERE n = ?')
    this.#abandon = database.prepare(
      `UPDATE deliveries SET due_at = NULL, outcome = 'given_up', reason = ? WHERE n = ?`,
    )
    this.#settle = database.prepare(
      `UPDATE deliveries SET due_at = ?, outcome = ?, reason = coalesce(?, reason)
       WHERE run = (SELECT id FROM runs WHERE run_id = ?) AND seq = ? AND webhook = ?
         AND attempt = ? AND outcome IS NULL`,
    )
  }

  async claim({ limit, claimMs }: ClaimDeliveries): Promise<readonly ClaimedDelivery[]> {
    const { clock, transaction } = this.#parts
    return transaction(() => {
      const now = clock.now()
      const due = this.#due.all(now, clampCount(limit))
      for (const { n, attempt } of due) {
        this.#take.run(toInstant(now + claimMs), Number(attempt), Number(n))
      }
      return due.flatMap((row) => {
        const delivery = toDelivery(row)
        if (delivery === undefined) this.#abandon.run(UNREADABLE_WEBHOOK, Number(row['n']))
        return delivery ?? []
      })
    })
  }

  async settle(
    { id, attempt }: Pick<ClaimedDelivery, 'id' | 'attempt'>,
    end: DeliveryEnd,
  ): Promise<void> {
    const parts = parseDeliveryId(id)
    if (parts === undefined) return
    const { runId, seq, webhook } = parts
    const isRetry = end.kind === 'retry'
    this.#settle.run(
      isRetry ? toInstant(this.#parts.clock.now() + end.dueInMs) : null,
      isRetry ? null : end.kind,
      end.kind === 'done' ? null : JSON.stringify(end.reason),
      runId,
      seq,
      JSON.stringify(webhook),
      attempt,
    )
  }
}

/** Rounds an instant up to whole milliseconds; returns null for Infinity. */
function toInstant(ms: number): number | null {
  return ms === Infinity ? null : Math.ceil(ms)
}

/** Reads a delivery; undefined when the name of its webhook is damaged. */
function toDelivery(row: StoredRow): ClaimedDelivery | undefined {
  const webhook = new ColumnReader(row).text('webhook', (json) => JSON.parse(json))
  if (webhook === undefined) return undefined
  const parts = { runId: String(row['run_id']), seq: Number(row['seq']), webhook }
  return { id: formatDeliveryId(parts), ...parts, attempt: Number(row['attempt']) }
}
