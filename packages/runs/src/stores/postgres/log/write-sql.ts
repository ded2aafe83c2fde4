/**
 * The one statement that stores the writes of several runs. It locks the rows of the runs in the order of their ids, so
 * that two batches never deadlock, and changes only runs whose rows are as the caller knows them. Everything else in the
 * statement depends on that.
 *
 * A part of the statement sees the tables as they were when the statement began, without the changes of other parts, and
 * without what was committed while it waited for a lock. The row of a run is the exception: it is read under its lock.
 */
import { MAX_LOSSES_AFTER_STEP, SETTLED_AFTER_MS } from '../../../domain/suspects.ts'
import { ALL_RUNS } from './event-log.ts'

type Columns = Readonly<Record<string, string>>

/** The columns of each table of values, in the order of their parameters. */
const COLUMNS = {
  /** `known_*` is the row as the caller knows it. A status or a request of NULL stays as it is. */
  runs: {
    id: 'int8',
    known_token: 'uuid',
    known_write: 'int4',
    known_seq: 'int4',
    known_state: 'text',
    known_commands: 'int4',
    status: 'text',
    started_at: 'float8',
    completed_at: 'float8',
    duration_ms: 'float8',
    error: 'text',
    output_task: 'text',
    task_count: 'int4',
    completed_tasks: 'int4',
    last_seq: 'int4',
    next_step: 'int4',
    write_no: 'int4',
    state: 'text',
    has_steps: 'bool',
    cost_usd: 'float8',
    request: 'text',
  },
  events: { run: 'int8', seq: 'int4', type: 'text', data: 'text', bytes: 'int4' },
  steps: { run: 'int8', n: 'int4', seq: 'int4', data: 'text', bytes: 'int4' },
  tasks: {
    run: 'int8',
    task_index: 'int4',
    name: 'text',
    description: 'text',
    agent_role: 'text',
    status: 'text',
    attempt: 'int4',
    started_at: 'float8',
    completed_at: 'float8',
    duration_ms: 'float8',
    input_tokens: 'float8',
    output_tokens: 'float8',
    tool_call_count: 'float8',
    cost_usd: 'float8',
    earlier_input_tokens: 'float8',
    earlier_output_tokens: 'float8',
    earlier_tool_call_count: 'float8',
    earlier_cost_usd: 'float8',
    output: 'text',
    error: 'text',
    finish_reason: 'text',
  },
  opened: {
    run: 'int8',
    review_id: 'text',
    kind: 'text',
    status: 'text',
    request: 'text',
    opened_at: 'float8',
    expires_at: 'float8',
    decided_by: 'text',
  },
  closed: { run: 'int8', review_id: 'text', status: 'text', decided_by: 'text' },
  answers: { run: 'int8', command_id: 'text', answer: 'text' },
  deliveries: { run: 'int8', seq: 'int4', webhook: 'text' },
  /** Runs that end, with the error that answers their pending commands. */
  ended: { run: 'int8', error: 'text' },
} as const satisfies Record<string, Columns>

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

/** The columns of each part, as arrays. */
export type WriteValues = Readonly<Record<WritePart, readonly (readonly unknown[])[]>>

const statements = new Map<string, string>()

/** Returns the statement for these values, and its parameters. */
export function toWriteStatement(
  schema: string,
  values: WriteValues,
): { readonly sql: string; readonly parameters: readonly unknown[] } {
  const hasEnded = hasRows(values.ended)
  // The end of a run closes its reviews and answers its commands, unless the write does.
  const implied = new Set<WritePart>(hasEnded ? ['closed', 'answers'] : [])
  const parts = ORDER.filter(
    (part) => ALWAYS.includes(part) || implied.has(part) || hasRows(values[part]),
  )
  const key = `${parts.join()} ${schema}`
  const sql = statements.get(key) ?? buildStatement(schema, parts)
  statements.set(key, sql)
  return { sql, parameters: parts.flatMap((part) => toParameters(part, values[part])) }
}

function hasRows([first = []]: readonly (readonly unknown[])[]): boolean {
  return first.length > 0
}

/** Returns one array for each column, also when there are no rows. */
function toParameters(
  part: WritePart,
  columns: readonly (readonly unknown[])[],
): readonly (readonly unknown[])[] {
  return Object.keys(COLUMNS[part]).map((_, index) => columns[index] ?? [])
}

/** Columns of `runs` that a write sets to its values; others follow from them. */
const SET_COLUMNS = [
  'started_at',
  'completed_at',
  'duration_ms',
  'error',
  'output_task',
  'task_count',
  'completed_tasks',
  'last_seq',
  'next_step',
  'write_no',
  'state',
  'cost_usd',
]

function buildStatement(schema: string, parts: readonly WritePart[]): string {
  const has = (part: WritePart): boolean => parts.includes(part)
  const given = listGiven(parts)
  const ofFit = (run: string): string => `${run} IN (SELECT id FROM fit)`
  const insert = (part: WritePart, table: string): string =>
    `INSERT INTO ${schema}.${table} (${Object.keys(COLUMNS[part]).join(', ')})
     SELECT * FROM ${given(part)} WHERE ${ofFit('given.run')}`
  const taskNames = Object.keys(COLUMNS.tasks)
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
    const columns = Object.entries(COLUMNS[part])
    const first = firsts.get(part) ?? 0
    const arrays = columns.map(([, type], index) => `$${first + index}::${type}[]`)
    return `unnest(${arrays.join(', ')}) AS given (${columns.map(([name]) => name).join(', ')})`
  }
}

/** Closes reviews and, when runs end, withdraws their other open ones. */
function closeReviewsSql(
  schema: string,
  given: (part: WritePart) => string,
  hasEnded: boolean,
): string {
  const withdrawn = `
    UNION ALL SELECT reviews.run, review_id, 'WITHDRAWN', NULL
    FROM ${schema}.reviews JOIN ${given('ended')} USING (run)
    WHERE (reviews.run, review_id) NOT IN (SELECT run, review_id FROM ${given('closed')})`
  return `
    UPDATE ${schema}.reviews SET status = closing.status, decided_by = closing.decided_by
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
      ${SET_COLUMNS.map((name) => `${name} = fit.${name}`).join(', ')},
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
