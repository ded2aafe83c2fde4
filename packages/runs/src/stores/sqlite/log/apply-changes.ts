/** Applies the changes of events to the rows of a run. */
import type { NewReview, NewTask, RunFields, TaskChangeFields } from '../../../domain/change.ts'
import type { FoldedChanges, RunChange, TaskChange } from '../../../log/fold-changes.ts'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'

const RUN_COLUMNS: Readonly<Record<keyof RunFields, string>> = {
  status: 'status',
  startedAt: 'started_at',
  completedAt: 'completed_at',
  durationMs: 'duration_ms',
  error: 'error',
  outputTask: 'output_task',
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
const JSON_FIELDS: ReadonlySet<string> = new Set(['description', 'output', 'error', 'outputTask'])

/** An assignment of an UPDATE, and the values of its parameters. */
export type Assignment = readonly [sql: string, ...values: SQLInputValue[]]

/** Applies the changes of one write to the run whose row has `id`, and makes `assignments` in the same row. */
export type ApplyChanges = (
  id: number,
  changes: FoldedChanges,
  assignments: readonly Assignment[],
) => void

/** Returns the function that applies changes. Statements are prepared once per set of columns. */
export function prepareChangeApplier(database: DatabaseSync): ApplyChanges {
  const statements = new Map<string, StatementSync>()
  const run: RunStatement = (sql, values) => {
    const statement = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, statement)
    statement.run(...values)
  }
  return (id, changes, assignments) => {
    for (const change of changes.others) {
      switch (change.kind) {
        case 'new_task':
          run(INSERT_TASK, newTaskValues(id, change.task))
          break
        case 'new_review':
          run(INSERT_REVIEW, newReviewValues(id, change.review))
          break
        default:
          run(END_REVIEW, [
            change.status,
            change.decidedBy === undefined ? null : JSON.stringify(change.decidedBy),
            id,
            change.reviewId,
          ])
      }
    }
    for (const change of changes.tasks) {
      const { taskIndex } = change
      const key: Assignment = ['run = ? AND task_index = ?', id, taskIndex]
      update(run, 'tasks', { assignments: toTaskAssignments(change), key })
    }
    // The row of a run sums up those of its tasks, so it comes last.
    const ofRun = [...toRunAssignments(changes.run), ...assignments]
    update(run, 'runs', { assignments: ofRun, key: ['id = ?', id] })
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
  INSERT INTO reviews (run, review_id, kind, request, opened_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT DO NOTHING`

function newReviewValues(id: number, review: NewReview): readonly SQLInputValue[] {
  const { reviewId, request, openedAt, expiresAt = null } = review
  return [id, reviewId, request.kind, JSON.stringify(request), openedAt, expiresAt]
}

const END_REVIEW = `
  UPDATE reviews SET status = ?, decided_by = ?
  WHERE run = ? AND review_id = ? AND status = 'OPEN'`

type RunStatement = (sql: string, values: readonly SQLInputValue[]) => void

interface RowUpdate {
  readonly assignments: readonly Assignment[]
  /** Condition that selects the row. */
  readonly key: Assignment
}

function update(
  run: RunStatement,
  table: 'runs' | 'tasks',
  { assignments, key: [condition, ...key] }: RowUpdate,
): void {
  if (assignments.length === 0) return
  const list = assignments.map(([sql]) => sql).join(', ')
  const values = assignments.flatMap(([, ...given]) => given)
  run(`UPDATE ${table} SET ${list} WHERE ${condition}`, [...values, ...key])
}

function toRunAssignments({ set, addCompletedTasks, countTasks }: RunChange): Assignment[] {
  const assignments = Object.entries(set).map(([field, value]): Assignment =>
    field === 'status' && value === 'RUNNING'
      ? [SET_RUNNING, value]
      : toAssignment(RUN_COLUMNS, field, value),
  )
  if (countTasks === true) assignments.push([COUNT_TASKS])
  if (addCompletedTasks !== undefined) {
    assignments.push(['completed_tasks = completed_tasks + ?', addCompletedTasks])
  }
  return assignments
}

function toTaskAssignments({ set, addToolCalls, newAttempt }: TaskChange): Assignment[] {
  const assignments = Object.entries(set).map(([field, value]) =>
    toAssignment(TASK_COLUMNS, field, value),
  )
  if (newAttempt !== true) {
    if (addToolCalls !== undefined) {
      assignments.push(['tool_call_count = tool_call_count + ?', addToolCalls])
    }
    return assignments
  }
  const { toolCallCount = addToolCalls ?? 0, inputTokens = 0, outputTokens = 0 } = set
  const { costUsd = 0 } = set
  const usage = { inputTokens, outputTokens, toolCallCount, costUsd }
  const missing = Object.entries(usage).filter(([field]) => !Object.hasOwn(set, field))
  return [
    ...assignments,
    ...missing.map(([field, value]) => toAssignment(TASK_COLUMNS, field, value)),
    ...NEW_ATTEMPT,
  ]
}

function toAssignment(
  columns: Readonly<Record<string, string>>,
  field: string,
  value: SQLInputValue,
): Assignment {
  const isText = JSON_FIELDS.has(field) && value !== null
  return [`${findColumn(columns, field)} = ?`, isText ? JSON.stringify(value) : value]
}

/** A run that was cancelled before its start remains CANCELLING when it starts. */
const SET_RUNNING = `status = CASE status WHEN 'CANCELLING' THEN status ELSE ? END`

const COUNT_TASKS = 'task_count = (SELECT count(*) FROM tasks WHERE run = runs.id)'

/**
 * Adds the usage of the attempts so far to that of earlier attempts. Unknown tokens (-1) and unknown costs (NULL) make
 * their sums unknown.
 */
const NEW_ATTEMPT: readonly Assignment[] = [
  ...['input_tokens', 'output_tokens'].map((column): Assignment => [
    `earlier_${column} = CASE WHEN min(earlier_${column}, ${column}) < 0 THEN -1
       ELSE min(earlier_${column} + ${column}, ${Number.MAX_SAFE_INTEGER}) END`,
  ]),
  ...['tool_call_count', 'cost_usd'].map((column): Assignment => [
    `earlier_${column} = earlier_${column} + ${column}`,
  ]),
]

function findColumn(columns: Readonly<Record<string, string>>, field: string): string {
  const column = columns[field]
  if (column === undefined) throw new TypeError(`No column stores the field "${field}"`)
  return column
}
