/** The webhook outbox of the embedded store. */
import { formatDeliveryId, parseDeliveryId } from '../record-fields.ts'

import type {
  ClaimDeliveries,
  ClaimedDelivery,
  DeliveryEnd,
  WebhookOutbox,
} from '../ports/webhook-outbox.ts'
import type { SqliteRow } from './rows.ts'
import type { SqliteParts } from './sqlite-parts.ts'
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

  constructor(parts: SqliteParts) {
    const { database } = parts
    this.#parts = parts
    this.#due = database.prepare(
      `SELECT n, run_id, seq, webhook, attempt + 1 AS attempt FROM deliveries
         JOIN runs ON runs.id = run
       WHERE deliveries.due_at <= ? ORDER BY deliveries.due_at, n LIMIT ?`,
    )
    this.#take = database.prepare('UPDATE deliveries SET due_at = ?, attempt = ? WHERE n = ?')
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
      const due = this.#due.all(now, Math.min(limit, Number.MAX_SAFE_INTEGER))
      for (const { n, attempt } of due) {
        this.#take.run(toInstant(now + claimMs), Number(attempt), Number(n))
      }
      return due.map(toDelivery)
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

function toDelivery(row: SqliteRow): ClaimedDelivery {
  const parts = {
    runId: String(row['run_id']),
    seq: Number(row['seq']),
    webhook: String(JSON.parse(String(row['webhook']))),
  }
  return { id: formatDeliveryId(parts), ...parts, attempt: Number(row['attempt']) }
}
