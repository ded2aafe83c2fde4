/** Describes a trace file: its format, what it lacks, and data that no other view shows. Pure. */
import { parseDurationMs } from './trace-state-values.ts'
import { formatDuration, formatPlural } from '../../lib/format.ts'

import type { FollowedLog } from '../../api/run-log.ts'
import type { RunState } from '@tutti/protocol'
import type { ExecutionTrace, TaskTrace } from '@tutti/protocol/internal'

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
  const { captureMode, workflow, errors } = trace
  const isOurs = state.ensemble !== undefined
  const name = isOurs ? 'Tutti trace' : 'AgentEnsemble trace'
  return {
    format: `${name} ${trace.schemaVersion}`,
    notes: [`Capture mode ${captureMode}`, `Workflow ${workflow}`],
    missing: [...listMissing(trace), ...ALWAYS_MISSING, 'tasks executed by code'],
    tables: [
      ...createMapReduceTables(trace),
      ...createLoopTables(trace),
      ...createGraphTables(trace),
      createTable('Errors', ['When', 'Agent', 'Task', 'Kind', 'Message'], createErrorRows(errors)),
    ].filter(({ rows }) => rows.length > 0),
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

function createMapReduceTables({
  mapReduceLevels,
  taskTraces,
}: ExecutionTrace): readonly TraceTable[] {
  const levels = mapReduceLevels.map(({ level, taskCount, duration, workflow }) => [
    String(level),
    String(taskCount),
    formatDuration(parseDurationMs(duration)),
    workflow,
  ])
  const kinds = taskTraces.flatMap((task) => createKindRows(task))
  return [
    createTable('Map-reduce levels', ['Level', 'Tasks', 'Duration', 'Workflow'], levels),
    createTable('Map-reduce tasks', ['Task', 'Kind', 'Level'], kinds),
  ]
}

function createKindRows({ taskDescription, nodeType, mapReduceLevel }: TaskTrace): string[][] {
  if (nodeType === undefined || nodeType === null) return []
  return [[taskDescription, nodeType, mapReduceLevel?.toString() ?? '']]
}

function createLoopTables({ loopTraces = [] }: ExecutionTrace): readonly TraceTable[] {
  const rows = loopTraces.map((loop) => [
    loop.loopName,
    `${loop.iterationsRun} of ${loop.maxIterations}`,
    loop.terminationReason,
    loop.iterations.map((names) => names.join(' → ')).join('; '),
  ])
  return [createTable('Loops', ['Loop', 'Iterations', 'Ended by', 'Tasks by iteration'], rows)]
}

function createGraphTables({ graphTrace }: ExecutionTrace): readonly TraceTable[] {
  if (graphTrace === undefined || graphTrace === null) return []
  const { graphName, terminationReason, stepsRun, maxSteps } = graphTrace
  const title = `State graph ${graphName}: ${stepsRun} of ${maxSteps} steps, ended by ${terminationReason}`
  const rows = graphTrace.steps.map(({ stepNumber, stateName, nextState }) => [
    String(stepNumber),
    stateName,
    nextState ?? '',
  ])
  return [createTable(title, ['Step', 'State', 'Next'], rows)]
}

function createErrorRows(errors: ExecutionTrace['errors']): readonly string[][] {
  return errors.map((error) => [
    error.occurredAt,
    error.agentRole,
    error.taskDescription,
    error.errorType,
    error.message,
  ])
}

function createTable(
  title: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): TraceTable {
  return { title, columns, rows }
}
