/**
 * The statement that claims due runs: no lock for all processes, no sort of all due runs, no sequential scan.
 *
 *   due runs ─▶ as many free slots ─▶ the first due runs of each ensemble ─▶ as many of the oldest ─▶ owned ─▶ own lease
 *
 * An index has the due runs of each ensemble by class (`CLAIM_CLASS`), each class in its order. The first of all are chosen
 * without a lock. Then as many as were chosen of a class and an ensemble are locked, from the first on; runs that another
 * claim has locked are skipped.
 *
 * A claim of several runs locks as many free slots as runs are due, because other claims skip them until it is committed.
 *
 * Runs that were claimed leave entries in the index until no transaction can see them, as leases do that were renewed. A
 * claim therefore starts at the last new run that this process claimed of each ensemble and class, and does not read other
 * leases. From time to time it starts at the first run. From time to time, and when a lease can have expired, it also
 * reads all leases.
 */
import { SUSPECT_LOSSES } from '../../../domain/suspects.ts'
import { claimedCodeSql } from '../../shared/tables/build-store.ts'
import { CLAIMED_STATUS } from '../../shared/waiting-status.ts'
import {
  CLAIM_CLASS,
  CLAIM_KEY,
  classesSql,
  foundKeysSql,
  hasDueSql,
  HELD,
  isStrandedSql,
  SEPARATOR,
  UNOWNED,
} from '../schema/claim-key-sql.ts'
import { claimLeaseSql, fleetSql, type ClaimedLease } from './leases.ts'

/** Columns that a claim sets; `$1` is the owner. */
export const TAKE = `
  state = 'owned', epoch = epoch + 1, token = gen_random_uuid(), write_no = 0, owner = $1,
  claimed_at = clock_timestamp(), waiting = false, due_at = NULL, turn = 0,
  status = ${CLAIMED_STATUS}`

/** The pending commands of a row of `runs`, as JSON: the oldest first. */
export function commandsSql(schema: string): string {
  return `(
    SELECT json_agg(json_build_object('command_id', command_id, 'command', command) ORDER BY commands.id)
    FROM ${schema}.commands WHERE commands.run = runs.id AND answer IS NULL)`
}

/** The form of the statement. */
export interface ClaimForm {
  /** Whether it looks at all leases, as one may have expired. */
  readonly looksAtAll: boolean
  /** Whether it finds the ensembles of all due runs. */
  readonly allEnsembles: boolean
}

/**
 * Builds the statement that claims due runs in their order (RUNS-L4).
 *
 * `$1` owner, `$2` its lease in milliseconds or null, `$3` wanted number, `$4` limit or null for none, `$5` known
 * ensembles or null for all, `$6` time in milliseconds that runs of other ensembles must be due, `$7` maximum number of
 * suspects, `$8` positions after which the search for new runs starts, as JSON, `$9` whether runs that were claimed before
 * come before new ones, `$10` first slot to use, `$11` whether it claims although a lease has expired, `$12` as `$2` for an
 * owner without runs, `$13` digests of the caller's codes by ensemble as JSON, or null, `$14` its build, or null.
 *
 * The ensembles are claim keys (`domain/claim-key.ts`); the name of an ensemble is one of them.
 *
 * It always returns a row: `room` (number of runs that it could take; the wanted one if there was a slot for each due run),
 * `remaining` (ensembles that have further due runs), if it finds all ensembles, `has_stranded` (whether a build check has
 * work), and if it looks at all leases, the columns of `fleetSql`, in which the own lease may have expired. The claimed
 * runs are in the other columns, in the order of `place`.
 */
