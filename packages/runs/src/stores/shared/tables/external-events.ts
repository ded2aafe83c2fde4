/**
 * External events. The triggers of `reviews` add and delete the rows of `waits`, and record the end of the events that waits
 * have. The clock of the store measures ages.
 */
import { createHash } from 'node:crypto'

import { clampCount, finiteOrNull } from '../query-numbers.ts'

import type { AwaitedEvent } from '@tutti/protocol/internal'
import type {
  AssignedEvent,
  ExternalEventState,
  ExternalEventStore,
} from '../../../ports/external-events.ts'
import type { StoredRow } from '../column-reader.ts'
import type { StoredTexts } from '../schema/columns.ts'
import type { StoreParts } from '../schema/dialect.ts'

/** Pairs free events with free waits. @param addresses only these; all if it is null */
export type AssignEvents = (now: number, addresses: readonly string[] | null) => Promise<void>

/** Returns the digest by which events and waits of one name and key find each other. */
export function toAddress({ name, key }: AwaitedEvent): string {
  return digestOf([name, key ?? null])
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex')
}

/**
 * Selects the next pair: `n` of the event, and `run` and `review_id` of the wait. `now` and `only` are SQL: the present, and a
 * condition on `address`.
 */
export function nextPairSql(now: string, only: string): string {
  return `
    SELECT external_events.n, waits.run, waits.review_id FROM $schema.external_events
    JOIN $schema.waits ON waits.address = external_events.address
    WHERE external_events.outcome IS NULL AND external_events.run IS NULL AND ${only}
      AND (external_events.wanted_run IS NULL OR external_events.wanted_run = waits.run)
      AND (waits.expires_at IS NULL OR waits.expires_at > ${now})
      AND NOT EXISTS (
        SELECT 1 FROM $schema.external_events AS taken
        WHERE taken.run = waits.run AND taken.review_id = waits.review_id AND taken.outcome IS NULL)
    ORDER BY external_events.n, waits.n LIMIT 1`
}

const COLUMNS = `external_events.event_id, external_events.name, external_events.key, data, sender,
  outcome, reason, external_events.review_id, assigned.run_id`

const WITH_RUN = `$schema.external_events
  LEFT JOIN $schema.runs AS assigned ON assigned.id = external_events.run`

/** Returns the external events of a database. */
export function externalEventStore(
  { dialect, requests }: Pick<StoreParts, 'dialect' | 'requests'>,
  assignEvents: AssignEvents,
): ExternalEventStore {
  const { texts, duration } = dialect
  const { id: toId, text: toText } = texts.encode
  const find = async (id: string): Promise<StoredRow | undefined> => {
    const [row] = await requests.query(
      `SELECT ${COLUMNS}, digest FROM ${WITH_RUN} WHERE event_id = $1`,
      [toId(id)],
    )
    return row
  }
  return {
    async add(event, maxFree) {
      const { id, name, key, runId, data, sender } = event
      const digest = digestOf([name, key ?? null, runId ?? null, data])
      const known = async () => {
        const row = await find(id)
        if (row === undefined) return undefined
        return row['digest'] === digest
          ? ({ kind: 'known', state: readState(texts, row) } as const)
          : ({ kind: 'conflict' } as const)
      }
      const run = runId === undefined ? null : await findRun(toId(runId))
      if (run === undefined) return (await known()) ?? { kind: 'run_not_found' }
      const added = await requests.query(
        `INSERT INTO $schema.external_events
           (event_id, name, key, address, digest, wanted_run, sender, received_at, data)
         SELECT $1::text, $2::text, $3::text, $4::text, $5::text, $6::int8, $7::text, $now, $8::text
         WHERE EXISTS (SELECT 1 FROM $schema.waits WHERE address = $4)
           OR $9::int4 > (SELECT count(*) FROM (
             SELECT 1 FROM $schema.external_events WHERE outcome IS NULL AND run IS NULL LIMIT $9
           ) AS free)
         ON CONFLICT (event_id) DO NOTHING RETURNING n`,
        [
          toId(id),
          toText(name),
          key === undefined ? null : toText(key),
          toAddress(event),
          digest,
          run,
          sender === undefined ? null : toText(sender),
          toText(data),
          clampCount(maxFree),
        ],
      )
      if (added.length > 0) return { kind: 'added', state: { kind: 'free' } }
      return (await known()) ?? { kind: 'full' }
    },
    async state(id) {
      const row = await find(id)
      return row === undefined ? undefined : readState(texts, row)
    },
    async assign(now, events) {
      const addresses = events === undefined ? null : [...new Set(events.map(toAddress))]
      await assignEvents(now, addresses)
      const only = addresses === null ? 'true' : 'external_events.address = ANY($1::text[])'
      const rows = await requests.query(
        `SELECT ${COLUMNS} FROM ${WITH_RUN}
         WHERE outcome IS NULL AND external_events.run IS NOT NULL AND ${only}
         ORDER BY external_events.n`,
        addresses === null ? [] : [addresses],
      )
      return rows.map((row) => readAssigned(texts, row))
    },
    async giveBack(id) {
      await requests.query(
        `UPDATE $schema.external_events SET run = NULL, review_id = NULL
         WHERE event_id = $1 AND outcome IS NULL`,
        [toId(id)],
      )
    },
    async refuse(id, reason) {
      await requests.query(
        `UPDATE $schema.external_events SET outcome = 'refused', reason = $2
         WHERE event_id = $1 AND outcome IS NULL`,
        [toId(id), toText(reason)],
      )
    },
    async remove(id) {
      await requests.query(
        `DELETE FROM $schema.external_events
         WHERE event_id = $1 AND (outcome IS NULL OR outcome <> 'delivered')`,
        [toId(id)],
      )
    },
    async trim(maxAgeMs, limit) {
      const rows = await requests.query(
        `DELETE FROM $schema.external_events WHERE n IN (
           SELECT n FROM $schema.external_events
           WHERE received_at < $now - ${duration('$1')} AND (outcome IS NOT NULL OR run IS NULL)
           ORDER BY received_at LIMIT $2) RETURNING n`,
        [finiteOrNull(maxAgeMs), clampCount(limit)],
      )
      return rows.length
    },
  }

  async function findRun(runId: string): Promise<unknown> {
    const [row] = await requests.query('SELECT id FROM $schema.runs WHERE run_id = $1', [runId])
    return row?.['id']
  }
}

function readState(texts: StoredTexts, row: StoredRow): ExternalEventState {
  const where = {
    ...(row['run_id'] === null ? {} : { runId: String(texts.id(String(row['run_id']))) }),
    ...(row['review_id'] === null ? {} : { reviewId: String(texts.id(String(row['review_id']))) }),
  }
  if (row['outcome'] === 'delivered') return { kind: 'delivered', ...where }
  if (row['outcome'] === 'refused') {
    return { kind: 'refused', reason: String(texts.text(String(row['reason']))) }
  }
  const { runId, reviewId } = where
  return runId === undefined || reviewId === undefined
    ? { kind: 'free' }
    : { kind: 'assigned', runId, reviewId }
}

function readAssigned(texts: StoredTexts, row: StoredRow): AssignedEvent {
  const read = (column: string): string => String(texts.text(String(row[column])))
  return {
    id: String(texts.id(String(row['event_id']))),
    name: read('name'),
    ...(row['key'] === null ? {} : { key: read('key') }),
    runId: String(texts.id(String(row['run_id']))),
    reviewId: String(texts.id(String(row['review_id']))),
    data: read('data'),
    ...(row['sender'] === null ? {} : { sender: read('sender') }),
  }
}
