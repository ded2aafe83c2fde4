/**
 * The claim of runs at their creation (RUNS-P15): the process that stores a run owns it from the start, so that no other
 * statement, and no other process, has to find it. The claim is part of the statement that stores the runs.
 */
import { CLAIM_KEY, hasDueSql, UNOWNED } from '../schema/claim-key-sql.ts'
import { listClaimKeys } from '../../../domain/claim-key.ts'
import { finiteOrNull } from '../../shared/query-numbers.ts'
import { toColumn } from '../database/text.ts'
import { lockSlotsSql } from './claim-sql.ts'
import { claimedCodeSql } from '../../shared/tables/build-store.ts'
import { claimLeaseSql } from './leases.ts'

import type { Claimant } from '../../../ports/run-store.ts'
import type { AddValue } from '../../shared/schema/dialect.ts'

/** The columns of a new run that waits for an owner: values of {@link CREATED_DUE} and of `turn-sql.ts`. */
export const CREATED_WAITING = ['state', 'due_at', 'turn'] as const

/** The state of a new run without an owner, and the time from which it is due (RUNS-L18). */
export const CREATED_STATE = `CASE WHEN start_at > extract(epoch FROM clock_timestamp()) * 1000 THEN 'parked' ELSE 'ready' END`
export const CREATED_DUE = 'greatest(clock_timestamp(), to_timestamp(start_at / 1000))'

/** The columns of a new run that a claim sets. */
export const CREATED_OWNED = [
  'state',
  'epoch',
  'owner',
  'due_at',
  'claimed_at',
  'slot',
  'turn',
] as const

/** Input of {@link creationClaimSql}. */
export interface CreationClaim {
  readonly claimant: Claimant
  /** Number of runs to claim: the first ones of the statement. */
  readonly wanted: number
  /** First slot to use. */
  readonly fromSlot: number
}

/** SQL of a claim at the creation of runs. */
export interface CreationClaimSql {
  /** Queries before the insertion: `placed` has the rows of `given` with `is_claimed` and `slot`. */
  readonly before: string
  /** Values of {@link CREATED_OWNED} for a row of `placed`, apart from the turn. */
  readonly owned: string
  /** Value of the column `code`, and of `build`, for a row of `placed`. */
  readonly code: string
  readonly build: string
  /** Queries after the insertion `new_run`. */
  readonly after: string
}

/**
 * Returns the parts of the statement that stores the rows `given`, in the order of their `place`, and claims the first of
 * them: as many as there are free slots, and none while another run is due that the claimant could take, or while its lease
 * has expired.
 */
export function creationClaimSql(
  { claimant, wanted, fromSlot }: CreationClaim,
  add: AddValue,
): CreationClaimSql {
  const { leaseMs, idleLeaseMs = leaseMs, hasFreeSlot, maxConcurrentRuns, code } = claimant
  const keys = listClaimKeys(code?.codes ?? {}).map(toColumn)
  const owner = `${add(toColumn(claimant.owner))}::text`
  const limit = `${add(finiteOrNull(maxConcurrentRuns))}::int8`
  const ensembles = `${add(keys)}::text[]`
  const build = `${add(code === undefined ? null : toColumn(code.build))}::text`
  const lease = {
    owner,
    leaseMs: `${add(finiteOrNull(leaseMs))}::float8`,
    idleLeaseMs: `${add(finiteOrNull(idleLeaseMs))}::float8`,
    hasFreeSlot: `${add(hasFreeSlot)}::bool`,
    ensembles,
    build,
    hasClaimed: 'EXISTS (SELECT FROM new_run WHERE owner IS NOT NULL)',
  }
  const count = `${add(wanted)}::int8`
  return {
    before: `, waiting AS MATERIALIZED (
      SELECT CASE WHEN EXISTS (
          SELECT FROM $schema.leases WHERE owner = ${owner} AND expires_at <= statement_timestamp())
        OR EXISTS (
          SELECT FROM unnest(${ensembles}) AS known (key)
          WHERE EXISTS (SELECT FROM $schema.runs WHERE ${UNOWNED} AND ${CLAIM_KEY} = key)
            AND ${hasDueSql('$schema', 'key', { suspects: false })})
        THEN 0 ELSE ${count} END AS runs
    ), ${lockSlotsSql('$schema', { limit, from: `${add(fromSlot)}::int8` })}, placed AS MATERIALIZED (
      SELECT given.*, free.n AS slot, given.place <= CASE WHEN ${limit} IS NULL THEN waiting.runs
        ELSE least(waiting.runs, (SELECT count(*) FROM free) - (SELECT runs FROM beyond)) END AS is_claimed
      FROM waiting CROSS JOIN given LEFT JOIN free USING (place)
    )`,
    owned: `CASE WHEN is_claimed THEN 'owned' ELSE waiting_state END, is_claimed::int4,
      CASE WHEN is_claimed THEN ${owner} END, CASE WHEN NOT is_claimed THEN ${CREATED_DUE} END,
      CASE WHEN is_claimed THEN clock_timestamp() END, CASE WHEN is_claimed THEN slot END`,
    code: `CASE WHEN is_claimed THEN ${claimedCodeSql(`${add(JSON.stringify(code?.codes ?? {}))}::jsonb ->> ensemble`)} ELSE code END`,
    build: `CASE WHEN is_claimed THEN coalesce(${build}, build) ELSE build END`,
    after: `, taken AS (
      UPDATE $schema.slots SET run = new_run.id FROM new_run
      WHERE slots.n = new_run.slot AND slots.n = ANY (ARRAY(SELECT n FROM free))
    ), ${claimLeaseSql('$schema', lease)}`,
  }
}