export function claimSql(schema: string, how: ClaimForm): string {
  return `
    WITH ${how.allEnsembles ? allEnsembles(schema) : KNOWN_ENSEMBLES}, ${how.looksAtAll ? allLeases(schema) : NO_LEASES},
    ${POSITIONS}, candidates AS MATERIALIZED (
      SELECT ensemble, before, class, step, max_turn, ${FROM_POSITION}
      FROM ensembles CROSS JOIN ${classesSql('$9::bool')} LEFT JOIN positions USING (ensemble, class)
      WHERE class < 7 OR $7::int8 > 0
    ), waiting AS MATERIALIZED (
      SELECT CASE WHEN $3::int8 <= 1 THEN $3::int8 ELSE (
        SELECT count(*) FROM (
          SELECT FROM candidates AS group_ CROSS JOIN LATERAL (${firstSql(schema, '$3::int8')}) AS first
          WHERE EXISTS (SELECT FROM ${freeSlotsSql(schema, SLOTS)})
          LIMIT $3::int8) AS due) END AS runs
    ), ${roomSql(schema)}, groups AS MATERIALIZED (
      SELECT * FROM candidates WHERE (SELECT runs FROM room) > 0 OR $3::int8 = 0
    ), oldest AS (
      SELECT group_.*, first.id, ${HEAD_DUE_AT} AS head_due_at,
        row_number() OVER (PARTITION BY class ORDER BY first.due_at, first.id) AS in_class
      FROM groups AS group_ CROSS JOIN LATERAL (${firstSql(schema, '(SELECT runs + 1 FROM room)')}) AS first
    ), chosen AS MATERIALIZED (
      SELECT ensemble, before, class, step, max_turn, from_turn, from_due_at, from_id, count(*) AS runs FROM (
        SELECT * FROM oldest WHERE class < 7 OR in_class <= $7::int8
        ORDER BY step DESC, head_due_at, id LIMIT (SELECT runs FROM room)) AS first
      GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
    ), due AS MATERIALIZED (
      SELECT *, row_number() OVER (ORDER BY step DESC, head_due_at, ensemble, class, turn, due_at, id) AS place FROM (
        SELECT ensemble, class, step, first.*, ${HEAD_DUE_AT} AS head_due_at
        FROM chosen AS group_ CROSS JOIN LATERAL (
          ${firstSql(schema, 'group_.runs')} FOR UPDATE SKIP LOCKED) AS first) AS locked
    ), ${takeDueSql(schema)}
    SELECT fleet.*, (SELECT reported FROM room) AS room,
      ${how.allEnsembles ? hasStrandedSql(schema) : 'NULL'} AS has_stranded, claimed.*, ARRAY(
      SELECT ensemble FROM (
        SELECT ensemble, -count(*) AS runs FROM oldest GROUP BY ensemble
        UNION ALL SELECT ensemble, runs FROM chosen) AS found
      GROUP BY ensemble HAVING sum(runs) < 0) AS remaining
    FROM fleet LEFT JOIN claimed ON true ORDER BY place`
}

/** The positions that a claim has as parameter. */
const POSITIONS = `positions AS MATERIALIZED (
      SELECT * FROM json_to_recordset($8::json) AS position (
        ensemble text, class int4, turn int8, due_at timestamptz, id int8))`

/** The columns of the position, or of the one before all runs. */
const FROM_POSITION = `coalesce(turn, -1) AS from_turn, coalesce(due_at, '-infinity') AS from_due_at, coalesce(id, 0) AS from_id`

/**
 * Time since which the first run `first` of an ensemble and class that is not claimed before it is due. Runs of several
 * ensembles and classes are merged by it: among the first ones of each, the one that is due the longest is next.
 */
const HEAD_DUE_AT = `max(first.due_at) OVER (
  PARTITION BY ensemble, class ORDER BY first.turn, first.due_at, first.id)`

/**
 * Returns the query of the first due runs of a row of `candidates` named `group_`, in their order. New runs are in the order
 * of `turn`, so that one that is not due yet, after a step of the clock, does not hold up those after it.
 */
function firstSql(schema: string, limit: string): string {
  return `
    SELECT id, turn, due_at FROM ${schema}.runs
    WHERE ${UNOWNED} AND ${CLAIM_KEY} = group_.ensemble AND ${CLAIM_CLASS} = group_.class
      AND (turn, due_at, id) > (group_.from_turn, group_.from_due_at, group_.from_id)
      AND (turn, due_at) <= (group_.max_turn, group_.before) AND due_at <= group_.before
    ORDER BY turn, due_at, id LIMIT ${limit}`
}

/**
 * Builds the statement that claims the runs of offers, and before them runs that come first (RUNS-L15). The
 * parameters are those of {@link claimSql}, except that `$6` and `$7` are not used, and `$15` and `$16` are the ids and the
 * epochs of the runs.
 */
