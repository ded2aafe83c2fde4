/** Pure: what the head of a file tells: what it is, what it does not hold, and what no other place shows. */
import { parseDurationMs } from './trace-state-values.ts'
import { formatDuration, plural } from '../../lib/format.ts'

import type { FollowedLog } from '../../api/run-log.ts'
import type { ExecutionTrace, RunState, TaskTrace } from '@tutti/protocol'

/** One table of things that the views of a run have no place for. */
export interface TraceTable {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** What is said of a file above the run. */
export interface TraceFacts {
  /** Such as "AgentEnsemble trace 1.1". */
  readonly format: string
  /** What it is about in a few words, such as the workflow. */
  readonly notes: readonly string[]
  /** What a reader may look for in vain, in words. */
  readonly missing: readonly string[]
  readonly tables: readonly TraceTable[]
}

/** What is not in any trace. */
const NEVER_HELD = [
  'reviews, directives and model switches',
  'changes of files',
  'which task waited for which',
]

export function factsOfTrace(trace: ExecutionTrace, state: RunState): TraceFacts {
  const { captureMode, workflow, errors } = trace
  const isOurs = state.ensemble !== undefined
  const name = isOurs ? 'Tutti trace' : 'AgentEnsemble trace'
  return {
    format: `${name} ${trace.schemaVersion}`,
    notes: [`Capture mode ${captureMode}`, `Workflow ${workflow}`],
    missing: [...missingBy(trace), ...NEVER_HELD, 'tasks that are done by code'],
    tables: [
      ...mapReduceTables(trace),
      ...loopTables(trace),
      ...graphTables(trace),
      table('Errors', ['When', 'Agent', 'Task', 'Kind', 'Message'], errorRows(errors)),
    ].filter(({ rows }) => rows.length > 0),
  }
}

/** The facts of a list of events. */
export function factsOfEvents(log: FollowedLog, unknownTypes: readonly string[]): TraceFacts {
  const isWhole = log.events[0]?.type === 'run_queued'
  const missing = [
    ...(isWhole ? [] : ['the beginning of the run']),
    ...(log.events.at(-1)?.type === 'run_result' ? [] : ['the end of the run']),
    ...unknownTypes.map((type) => `events of type "${type}", which this version does not know`),
  ]
  return {
    format: 'Tutti events',
    notes: [plural(log.events.length, 'event')],
    missing,
    tables: [],
  }
}

function missingBy({ captureMode, taskTraces }: ExecutionTrace): readonly string[] {
  const turns = taskTraces.flatMap(({ llmInteractions }) => llmInteractions)
  const hasMessages = turns.some(({ messages }) => messages.length > 0)
  return [
    ...(turns.length === 0 ? ['model turns'] : []),
    ...(turns.length > 0 && !hasMessages ? ['the messages that models were shown'] : []),
    ...(turns.some(({ model }) => model === undefined) ? ['the models that answered'] : []),
    ...(captureMode === 'OFF' ? ['prompts, as capture was off'] : []),
  ]
}

function mapReduceTables({ mapReduceLevels, taskTraces }: ExecutionTrace): readonly TraceTable[] {
  const levels = mapReduceLevels.map(({ level, taskCount, duration, workflow }) => [
    String(level),
    String(taskCount),
    formatDuration(parseDurationMs(duration)),
    workflow,
  ])
  const kinds = taskTraces.flatMap((task) => kindRow(task))
  return [
    table('Map-reduce levels', ['Level', 'Tasks', 'Duration', 'Workflow'], levels),
    table('Places in the map-reduce', ['Task', 'Kind', 'Level'], kinds),
  ]
}

function kindRow({ taskDescription, nodeType, mapReduceLevel }: TaskTrace): string[][] {
  if (nodeType === undefined || nodeType === null) return []
  return [[taskDescription, nodeType, mapReduceLevel?.toString() ?? '']]
}

function loopTables({ loopTraces = [] }: ExecutionTrace): readonly TraceTable[] {
  const rows = loopTraces.map((loop) => [
    loop.loopName,
    `${loop.iterationsRun} of ${loop.maxIterations}`,
    loop.terminationReason,
    loop.iterations.map((names) => names.join(' → ')).join('; '),
  ])
  return [table('Loops', ['Loop', 'Rounds', 'Ended by', 'Tasks, round by round'], rows)]
}

function graphTables({ graphTrace }: ExecutionTrace): readonly TraceTable[] {
  if (graphTrace === undefined || graphTrace === null) return []
  const { graphName, terminationReason, stepsRun, maxSteps } = graphTrace
  const title = `State graph ${graphName}: ${stepsRun} of ${maxSteps} steps, ended by ${terminationReason}`
  const rows = graphTrace.steps.map(({ stepNumber, stateName, nextState }) => [
    String(stepNumber),
    stateName,
    nextState ?? '',
  ])
  return [table(title, ['Step', 'State', 'Next'], rows)]
}

function errorRows(errors: ExecutionTrace['errors']): readonly string[][] {
  return errors.map((error) => [
    error.occurredAt,
    error.agentRole,
    error.taskDescription,
    error.errorType,
    error.message,
  ])
}

function table(
  title: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): TraceTable {
  return { title, columns, rows }
}
