/**
 * The one statement that stores the writes of several runs. It locks the rows of the runs in the order of their ids, so
 * that two batches never deadlock, and changes only runs whose rows are as the caller knows them. Everything else in the
 * statement depends on that.
 *
 * A part of the statement sees the tables as they were when the statement began, without the changes of other parts, and
 * without what was committed while it waited for a lock. The row of a run is the exception: it is read under its lock.
 */
import { MAX_LOSSES_AFTER_STEP, SETTLED_AFTER_MS } from '../../../domain/suspects.ts'
import {
  encodeField,
  listColumnNames,
  type Columns,
  type WrittenForm,
} from '../../shared/schema/columns.ts'
import {
  ANSWER_COLUMNS,
  DELIVERY_COLUMNS,
  EVENT_COLUMNS,
  REVIEW_COLUMNS,
  REVIEW_END_COLUMNS,
  RUN_CHANGE_COLUMNS,
  STEP_COLUMNS,
  TASK_COLUMNS,
} from '../../shared/schema/table-columns.ts'
import { COLUMN_TYPES } from '../schema/column-types.ts'
import { postgresDialect } from '../schema/dialect.ts'
import { ALL_RUNS } from './event-log.ts'

const { texts } = postgresDialect

/** Columns of `runs` that a write sets to its values; others follow from them. */
const SET_COLUMNS = { ...RUN_CHANGE_COLUMNS, nextStep: 'integer' } as const

/** The columns of each table of values, in the order of their parameters. */
const COLUMNS = {
  /** `known…` is the row as the caller knows it. A status or a request of NULL stays as it is. */
  runs: {
    id: 'row',
    knownToken: 'token',
    knownWrite: 'integer',
    knownSeq: 'integer',
    knownState: 'word',
    knownCommands: 'integer',
    hasSteps: 'flag',
    ...SET_COLUMNS,
    status: 'word',
    request: 'an object',
  },
  events: EVENT_COLUMNS,
  steps: STEP_COLUMNS,
  tasks: TASK_COLUMNS,
  opened: REVIEW_COLUMNS,
  closed: REVIEW_END_COLUMNS,
  answers: ANSWER_COLUMNS,
  deliveries: DELIVERY_COLUMNS,
  /** Runs that end, with the error that answers their pending commands. */
  ended: { run: 'row', error: 'data' },
} as const satisfies Record<string, Columns<WrittenForm>>

/** A table of values. */
export type WritePart = keyof typeof COLUMNS

/** The parts of every statement. The others are left out when there are no values, which makes the plan smaller. */
const ALWAYS: readonly WritePart[] = ['runs', 'events', 'steps']

/** All parts, in the order of their parameters. */
const ORDER: readonly WritePart[] = [
  ...ALWAYS,
  'tasks',
  'opened',
  'closed',
  'answers',
  'deliveries',
  'ended',
]

/** The rows of each part. */
export type WriteValues = {
  readonly [P in WritePart]: readonly {
    readonly [F in keyof (typeof COLUMNS)[P]]?: unknown
  }[]
}

const statements = new Map<string, string>()

/** Returns the statement for these values, and its parameters. */
export function toWriteStatement(
  schema: string,
  values: WriteValues,
): { readonly sql: string; readonly parameters: readonly unknown[] } {
  const hasEnded = values.ended.length > 0
  // The end of a run closes its reviews and answers its commands, unless the write does.
  const implied = new Set<WritePart>(hasEnded ? ['closed', 'answers'] : [])
  const parts = ORDER.filter(
    (part) => ALWAYS.includes(part) || implied.has(part) || values[part].length > 0,
  )
  const key = `${parts.join()} ${schema}`
  const sql = statements.get(key) ?? buildStatement(schema, parts)
  statements.set(key, sql)
  return { sql, parameters: parts.flatMap((part) => toParameters(part, values[part])) }
}

/** Returns one array for each column, also when there are no rows. */
function toParameters(
  part: WritePart,
  rows: readonly Readonly<Record<string, unknown>>[],
): readonly (readonly unknown[])[] {
  return Object.entries<WrittenForm>(COLUMNS[part]).map(([field, form]) =>
    rows.map((row) => encodeField(texts, form, row[field])),
  )
}

