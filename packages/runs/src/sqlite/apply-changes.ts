/** Applies the changes of events to the rows of a run. */
import type { Change, RunFields, TaskFields } from '../changes.ts'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'

const RUN_COLUMNS: Readonly<Record<keyof RunFields, string>> = {
  status: 'status',
  startedAt: 'started_at',
  completedAt: 'completed_at',
  durationMs: 'duration_ms',
  error: 'error',
}

const TASK_COLUMNS: Readonly<Record<keyof TaskFields, string>> = {
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
}

/** Applies changes to the run whose row has `id`. */
export type ApplyChange = (id: number, change: Change) => void

/** Makes the function that applies changes; statements are prepared once per set of columns. */
export function changeApplier(database: DatabaseSync): ApplyChange {
  const statements = new Map<string, StatementSync>()
  const run = (sql: string, values: readonly SQLInputValue[]): void => {
    const statement = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, statement)
    statement.run(...values)
  }
  return (id, change) => {
    if (change.kind === 'new_task') {
      const { taskIndex, name, description, agentRole } = change.task
      run(
        `INSERT INTO tasks (run, task_index, name, description, agent_role) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT DO NOTHING`,
        [id, taskIndex, name, description, agentRole],
      )
      return
    }
    const { assignments, values } = assignmentsOf(change)
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
}

type Update = Exclude<Change, { readonly kind: 'new_task' }>

function assignmentsOf(change: Update): {
  readonly assignments: readonly string[]
  readonly values: readonly SQLInputValue[]
} {
  const columns = change.kind === 'run' ? RUN_COLUMNS : TASK_COLUMNS
  const assignments = Object.keys(change.set).map((field) => `${columnOf(columns, field)} = ?`)
  const values: SQLInputValue[] = Object.values(change.set)
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

const COUNT_TASKS = 'task_count = (SELECT count(*) FROM tasks WHERE run = runs.id)'

/** Tokens that are not known, -1, and costs that are not known, NULL, make their sums unknown too. */
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

function columnOf(columns: Readonly<Record<string, string>>, field: string): string {
  const column = columns[field]
  if (column === undefined) throw new TypeError(`No column keeps the field "${field}"`)
  return column
}