export function claimOfferedSql(schema: string): string {
  return `
    WITH ${NO_LEASES}, waiting AS (SELECT $3::int8 AS runs), ${roomSql(schema)}, ${POSITIONS},
    offer AS MATERIALIZED (
      SELECT id AS offered_id, ${CLAIM_CLASS} AS class
      FROM ${schema}.runs JOIN unnest($15::text[], $16::int4[]) AS offer (run_id, epoch) USING (run_id, epoch)
      WHERE ${isDueSql('$5')} AND ($6::float8, $7::int8) IS NOT NULL
    ), candidates AS MATERIALIZED (
      SELECT ensemble, class, step, max_turn, clock_timestamp() AS before, ${FROM_POSITION}
      FROM unnest($5::text[]) AS known (ensemble) CROSS JOIN ${classesSql('$9::bool')}
        LEFT JOIN positions USING (ensemble, class)
      WHERE class < 7 AND (step = 3 OR step > (
        SELECT min(step) FROM offer JOIN ${classesSql('$9::bool')} USING (class)))
    ), unoffered AS MATERIALIZED (
      SELECT step, ensemble, class, first.* FROM candidates AS group_ CROSS JOIN LATERAL (
        ${firstSql(schema, '(SELECT runs FROM room)')} FOR UPDATE SKIP LOCKED) AS first
    ), offered AS MATERIALIZED (
      SELECT step, ${CLAIM_KEY} AS ensemble, class, id, turn, due_at
      FROM ${schema}.runs JOIN offer ON id = offered_id JOIN ${classesSql('$9::bool')} USING (class)
      WHERE ${isDueSql('$5')} AND id NOT IN (SELECT id FROM unoffered)
      ORDER BY step DESC, due_at, id LIMIT (SELECT runs FROM room) FOR UPDATE OF runs SKIP LOCKED
    ), due AS MATERIALIZED (
      SELECT *, row_number() OVER (ORDER BY step DESC, is_preferred DESC, due_at, turn, id) AS place
      FROM (
        SELECT *, step < 3 AND id IN (SELECT offered_id FROM offer) AS is_preferred
        FROM (SELECT * FROM unoffered UNION ALL SELECT * FROM offered) AS both_kinds) AS found
      ORDER BY place LIMIT (SELECT runs FROM room)
    ), ${takeDueSql(schema)}
    SELECT (SELECT runs FROM room) AS room, claimed.* FROM fleet LEFT JOIN claimed ON true ORDER BY place`
}

/**
 * Builds the query of runs that were not claimed: `$1` their ids, `$2` the epochs of their offers, `$3` known ensembles or
 * null. It returns runs that are due, and those that are owned since the offer, with the rest of the lease.
 */
export function offersSql(schema: string): string {
  return `
    SELECT run_id, ${isDueSql('$3')} AS is_due, CASE state WHEN 'owned' THEN
      extract(epoch FROM least(coalesce(expires_at, clock_timestamp()), clock_timestamp() + interval '1 day')
        - clock_timestamp()) * 1000 END AS owned_for_ms
    FROM ${schema}.runs JOIN unnest($1::text[], $2::int4[]) AS offer (run_id, epoch) USING (run_id)
      LEFT JOIN ${schema}.leases USING (owner)
    WHERE runs.epoch = offer.epoch + CASE state WHEN 'owned' THEN 1 ELSE 0 END AND state <> 'ended'`
}

/** The condition of a run that may be claimed by an offer, given the known ensembles, or null for all. */
function isDueSql(known: string): string {
  return `(${UNOWNED} AND due_at <= statement_timestamp() AND lost_owners < ${SUSPECT_LOSSES}
    AND (${known}::text[] IS NULL OR ${CLAIM_KEY} = ANY(${known}::text[])))`
}

/** SQL expressions of the slots that a claim may use. */
export interface UsableSlots {
  /** Greatest number, or null for no limit. */
  readonly limit: string
  /** Number of the first one. */
  readonly from: string
}

const SLOTS: UsableSlots = { limit: '$4::int8', from: '$10::int8' }

/**
 * Returns the parts of a claim that lock free slots: as many as the query `waiting` has `runs`, and one for each run `beyond`
 * the limit.
 */
export function lockSlotsSql(schema: string, slots: UsableSlots): string {
  return `beyond AS (
      SELECT count(*) AS runs FROM ${schema}.slots WHERE n > ${slots.limit} AND run IS NOT NULL
    ), free AS MATERIALIZED (
      SELECT n, row_number() OVER () AS place FROM (
        SELECT n FROM ${freeSlotsSql(schema, slots)} ORDER BY n
        LIMIT (SELECT CASE waiting.runs WHEN 0 THEN 0 ELSE waiting.runs + beyond.runs END FROM waiting, beyond)
        FOR UPDATE SKIP LOCKED) AS locked
    )`
}

