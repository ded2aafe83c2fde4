/** Counts the usage in the steps of an earlier process, for budgets and totals. */
import { addAmounts } from '@tutti/protocol/internal'

import { toCountedUse, type CountedUse, type Meter } from '../usage/budget.ts'
import { readTokens } from '../usage/tokens.ts'
import { sumCostUsd } from '../usage/usage.ts'

import type { StepOf } from '../ports/run-step.ts'
import type { Totals } from '../usage/totals.ts'
import type { StepLog, TaskLog } from './step-log.ts'

/** Counts the steps of all tasks of a run. */
export function countEarlierRun(meter: Meter, log: StepLog): void {
  for (const taskName of log.taskNames) countSteps(meter, log, taskName)
}

/**
 * Counts the steps of a task and of its delegated tasks in the budget of the task, and not in that of the
 * run.
 */
export function countEarlierTask(meter: Meter, log: StepLog, taskName: string): void {
  if (log.isEmpty) return
  countSteps(meter, log, taskName)
  for (const { workerTask } of log.task(taskName).of('delegation_begun')) {
    countEarlierTask(meter, log, workerTask)
  }
}

/** Counts the steps of an attempt in its totals. */
export function countEarlierAttempt(totals: Totals, log: TaskLog, attempt: number): void {
  if (!log.isKnown) return
  for (const { reply, cost, latencyMs, attempt: of } of log.own('model_turn')) {
    if (of === attempt) totals.addModelCall({ usage: reply.usage, cost, latencyMs })
  }
  for (const step of log.own('tool_ended')) {
    if (step.attempt === attempt) totals.addToolCall(step.durationMs)
  }
  for (const step of log.own('agent_used')) {
    if (step.attempt === attempt) totals.addAgent(step)
  }
}

function countSteps(meter: Meter, log: StepLog, taskName: string): void {
  const known = log.task(taskName)
  for (const step of known.own('model_turn')) {
    meter.countEarlier('model')
    meter.countEarlierUse(toEarlierUse(step))
  }
  for (const _ of known.own('tool_ended')) meter.countEarlier('tool')
  for (const step of known.own('agent_used')) meter.countEarlierUse(toCountedUse(step))
}

function toEarlierUse({ reply, cost, counted }: StepOf<'model_turn'>): CountedUse {
  if (counted !== undefined) return counted
  const { inputTokens, outputTokens } = readTokens(reply.usage)
  return {
    tokens: addAmounts(inputTokens, outputTokens),
    costUsd: cost === undefined ? 0 : sumCostUsd(cost),
  }
}
