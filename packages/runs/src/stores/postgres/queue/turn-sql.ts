/**
 * The turns of runs that wait to be claimed for the first time: start-time fair queueing without counters.
 *
 * A queue has the new runs of one claim key and one priority, in the order of their turns. A new run gets the turn of the
 * first run of its queue, so that it waits for one run of each fairness key, or one more than the last run of the same key, so
 * that the keys take turns. In an empty queue it gets the present in milliseconds since 1970.
 *
 * Turns are computed without a lock. Runs that are stored at the same time can get equal turns; then the one that is due
 * first comes first. In an empty queue their turns differ by the milliseconds between them, and one key gets as many more turns.
 * A queue that is emptied faster than by a run each millisecond can begin again before its last turn; then claims find its
 * runs when they start over. A run keeps its turn when it moves to another queue. A delayed run has no turn, which is 0, also
 * when a command makes it ready before its time: it is then the first of its queue.
 */
import {
  CLAIM_CLASS,
  CLAIM_KEY,
  FAIRNESS_KEY,
  FIRST_NEW_CLASS,
  LEVEL,
  NEW_AND_READY,
  UNOWNED,
} from '../schema/claim-key-sql.ts'
import { CREATED_STATE } from './creation-claim.ts'

/**
 * Returns the query `queued`: the rows of new runs in `source`, with the state of those that have no owner, and with the
 * columns that {@link TURN} reads. `isClaimed` is the condition of a row that has an owner.
 */
export function queuedSql(source: string, isClaimed: string): string {
  return `queued AS MATERIALIZED (
      SELECT *, ${CREATED_STATE} AS waiting_state, ${CLAIM_KEY} AS claim_key, ${LEVEL} AS level, ${FAIRNESS_KEY} AS own_key,
        row_number() OVER (PARTITION BY ${isClaimed}, ${CLAIM_KEY}, ${LEVEL}, ${FAIRNESS_KEY} ORDER BY place) - 1 AS before
      FROM ${source})`
}

/** The turn of a row of {@link queuedSql} that has no owner. */
export const TURN = `CASE WHEN waiting_state = 'parked' THEN 0 ELSE before + coalesce((
    SELECT greatest(turn, 1 + (
      SELECT turn FROM $schema.runs
      WHERE ${NEW_AND_READY} AND ${CLAIM_KEY} = claim_key AND ${LEVEL} = level AND ${FAIRNESS_KEY} = own_key
        AND turn >= head.turn ORDER BY turn DESC LIMIT 1))
    FROM (
      SELECT turn FROM $schema.runs
      WHERE ${UNOWNED} AND ${CLAIM_KEY} = claim_key AND ${CLAIM_CLASS} = ${FIRST_NEW_CLASS} + level AND turn > 0
      ORDER BY turn, due_at, id LIMIT 1) AS head
  ), (extract(epoch FROM statement_timestamp()) * 1000)::int8) END`
