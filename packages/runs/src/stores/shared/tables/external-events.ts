/**
 * External events. The triggers of `reviews` add and delete the rows of `waits`, and record the end of the events that waits
 * have. The clock of the store measures ages.
 */
import { clampCount, finiteOrNull } from '../query-numbers.ts'
import { digestOf, toAddress } from '../schema/event-address.ts'

import type { AwaitedEvent } from '@tutti/protocol/internal'
import type {
  AddedEvent,
  AssignedEvent,
  ExternalEventState,
  ExternalEventStore,
  NewExternalEvent,
} from '../../../ports/external-events.ts'
import type { StoredRow } from '../column-reader.ts'
import type { StoredTexts } from '../schema/columns.ts'
import type { StatementRunner, StoreDialect, StoreParts } from '../schema/dialect.ts'

/** Pairs free events with free waits. @param addresses only these; all if it is null */
export type AssignEvents = (now: number, addresses: readonly string[] | null) => Promise<void>

/** Condition of the events that may be paired. */
export const IS_FREE = 'external_events.outcome IS NULL AND external_events.run IS NULL'

/**
 * Returns the queries for the first free wait of a row of `external_events`: for an event that any run may have, and for one with
 * a wanted run. The other query has no row. Neither reads the waits of other events or runs. `now` is SQL of the present.
 */
export function firstWaitSqls(columns: string, now: string): readonly [string, string] {
  const select = (condition: string): string => `
    SELECT ${columns} FROM $schema.waits
    WHERE ${condition}
      AND (waits.expires_at IS NULL OR waits.expires_at > ${now})
      AND NOT EXISTS (
        SELECT 1 FROM $schema.external_events AS taken
        WHERE taken.run = waits.run AND taken.review_id = waits.review_id AND taken.outcome IS NULL)
    ORDER BY waits.n LIMIT 1`
  return [
    select('waits.address = external_events.address AND external_events.wanted_run IS NULL'),
    // The expression excludes the index of addresses, which has the waits of all runs.
    select(
      `waits.run = external_events.wanted_run AND (waits.address || '') = external_events.address`,
    ),
  ]
}

const COLUMNS = `external_events.event_id, external_events.name, external_events.key, sender,
  outcome, reason, external_events.review_id, assigned.run_id`

const WITH_RUN = `$schema.external_events
  LEFT JOIN $schema.runs AS assigned ON assigned.id = external_events.run`

/**
 * A free event is stored if a wait is open for it, or if its sender has fewer of them than there is room for (RUNS-EV5). An event
 * without a sender counts only against the room.
 */
const INSERT_EVENT = `
  INSERT INTO $schema.external_events
    (event_id, name, key, address, digest, wanted_run, sender, received_at, data)
  SELECT $1::text, $2::text, $3::text, $4::text, $5::text, $6::int8, $7::text, $now, $8::text
  WHERE EXISTS (SELECT 1 FROM $schema.waits WHERE address = $4)
    OR $9::int4 > (SELECT count(*) FROM (
      SELECT 1 FROM $schema.external_events WHERE outcome IS NULL AND run IS NULL LIMIT $9
    ) AS free) + (SELECT count(*) FROM (
      SELECT 1 FROM $schema.external_events
      WHERE outcome IS NULL AND run IS NULL AND sender = $7 LIMIT $9
    ) AS own)
  ON CONFLICT (event_id) DO NOTHING RETURNING n`

/** The external events of a database. */
export class ExternalEventTable implements ExternalEventStore {
  readonly #dialect: StoreDialect
  readonly #requests: StatementRunner
  readonly #assignEvents: AssignEvents

  constructor(
    { dialect, requests }: Pick<StoreParts, 'dialect' | 'requests'>,
    assignEvents: AssignEvents,
  ) {
    this.#dialect = dialect
    this.#requests = requests
    this.#assignEvents = assignEvents
  }