/** The slots that are free, in a `FROM` clause with its condition. */
function freeSlotsSql(schema: string, { limit, from }: UsableSlots): string {
  return `${schema}.slots WHERE run IS NULL AND n <= ${limit} AND n >= ${from}`
}

/**
 * The parts of a claim that lock free slots and say how many runs may take one. It locks as many as runs are `waiting`,
 * because other claims skip them until it is committed.
 */
function roomSql(schema: string): string {
  return `${lockSlotsSql(schema, SLOTS)}, room AS MATERIALIZED (
      SELECT coalesce(runs, 0) AS runs,
        CASE WHEN runs = (SELECT runs FROM waiting) AND EXISTS (SELECT FROM ${freeSlotsSql(schema, SLOTS)})
          THEN $3::int8 ELSE coalesce(runs, 0) END AS reported
      FROM (
        SELECT CASE WHEN EXISTS (
            SELECT FROM ${schema}.leases WHERE owner = $1 AND expires_at <= statement_timestamp()) THEN NULL
          WHEN has_expired AND NOT $11::bool THEN NULL WHEN $4::int8 IS NULL THEN $3::int8
          ELSE greatest((SELECT count(*) FROM free) - (SELECT runs FROM beyond), 0) END AS runs
        FROM fleet) AS locked
    )`
}

/** The parts of a claim that make the caller the owner of the runs in `due`. */
function takeDueSql(schema: string): string {
  return `pairs AS MATERIALIZED (
      SELECT due.*, free.n FROM due LEFT JOIN free USING (place)
    ), taken AS (
      UPDATE ${schema}.slots SET run = pairs.id FROM pairs
      WHERE slots.n = pairs.n AND slots.n = ANY(ARRAY(SELECT n FROM pairs))
    ), claimed AS (
      UPDATE ${schema}.runs SET ${TAKE}, slot = pairs.n,
        code = ${claimedCodeSql('$13::jsonb ->> runs.ensemble')}, build = coalesce($14, build)
      FROM pairs
      WHERE runs.id = pairs.id AND runs.id = ANY(ARRAY(SELECT id FROM pairs))
      RETURNING runs.*, pairs.place, pairs.class, pairs.ensemble AS claim_key, pairs.turn AS was_turn,
        pairs.due_at::text AS was_due, ${commandsSql(schema)} AS pending_commands
    ), ${claimLeaseSql(schema, OWN_LEASE)}`
}

/** The lease of the claiming process. */
const OWN_LEASE: ClaimedLease = {
  owner: '$1',
  leaseMs: '$2::float8',
  idleLeaseMs: '$12::float8',
  hasFreeSlot: '$3::int8 > (SELECT count(*) FROM claimed)',
  ensembles: '$5::text[]',
  build: '$14::text',
  hasClaimed: 'EXISTS (SELECT FROM claimed)',
}

/** Reads all leases: the row of `fleet`. */
function allLeases(schema: string): string {
  return `fleet AS MATERIALIZED (${fleetSql(schema)})`
}

const NO_LEASES = 'fleet AS (SELECT false AS has_expired)'

const KNOWN_ENSEMBLES = `ensembles AS (
  SELECT ensemble, clock_timestamp() AS before FROM unnest($5::text[]) AS known (ensemble)
  WHERE $6::float8 IS NOT NULL)`

/** Finds the ensembles of all runs that wait, one probe of the index for each. */
function allEnsembles(schema: string): string {
  return `RECURSIVE ${foundKeysSql(schema)}, ensembles AS (
    SELECT key AS ensemble, clock_timestamp() - CASE
      WHEN $5::text[] IS NULL OR key = ANY($5::text[]) THEN 0 ELSE $6::float8
      END * interval '1 millisecond' AS before
    FROM found WHERE key IS NOT NULL AND ($5::text[] IS NULL OR key = ANY($5::text[])
      OR split_part(key, ${SEPARATOR}, 1) <> ALL($5::text[])))`
}

/** Says whether there are stranded runs, or held runs of a code that the caller has, given all claim keys as `found`. */
function hasStrandedSql(schema: string): string {
  return `EXISTS (
      SELECT FROM found WHERE ${isStrandedSql(schema, '$5')} AND ${hasDueSql(schema, 'key', { suspects: true })})
    OR EXISTS (
      SELECT FROM ${schema}.runs WHERE ${HELD} AND code IS NOT NULL AND ${CLAIM_KEY} = ANY ($5::text[]))`
}
