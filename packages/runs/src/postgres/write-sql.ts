/** The statements of a write, over arrays of columns. */
import { ALL_RUNS } from './event-log.ts'
import { SETTLED_AFTER_MS } from '../execution/suspects.ts'

/** The statements for a schema. */
export type WriteSql = ReturnType<typeof buildStatements>

const statements = new Map<string, WriteSql>()

/** Returns the statements for the schema with that quoted name; they are built once. */
export function writeSql(schema: string): WriteSql {
  const sql = statements.get(schema) ?? buildStatements(schema)
  statements.set(schema, sql)
  return sql
}

/** Columns of `runs` that a write sets directly; `owner`, `token` and some instants follow from `state`. */
const RUN_COLUMNS: Readonly<Record<string, string>> = {
  status: 'text',
  started_at: 'float8',
  completed_at: 'float8',
  duration_ms: 'float8',
  error: 'text',
  task_count: 'int4',
  completed_tasks: 'int4',
  last_seq: 'int4',
  next_step: 'int4',
  write_no: 'int4',
  lost_owners: 'int4',
  state: 'text',
}

const TASK_COLUMNS: Readonly<Record<string, string>> = {
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
}

const REVIEW_COLUMNS: Readonly<Record<string, string>> = {
  run: 'int8',
  review_id: 'text',
  status: 'text',
  request: 'text',
  opened_at: 'float8',
  expires_at: 'float8',
  decided_by: 'text',
}

function buildStatements(schema: string) {
  const runColumns = { id: 'int8', ...RUN_COLUMNS }
  const taskNames = Object.keys(TASK_COLUMNS)
  const runNames = Object.keys(runColumns)
  return {
    // All statements lock in the order of ids, so two batches never deadlock.
    lockRuns: `
      SELECT *, coalesce(claimed_at, '-infinity') <= clock_timestamp()
        - ${SETTLED_AFTER_MS} * interval '1 millisecond' AS is_settled
      FROM ${schema}.runs WHERE run_id = ANY($1) ORDER BY id FOR UPDATE`,
    readTasks: `
      SELECT tasks.* FROM ${schema}.tasks
      JOIN unnest($1::int8[], $2::int4[]) AS wanted (run, task_index) USING (run, task_index)`,
    countTasks: `
      SELECT run, count(*) AS total FROM ${schema}.tasks WHERE run = ANY($1::int8[]) GROUP BY run`,
    upsertTasks: `
      INSERT INTO ${schema}.tasks (${taskNames.join(', ')})
      SELECT * FROM unnest(${toArrayParameters(TASK_COLUMNS, 1)})
      ON CONFLICT (run, task_index) DO UPDATE SET
        ${taskNames.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    openReviews: `
      INSERT INTO ${schema}.reviews (${Object.keys(REVIEW_COLUMNS).join(', ')})
      SELECT * FROM unnest(${toArrayParameters(REVIEW_COLUMNS, 1)}) ON CONFLICT DO NOTHING`,
    endReviews: `
      UPDATE ${schema}.reviews SET status = ended.status, decided_by = ended.decided_by
      FROM unnest($1::int8[], $2::text[], $3::text[], $4::text[])
        AS ended (run, review_id, status, decided_by)
      WHERE reviews.run = ended.run AND reviews.review_id = ended.review_id
        AND reviews.status = 'OPEN'`,
    withdrawReviews: `
      UPDATE ${schema}.reviews SET status = 'WITHDRAWN'
      WHERE run = ANY($1::int8[]) AND status = 'OPEN'`,
    answer: `
      UPDATE ${schema}.signals SET answer = given.answer
      FROM unnest($1::int8[], $2::text[], $3::text[]) AS given (run, signal_id, answer)
      WHERE signals.signal_id = given.signal_id AND signals.run = given.run
        AND signals.answer IS NULL
      RETURNING signals.signal_id, signals.asker`,
    // A signal id is a UUID, which needs no escaping in JSON.
    answerPending: `
      UPDATE ${schema}.signals
      SET answer = '{"commandId":"' || signal_id || '","ok":false,"error":' || ended.error || '}'
      FROM unnest($1::int8[], $2::text[]) AS ended (run, error)
      WHERE signals.run = ended.run AND signals.answer IS NULL
      RETURNING signals.signal_id, signals.asker`,
    deliver: `
      INSERT INTO ${schema}.deliveries (run, seq, webhook)
      SELECT * FROM unnest($1::int8[], $2::int4[], $3::text[])`,
    deleteSteps: `DELETE FROM ${schema}.steps WHERE run = ANY($1::int8[])`,
    append: `
      WITH new_events AS (
        INSERT INTO ${schema}.events (run, seq, type, data)
        SELECT * FROM unnest($1::int8[], $2::int4[], $3::text[], $4::text[])
      ), new_steps AS (
        INSERT INTO ${schema}.steps (run, n, data)
        SELECT * FROM unnest($5::int8[], $6::int4[], $7::text[])
      ), changed AS (
        UPDATE ${schema}.runs SET
          ${Object.keys(RUN_COLUMNS)
            .map((name) => `${name} = after.${name}`)
            .join(', ')},
          owner = CASE after.state WHEN 'owned' THEN runs.owner END,
          token = CASE WHEN runs.state IN ('ready', 'parked') THEN gen_random_uuid()
            ELSE runs.token END,
          due_at = CASE
            WHEN after.state = 'ended' THEN NULL
            WHEN after.state = 'ready' AND runs.state = 'parked' THEN clock_timestamp()
            ELSE runs.due_at END,
          ended_at = CASE after.state WHEN 'ended' THEN clock_timestamp() END,
          cost_usd = CASE after.state WHEN 'ended' THEN (
            SELECT sum(coalesce(tasks.cost_usd, 0) + coalesce(earlier_cost_usd, 0))
            FROM ${schema}.tasks WHERE tasks.run = runs.id) END
        FROM unnest(${toArrayParameters(runColumns, 8)}) AS after (${runNames.join(', ')})
        WHERE runs.id = after.id
      )
      SELECT run, channel FROM ${schema}.followers
      WHERE run = ${ALL_RUNS} OR run = ANY($8::int8[])`,
  }
}

/** Returns array parameters, numbered from `first`. */
function toArrayParameters(columns: Readonly<Record<string, string>>, first: number): string {
  return Object.values(columns)
    .map((type, index) => `$${first + index}::${type}[]`)
    .join(', ')
}
