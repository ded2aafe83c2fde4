/** Applies the changes of events to the rows of a run. */
import type { Change, NewReview, NewTask, RunFields, TaskChangeFields } from '../commit/changes.ts'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'

const RUN_COLUMNS: Readonly<Record<keyof RunFields, string>> = {
  status: 'status',
  startedAt: 'started_at',
  completedAt: 'completed_at',
  durationMs: 'duration_ms',
  error: 'error',
}

const TASK_COLUMNS: Readonly<Record<keyof TaskChangeFields, string>> = {
  status: 'status',
  description: 'description',
  attempt: 'attempt',
  startedAt: 'started_at',
  completedAt: 'completed_at',
  durationMs: 'duration_ms',
  inputTokens: 'input_tokens',
  outputTokens: 'output_tokens',
  toolCallCount: 'tool_call_count',
  costUsd: 'cost_usd',
  output: 'output',
  error: 'error',
  finishReason: 'finish_reason',
}

/** Texts that models, tools and people write; stored as JSON, see `rows.ts`. */
const JSON_FIELDS: ReadonlySet<string> = new Set(['description', 'output', 'error'])

/** Applies changes to the run whose row has `id`. */
export type ApplyChange = (id: number, change: Change) => void

/** Returns the function that applies changes. Statements are prepared once per set of columns. */
export function prepareChangeApplier(database: DatabaseSync): ApplyChange {
  const statements = new Map<string, StatementSync>()
  const run: RunStatement = (sql, values) => {
    const statement = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, statement)
    statement.run(...values)
  }
  return (id, change) => {
    switch (change.kind) {
      case 'new_task':
        run(INSERT_TASK, newTaskValues(id, change.task))
        break
      case 'new_review':
        run(INSERT_REVIEW, newReviewValues(id, change.review))
        break
      case 'review':
        run(END_REVIEW, [
          change.status,
          change.decidedBy === undefined ? null : JSON.stringify(change.decidedBy),
          id,
          change.reviewId,
        ])
        break
      default:
        update(run, id, change)
    }
  }
}

const INSERT_TASK = `
  INSERT INTO tasks (run, task_index, name, description, agent_role) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT DO NOTHING`

function newTaskValues(id: number, task: NewTask): readonly SQLInputValue[] {
  const { taskIndex, name, description, agentRole } = task
  return [id, taskIndex, ...[name, description, agentRole].map((text) => JSON.stringify(text))]
}

const INSERT_REVIEW = `
  INSERT INTO reviews (run, review_id, request, opened_at, expires_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT DO NOTHING`

function newReviewValues(id: number, review: NewReview): readonly SQLInputValue[] {
  const { reviewId, request, openedAt, expiresAt = null } = review
  return [id, reviewId, JSON.stringify(request), openedAt, expiresAt]
}

const END_REVIEW = `
  UPDATE reviews SET status = ?, decided_by = ?
  WHERE run = ? AND review_id = ? AND status = 'OPEN'`

type RunStatement = (sql: string, values: readonly SQLInputValue[]) => void

function update(run: RunStatement, id: number, change: Update): void {
  const { assignments, values } = toAssignments(change)
  if (assignments.length === 0) return
  const list = assignments.join(', ')
  if (change.kind === 'run') run(`UPDATE runs SET ${list} WHERE id = ?`, [...values, id])
  else {
    run(`UPDATE tasks SET ${list} WHERE run = ? AND task_index = ?`, [
      ...values,
      id,
      change.taskIndex,
    ])
  }
}

type Update = Extract<Change, { readonly kind: 'run' | 'task' }>

function toAssignments(change: Update): {
  readonly assignments: readonly string[]
  readonly values: readonly SQLInputValue[]
} {
  const columns = change.kind === 'run' ? RUN_COLUMNS : TASK_COLUMNS
  const assignments = Object.entries(change.set).map(([field, value]) =>
    field === 'status' && value === 'RUNNING' && change.kind === 'run'
      ? SET_RUNNING
      : `${findColumn(columns, field)} = ?`,
  )
  const values: SQLInputValue[] = Object.entries(change.set).map(([field, value]) =>
    JSON_FIELDS.has(field) && value !== null ? JSON.stringify(value) : value,
  )
  if (change.kind === 'run' && change.countTasks === true) assignments.push(COUNT_TASKS)
  if (change.kind === 'task' && change.newAttempt === true) assignments.push(...NEW_ATTEMPT)
  const counter = change.kind === 'run' ? 'completed_tasks' : 'tool_call_count'
  const added = change.kind === 'run' ? change.addCompletedTasks : change.addToolCalls
  if (added === undefined) return { assignments, values }
  return {
    assignments: [...assignments, `${counter} = ${counter} + ?`],
    values: [...values, added],
  }
}

/** A run that was cancelled before its start remains CANCELLING when it starts. */
const SET_RUNNING = `status = CASE status WHEN 'CANCELLING' THEN status ELSE ? END`

const COUNT_TASKS = 'task_count = (SELECT count(*) FROM tasks WHERE run = runs.id)'

/** Unknown tokens (-1) and unknown costs (NULL) make their sums unknown. */
const NEW_ATTEMPT: readonly string[] = [
  ...['input_tokens', 'output_tokens'].map(
    (column) =>
      `earlier_${column} = CASE WHEN min(earlier_${column}, ${column}) < 0 THEN -1
       ELSE earlier_${column} + ${column} END`,
  ),
  ...['tool_call_count', 'cost_usd'].map(
    (column) => `earlier_${column} = earlier_${column} + ${column}`,
  ),
  ...['input_tokens', 'output_tokens', 'tool_call_count', 'cost_usd'].map(
    (column) => `${column} = 0`,
  ),
]

function findColumn(columns: Readonly<Record<string, string>>, field: string): string {
  const column = columns[field]
  if (column === undefined) throw new TypeError(`No column stores the field "${field}"`)
  return column
}
