/** Describes a trace file: its format, what it lacks, and data that no other view shows. Pure. */
import { parseDurationMs } from './trace-state-values.ts'
import { formatDuration, formatPlural } from '../../lib/format.ts'

import type { FollowedLog } from '../../api/run-log.ts'
import type { RunState } from '@tutti/protocol'
import type { ExecutionTrace } from '@tutti/protocol/internal'

/** A table of data that the views of a run cannot show. */
export interface TraceTable {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** The description of a file. */
export interface TraceFacts {
  /** Format and version, such as "AgentEnsemble trace 1.1". */
  readonly format: string
  /** Short notes, such as the workflow. */
  readonly notes: readonly string[]
  /** Data that the file lacks. */
  readonly missing: readonly string[]
  readonly tables: readonly TraceTable[]
}

/** Data that no trace contains. */
const ALWAYS_MISSING = [
  'reviews, directives and model switches',
  'file changes',
  'task dependencies',
]

export function describeTrace(trace: ExecutionTrace, state: RunState): TraceFacts {
  const { captureMode, workflow } = trace
  const isOurs = state.ensemble !== undefined
  const name = isOurs ? 'Tutti trace' : 'AgentEnsemble trace'
  return {
    format: `${name} ${trace.schemaVersion}`,
    notes: [`Capture mode ${captureMode}`, `Workflow ${workflow}`],
    missing: [...listMissing(trace), ...ALWAYS_MISSING, 'tasks executed by code'],
    tables: listTables(trace),
  }
}

/** Describes a list of events. */
export function describeEvents(log: FollowedLog, unknownTypes: readonly string[]): TraceFacts {
  const isWhole = log.events[0]?.type === 'run_queued'
  const missing = [
    ...(isWhole ? [] : ['the start of the run']),
    ...(log.events.at(-1)?.type === 'run_result' ? [] : ['the end of the run']),
    ...unknownTypes.map((type) => `events of the unsupported type "${type}"`),
  ]
  return {
    format: 'Tutti events',
    notes: [formatPlural(log.events.length, 'event')],
    missing,
    tables: [],
  }
}

function listMissing({ captureMode, taskTraces }: ExecutionTrace): readonly string[] {
  const turns = taskTraces.flatMap(({ llmInteractions }) => llmInteractions)
  const hasMessages = turns.some(({ messages }) => messages.length > 0)
  return [
    ...(turns.length === 0 ? ['model turns'] : []),
    ...(turns.length > 0 && !hasMessages ? ['messages sent to models'] : []),
    ...(turns.some(({ model }) => model === undefined) ? ['model names'] : []),
    ...(captureMode === 'OFF' ? ['prompts (capture was off)'] : []),
  ]
}

/** Returns the tables of data that the views of a run cannot show, without empty ones. */
function listTables(trace: ExecutionTrace): readonly TraceTable[] {
  const { mapReduceLevels, taskTraces, loopTraces = [], graphTrace, errors } = trace
  const tables = [
    createTable(
      'Map-reduce levels',
      ['Level', 'Tasks', 'Duration', 'Workflow'],
      mapReduceLevels.map(({ level, taskCount, duration, workflow }) => {
        return [level, taskCount, formatDuration(parseDurationMs(duration)), workflow]
      }),
    ),
    createTable(
      'Map-reduce tasks',
      ['Task', 'Kind', 'Level'],
      taskTraces
        .filter(({ nodeType = null }) => nodeType !== null)
        .map((task) => [task.taskDescription, task.nodeType, task.mapReduceLevel]),
    ),
    createTable(
      'Loops',
      ['Loop', 'Iterations', 'Ended by', 'Tasks by iteration'],
      loopTraces.map(
        ({ loopName, iterationsRun, maxIterations, terminationReason, iterations }) => {
          const names = iterations.map((tasks) => tasks.join(' → ')).join('; ')
          return [loopName, `${iterationsRun} of ${maxIterations}`, terminationReason, names]
        },
      ),
    ),
    createTable(
      `State graph ${graphTrace?.graphName}: ${graphTrace?.stepsRun} of ${graphTrace?.maxSteps} steps, ended by ${graphTrace?.terminationReason}`,
      ['Step', 'State', 'Next'],
      (graphTrace?.steps ?? []).map((step) => [step.stepNumber, step.stateName, step.nextState]),
    ),
    createTable(
      'Errors',
      ['When', 'Agent', 'Task', 'Kind', 'Message'],
      errors.map((error) => {
        const { occurredAt, agentRole, taskDescription, errorType, message } = error
        return [occurredAt, agentRole, taskDescription, errorType, message]
      }),
    ),
  ]
  return tables.filter(({ rows }) => rows.length > 0)
}

function createTable(
  title: string,
  columns: readonly string[],
  rows: readonly (readonly (string | number | null | undefined)[])[],
): TraceTable {
  return { title, columns, rows: rows.map((cells) => cells.map((cell) => String(cell ?? ''))) }
}