  async add(event: NewExternalEvent, maxFree: number): Promise<AddedEvent> {
    const { id, name, key, runId, data, sender } = event
    const { id: toId, text: toText } = this.#dialect.texts.encode
    const digest = digestOf([name, key ?? null, runId ?? null, data])
    const run = runId === undefined ? null : await this.#findRun(runId)
    if (run === undefined) return (await this.#findKnown(id, digest)) ?? { kind: 'run_not_found' }
    if (run?.['state'] === 'ended') {
      return (await this.#findKnown(id, digest)) ?? { kind: 'run_ended' }
    }
    const added = await this.#requests.query(INSERT_EVENT, [
      toId(id),
      toText(name),
      key === undefined ? null : toText(key),
      toAddress(event),
      digest,
      run?.['id'] ?? null,
      sender === undefined ? null : toText(sender),
      toText(data),
      clampCount(maxFree),
    ])
    if (added.length > 0) return { kind: 'added', state: { kind: 'free' } }
    return (await this.#findKnown(id, digest)) ?? { kind: 'full' }
  }

  async state(id: string): Promise<ExternalEventState | undefined> {
    const row = await this.#find(id)
    return row === undefined ? undefined : readState(this.#dialect.texts, row)
  }

  async data(id: string): Promise<string | undefined> {
    const { encode, text } = this.#dialect.texts
    const [row] = await this.#requests.query(
      'SELECT data FROM $schema.external_events WHERE event_id = $1',
      [encode.id(id)],
    )
    return row === undefined ? undefined : String(text(String(row['data'])))
  }

  async assign(now: number, events?: readonly AwaitedEvent[]): Promise<readonly AssignedEvent[]> {
    const addresses = events === undefined ? null : [...new Set(events.map(toAddress))]
    await this.#assignEvents(now, addresses)
    const only = addresses === null ? 'true' : 'external_events.address = ANY($1::text[])'
    // The "+" excludes the order of the table, which has all delivered events.
    const rows = await this.#requests.query(
      `SELECT ${COLUMNS} FROM ${WITH_RUN}
       WHERE outcome IS NULL AND external_events.run IS NOT NULL AND ${only}
       ORDER BY +external_events.n`,
      addresses === null ? [] : [addresses],
    )
    return rows.map((row) => readAssigned(this.#dialect.texts, row))
  }

  async giveBack(id: string): Promise<void> {
    await this.#requests.query(
      `UPDATE $schema.external_events SET run = NULL, review_id = NULL
       WHERE event_id = $1 AND outcome IS NULL`,
      [this.#dialect.texts.encode.id(id)],
    )
  }

  async refuse(id: string, reason: string): Promise<void> {
    const { encode } = this.#dialect.texts
    await this.#requests.query(
      `UPDATE $schema.external_events SET outcome = 'refused', reason = $2
       WHERE event_id = $1 AND outcome IS NULL`,
      [encode.id(id), encode.text(reason)],
    )
  }

  async remove(id: string): Promise<void> {
    await this.#requests.query(
      `DELETE FROM $schema.external_events
       WHERE event_id = $1 AND (outcome IS NULL OR outcome <> 'delivered')`,
      [this.#dialect.texts.encode.id(id)],
    )
  }

  async trim(maxAgeMs: number, limit: number): Promise<number> {
    const rows = await this.#requests.query(
      `DELETE FROM $schema.external_events WHERE n IN (
         SELECT n FROM $schema.external_events
         WHERE received_at < $now - ${this.#dialect.duration('$1')}
           AND (outcome IS NOT NULL OR run IS NULL)
           AND NOT EXISTS (
             SELECT 1 FROM $schema.runs
             WHERE runs.id = external_events.wanted_run AND runs.ended_at IS NULL)
         ORDER BY received_at LIMIT $2) RETURNING n`,
      [finiteOrNull(maxAgeMs), clampCount(limit)],
    )
    return rows.length
  }

  async #find(id: string): Promise<StoredRow | undefined> {
    const [row] = await this.#requests.query(
      `SELECT ${COLUMNS}, digest FROM ${WITH_RUN} WHERE event_id = $1`,
      [this.#dialect.texts.encode.id(id)],
    )
    return row
  }

  /** Returns the outcome of adding an event whose id is known; undefined for another id. */
  async #findKnown(id: string, digest: string): Promise<AddedEvent | undefined> {
    const row = await this.#find(id)
    if (row === undefined) return undefined
    return row['digest'] === digest
      ? { kind: 'known', state: readState(this.#dialect.texts, row) }
      : { kind: 'conflict' }
  }

  /** Returns the row id and the state of a run; undefined if it does not exist. */
  async #findRun(runId: string): Promise<StoredRow | undefined> {
    const [row] = await this.#requests.query(
      'SELECT id, state FROM $schema.runs WHERE run_id = $1',
      [this.#dialect.texts.encode.id(runId)],
    )
    return row
  }
}

function readState(texts: StoredTexts, row: StoredRow): ExternalEventState {
  const runId = readId(texts, row, 'run_id')
  const reviewId = readId(texts, row, 'review_id')
  if (row['outcome'] === 'delivered') {
    return {
      kind: 'delivered',
      ...(runId === undefined ? {} : { runId }),
      ...(reviewId === undefined ? {} : { reviewId }),
    }
  }
  if (row['outcome'] === 'refused') {
    return { kind: 'refused', reason: String(texts.text(String(row['reason']))) }
  }
  return runId === undefined || reviewId === undefined
    ? { kind: 'free' }
    : { kind: 'assigned', runId, reviewId }
}

function readId(texts: StoredTexts, row: StoredRow, column: string): string | undefined {
  const stored = row[column]
  return typeof stored === 'string' ? String(texts.id(stored)) : undefined
}

function readAssigned(texts: StoredTexts, row: StoredRow): AssignedEvent {
  const read = (column: string): string => String(texts.text(String(row[column])))
  return {
    id: String(texts.id(String(row['event_id']))),
    name: read('name'),
    ...(row['key'] === null ? {} : { key: read('key') }),
    runId: String(texts.id(String(row['run_id']))),
    reviewId: String(texts.id(String(row['review_id']))),
    ...(row['sender'] === null ? {} : { sender: read('sender') }),
  }
}