function buildStatement(schema: string, parts: readonly WritePart[]): string {
  const has = (part: WritePart): boolean => parts.includes(part)
  const given = listGiven(parts)
  const ofFit = (run: string): string => `${run} IN (SELECT id FROM fit)`
  const insert = (part: WritePart, table: string): string =>
    `INSERT INTO ${schema}.${table} (${listColumnNames(COLUMNS[part]).join(', ')})
     SELECT * FROM ${given(part)} WHERE ${ofFit('given.run')}`
  const taskNames = listColumnNames(COLUMNS.tasks)
  const steps: readonly (readonly [string, string])[] = [
    [
      'locked',
      `SELECT id, token, write_no, last_seq, state, commands FROM ${schema}.runs
       WHERE id = ANY($1::int8[]) ORDER BY id FOR UPDATE`,
    ],
    [
      'fit',
      `SELECT given.* FROM ${given('runs')} JOIN locked USING (id)
       WHERE locked.token = known_token AND locked.write_no = known_write
         AND locked.last_seq = known_seq AND locked.state = known_state
         AND locked.commands = coalesce(known_commands, locked.commands)`,
    ],
    ['new_events', insert('events', 'events')],
    ['new_steps', insert('steps', 'steps')],
    ...(has('tasks')
      ? [
          [
            'changed_tasks',
            `${insert('tasks', 'tasks')} ON CONFLICT (run, task_index) DO UPDATE SET
             ${taskNames.map((name) => `${name} = excluded.${name}`).join(', ')}`,
          ] as const,
        ]
      : []),
    ...(has('opened')
      ? [['new_reviews', `${insert('opened', 'reviews')} ON CONFLICT DO NOTHING`] as const]
      : []),
    ...(has('closed')
      ? [['closed_reviews', closeReviewsSql(schema, given, has('ended'))] as const]
      : []),
    ...(has('answers')
      ? [
          [
            'answered',
            `UPDATE ${schema}.commands SET answer = given.answer FROM ${given('answers')}
             WHERE commands.command_id = given.command_id AND commands.run = given.run
               AND commands.answer IS NULL AND ${ofFit('given.run')}
             RETURNING commands.command_id, commands.reply_channel`,
          ] as const,
        ]
      : []),
    ...(has('deliveries') ? [['new_deliveries', insert('deliveries', 'deliveries')] as const] : []),
    ...(has('ended')
      ? [
          [
            'refused',
            // A command id is a UUID, which needs no escaping in JSON.
            `UPDATE ${schema}.commands
             SET answer = '{"commandId":"' || commands.command_id || '","ok":false,"error":' || given.error || '}'
             FROM ${given('ended')}
             WHERE commands.run = given.run AND commands.answer IS NULL AND ${ofFit('given.run')}
               AND commands.command_id NOT IN (SELECT command_id FROM ${given('answers')})
             RETURNING commands.command_id, commands.reply_channel`,
          ] as const,
        ]
      : []),
    ['changed', changeRunsSql(schema)],
  ]
  const answers = ['answered', 'refused'].filter((name) => steps.some(([step]) => step === name))
  return `WITH ${steps.map(([name, sql]) => `${name} AS (${sql})`).join(', ')}
    SELECT id AS run, NULL AS command_id, NULL AS channel FROM fit
    UNION ALL SELECT run, NULL, channel FROM ${schema}.followers
      WHERE run = ${ALL_RUNS} OR run = ANY($1::int8[])
    ${answers.map((name) => `UNION ALL SELECT NULL, command_id, reply_channel FROM ${name}`).join(' ')}`
}

/** Returns the function that names the values of a part: `unnest(…) AS given (…)`. */
function listGiven(parts: readonly WritePart[]): (part: WritePart) => string {
  const firsts = new Map<WritePart, number>()
  let next = 1
  for (const part of parts) {
    firsts.set(part, next)
    next += Object.keys(COLUMNS[part]).length
  }
  return (part) => {
    const first = firsts.get(part) ?? 0
    const arrays = Object.values(COLUMNS[part]).map(
      (form, index) => `$${first + index}::${COLUMN_TYPES[form]}[]`,
    )
    return `unnest(${arrays.join(', ')}) AS given (${listColumnNames(COLUMNS[part]).join(', ')})`
  }
}

/** Closes reviews and, when runs end, withdraws their other open ones. */
function closeReviewsSql(
  schema: string,
  given: (part: WritePart) => string,
  hasEnded: boolean,
): string {
  const withdrawn = `
    UNION ALL SELECT reviews.run, review_id, 'WITHDRAWN', NULL, NULL
    FROM ${schema}.reviews JOIN ${given('ended')} USING (run)
    WHERE (reviews.run, review_id) NOT IN (SELECT run, review_id FROM ${given('closed')})`
  return `
    UPDATE ${schema}.reviews SET status = closing.status, decided_by = closing.decided_by,
      event_id = closing.event_id
    FROM (SELECT * FROM ${given('closed')} ${hasEnded ? withdrawn : ''}) AS closing
    WHERE reviews.run = closing.run AND reviews.review_id = closing.review_id
      AND reviews.status = 'OPEN' AND closing.run IN (SELECT id FROM fit)`
}

/**
 * A command or the queue may have changed the status since the caller read the row. A start does not change it back
 * (RUNS-W4). The losses of a run after a step are those of `domain/suspects.ts`.
 */
function changeRunsSql(schema: string): string {
  return `
    UPDATE ${schema}.runs SET
      ${listColumnNames(SET_COLUMNS)
        .map((name) => `${name} = fit.${name}`)
        .join(', ')},
      status = CASE
        WHEN fit.status IS NULL OR (fit.status = 'RUNNING' AND runs.status = 'CANCELLING')
        THEN runs.status ELSE fit.status END,
      lost_owners = CASE
        WHEN NOT fit.has_steps THEN runs.lost_owners
        WHEN runs.state <> 'owned' OR coalesce(runs.claimed_at, '-infinity')
          <= clock_timestamp() - ${SETTLED_AFTER_MS} * interval '1 millisecond' THEN 0
        ELSE least(runs.lost_owners, ${MAX_LOSSES_AFTER_STEP}) END,
      request = coalesce(fit.request, runs.request),
      owner = CASE fit.state WHEN 'owned' THEN runs.owner END,
      token = CASE WHEN runs.state IN ('ready', 'parked') THEN gen_random_uuid()
        ELSE runs.token END,
      due_at = CASE
        WHEN fit.state = 'ended' THEN NULL
        WHEN fit.state = 'ready' AND runs.state = 'parked' THEN clock_timestamp()
        ELSE runs.due_at END,
      ended_at = CASE fit.state WHEN 'ended' THEN clock_timestamp() END
    FROM fit WHERE runs.id = fit.id`
}
