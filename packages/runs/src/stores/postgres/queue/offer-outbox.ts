/**
 * The offers that have not reached the engine of a Postgres store. A trigger of the migration stores them, in the
 * transaction that makes a run ready. It does so only while an engine is in use: a process with one enables it for a day.
 */
import { CLAIM_KEY } from '../schema/claim-key-sql.ts'
import { fromColumn } from '../database/text.ts'

import type { OfferOutbox, StoredOffer } from '../../../ports/dispatcher.ts'
import type { Database } from '../database/database.ts'

/** Lets the commit not wait for the disk: if it is lost, an offer is sent again, which is harmless. */
const DOES_NOT_WAIT = `set_config('synchronous_commit', 'off', true)`

/** Duration of a claim of an offer, in milliseconds. */
const CLAIM_MS = 1_000

/** The outbox of a Postgres store. */
export class PostgresOfferOutbox implements OfferOutbox {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** Makes the store keep offers from now on. */
  async open(): Promise<void> {
    const { schema } = this.#database
    await this.#database.query(
      `INSERT INTO ${schema}.offering (id, until) VALUES (1, clock_timestamp() + interval '1 day')
       ON CONFLICT (id) DO UPDATE SET until = excluded.until`,
    )
  }

  async claim(limit: number): Promise<readonly StoredOffer[]> {
    const { schema } = this.#database
    const rows = await this.#database.query(
      `WITH prolonged AS (
         UPDATE ${schema}.offering SET until = clock_timestamp() + interval '1 day'
         WHERE until < clock_timestamp() + interval '12 hours'
       ), due AS MATERIALIZED (
         SELECT offers.id, state = 'ready' AS is_ready
         FROM ${schema}.offers JOIN ${schema}.runs ON runs.id = run
         WHERE offers.due_at <= clock_timestamp()
         ORDER BY offers.id LIMIT $1 FOR UPDATE OF offers SKIP LOCKED
       ), claimed AS (
         UPDATE ${schema}.offers SET due_at = clock_timestamp() + ${CLAIM_MS} * interval '1 millisecond'
         FROM due WHERE offers.id = due.id AND is_ready RETURNING offers.id, run, offers.token
       ), outdated AS (
         DELETE FROM ${schema}.offers USING due WHERE offers.id = due.id AND NOT is_ready
       )
       SELECT ${DOES_NOT_WAIT}, claimed.id || ':' || claimed.token AS offer_id, run_id, epoch, ${CLAIM_KEY} AS claim_key
       FROM claimed JOIN ${schema}.runs ON runs.id = run ORDER BY claimed.id`,
      [limit],
    )
    return rows.map((row) => ({
      offerId: String(row['offer_id']),
      runId: fromColumn(String(row['run_id'])),
      epoch: Number(row['epoch']),
      claimKey: fromColumn(String(row['claim_key'])),
    }))
  }

  async settle(offers: readonly StoredOffer[]): Promise<void> {
    const { schema } = this.#database
    await this.#database.query(
      `WITH settled AS (
         DELETE FROM ${schema}.offers USING unnest($1::text[]) AS offer (id)
         WHERE offers.id = split_part(offer.id, ':', 1)::int8
           AND offers.token = split_part(offer.id, ':', 2)::uuid
       )
       SELECT ${DOES_NOT_WAIT}`,
      [offers.map(({ offerId }) => offerId)],
    )
  }
}
