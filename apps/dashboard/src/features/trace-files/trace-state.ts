/**
 * Converts a trace file (ExecutionTrace of AgentEnsemble) to the state of a run. Pure.
 *
 * DASH-TS1 Values are taken from the file unchanged; totals are those of the file, not computed.
 * DASH-TS2 Missing values are not invented: numbers are unknown, fields absent, lists empty.
 * DASH-TS3 A trace of Tutti results in the same tasks, outputs, turns, tool calls and totals as its
 *    events, except for reviews, directives, model switches and work of code, which traces lack.
 * DASH-TS4 Files of AgentEnsemble have no task names; the names are derived from the descriptions.
 */
import { RunStatus, type RunState } from '@tutti/protocol'
import { Workflow, type ExecutionTrace, type TaskState } from '@tutti/protocol/internal'

import { omitUndefined } from '../../lib/omit-undefined.ts'
import { readCost, parseDurationMs, readTags, readText } from './trace-state-values.ts'
import { readTracedTasks } from './trace-state-tasks.ts'

export function toRunState(trace: ExecutionTrace): RunState {
  const { ensembleId: id, startedAt, completedAt, metadata, inputs, errors } = trace
  const { tasks, delegations } = readTracedTasks(trace)
  const status = readRunStatus(trace, tasks)
  const isOver = status === 'COMPLETED' || status === 'FAILED' || status === 'CANCELLED'
  const error = status === 'FAILED' ? errors.at(-1) : undefined
  const { totalTokens, totalToolCalls, totalCostEstimate } = trace.metrics
  const costUsd = readCost(metadata, trace.totalCostEstimate ?? totalCostEstimate)
  return omitUndefined({
    id,
    status,
    inputs,
    tags: readTags(metadata, 'tags'),
    startedAt,
    tasks,
    reviews: [],
    directives: [],
    delegations,
    changedFiles: [],
    totals: omitUndefined({ totalTokens, totalToolCalls, costUsd }),
    ensemble: readText(metadata, 'ensemble'),
    workflow: Workflow.enum.find((name) => name === trace.workflow),
    completedAt: isOver ? completedAt : undefined,
    durationMs: isOver ? parseDurationMs(trace.totalDuration) : undefined,
    outputs: isOver ? collectOutputs(tasks) : undefined,
    error: error && { message: error.message, code: error.errorType },
  })
}

/**
 * Returns the status: that in traces of Tutti, else a final one, because AgentEnsemble writes a
 * trace when the run returns.
 */
function readRunStatus({ metadata, errors }: ExecutionTrace, tasks: RunState['tasks']): RunStatus {
  const recorded = readText(metadata, 'status')
  const known = RunStatus.enum.find((status) => status === recorded)
  if (known !== undefined) return known
  // A failed delegation is handled by the delegating task.
  const last = tasks.findLast(({ delegatedBy }) => delegatedBy === undefined)
  return errors.length > 0 && (last === undefined || last.status === 'FAILED')
    ? 'FAILED'
    : 'COMPLETED'
}

/** Returns the outputs of all tasks, including delegated ones, in order of their end. */
function collectOutputs(tasks: RunState['tasks']): NonNullable<RunState['outputs']> {
  return tasks
    .toSorted((left, right) => parseEnd(left) - parseEnd(right))
    .flatMap(({ name: taskName, output, durationMs }) => {
      if (output === undefined) return []
      return [omitUndefined({ taskName, output, durationMs })]
    })
}

function parseEnd({ completedAt = '' }: TaskState): number {
  return completedAt === '' ? Infinity : Date.parse(completedAt)
}
