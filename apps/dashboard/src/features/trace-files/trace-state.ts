/**
 * Pure: from a trace file (AgentEnsemble's ExecutionTrace) to the run that it tells of.
 *
 * T1 What the file says is taken as it is; totals are those of the file, not sums made here.
 * T2 What the file does not say is not made up: a number is unknown, a field is absent, a list is empty.
 * T3 A trace of our own server gives the same tasks, outputs, turns, tool calls and totals as the events that
 *    it was made of, as far as a trace holds them: not reviews, directives, switches of models and work of code.
 * T4 A file of AgentEnsemble names no tasks; they are named by what they are asked to do.
 */
import {
  RunStatus,
  Workflow,
  type ExecutionTrace,
  type RunState,
  type TaskState,
} from '@tutti/protocol'

import { tracedCost, parseDurationMs, tagsAt, textAt } from './trace-state-values.ts'
import { tracedTasks } from './trace-state-tasks.ts'

export function traceState(trace: ExecutionTrace): RunState {
  const { ensembleId: id, startedAt, completedAt, metadata } = trace
  const { tasks, delegations } = tracedTasks(trace)
  const ensemble = textAt(metadata, 'ensemble')
  const workflow = Workflow.enum.find((name) => name === trace.workflow)
  const status = statusOf(trace, tasks)
  const isOver = status === 'COMPLETED' || status === 'FAILED' || status === 'CANCELLED'
  return {
    id,
    status,
    inputs: trace.inputs,
    tags: tagsAt(metadata, 'tags'),
    startedAt,
    tasks,
    reviews: [],
    directives: [],
    delegations,
    changedFiles: [],
    totals: totalsOf(trace),
    ...(ensemble === undefined ? {} : { ensemble }),
    ...(workflow === undefined ? {} : { workflow }),
    ...(isOver ? { completedAt, ...durationOf(trace), outputs: outputsOf(tasks) } : {}),
    ...(status === 'FAILED' ? errorOf(trace) : {}),
  }
}

/** Our own traces say it. AgentEnsemble writes a trace when its run returns, so that it has an end. */
function statusOf({ metadata, errors }: ExecutionTrace, tasks: RunState['tasks']): RunStatus {
  const said = textAt(metadata, 'status')
  const known = RunStatus.enum.find((status) => status === said)
  if (known !== undefined) return known
  // A delegation that failed is for the task that delegated it to deal with.
  const last = tasks.findLast(({ delegatedBy }) => delegatedBy === undefined)
  return errors.length > 0 && (last === undefined || last.status === 'FAILED')
    ? 'FAILED'
    : 'COMPLETED'
}

function totalsOf({ metrics, metadata, totalCostEstimate }: ExecutionTrace): RunState['totals'] {
  const { totalTokens, totalToolCalls } = metrics
  const costUsd = tracedCost(metadata, totalCostEstimate ?? metrics.totalCostEstimate)
  return { totalTokens, totalToolCalls, ...(costUsd === undefined ? {} : { costUsd }) }
}

function durationOf({ totalDuration }: ExecutionTrace): Pick<RunState, 'durationMs'> {
  const durationMs = parseDurationMs(totalDuration)
  return durationMs === undefined ? {} : { durationMs }
}

/** What the tasks gave, delegated ones too, in the order in which they ended. */
function outputsOf(tasks: RunState['tasks']): NonNullable<RunState['outputs']> {
  return tasks
    .toSorted((left, right) => endOf(left) - endOf(right))
    .flatMap(({ name: taskName, output, durationMs }) => {
      if (output === undefined) return []
      return [{ taskName, output, ...(durationMs === undefined ? {} : { durationMs }) }]
    })
}

function endOf({ completedAt = '' }: TaskState): number {
  return completedAt === '' ? Infinity : Date.parse(completedAt)
}

function errorOf({ errors }: ExecutionTrace): Pick<RunState, 'error'> {
  const last = errors.at(-1)
  return last === undefined ? {} : { error: { message: last.message, code: last.errorType } }
}
