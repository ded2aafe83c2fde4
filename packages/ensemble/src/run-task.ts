/**
 * Runs one task: its events around one agent loop.
 *
 * T1 task_started, task_input, the loop's events, then exactly one of task_completed and task_failed.
 * T2 task_completed is committed together with the checkpoint that keeps the task from running again.
 */
import { isoNow, limitText, TuttiError } from '@tutti/core'

import { LoopTotals, type TaskUsage } from './agent/loop-totals.ts'
import { runAgentLoop, type AgentLoopResult } from './agent/loop.ts'
import { contextText, firstMessages, type ContextOutput, type TaskText } from './agent/prompt.ts'
import { totalTokens } from './tokens.ts'

import type { ChatModel } from './model/chat-model.ts'
import type { RunJournal, TaskCheckpoint } from './ports/run-journal.ts'
import type { TaskScope } from './task-scope.ts'

/** Longest assembled context that `task_input` shows, in characters; the wire's limit. */
const CONTEXT_SHOWN = 8_000

/** What a task starts from. */
export interface RunTaskInput {
  readonly scope: TaskScope
  readonly model: ChatModel
  readonly text: TaskText
  readonly context: readonly ContextOutput[]
  readonly totalTasks: number
  readonly journal: RunJournal
}

/** How a task ended. */
export type TaskOutcome =
  | { readonly ok: true; readonly checkpoint: TaskCheckpoint }
  | { readonly ok: false; readonly error: TuttiError; readonly used: TaskUsage }

/** Runs a task; never rejects. */
export async function runTask(input: RunTaskInput): Promise<TaskOutcome> {
  const { scope, model, text, context } = input
  const totals = new LoopTotals()
  const startedAt = scope.clock.elapsed()
  try {
    announce(input)
    const messages = firstMessages(scope.task.agent, text, context)
    const result = await runAgentLoop({ scope, model, messages, totals })
    const ended = { ...result, used: totals.usage(), startedAt }
    return { ok: true, checkpoint: await complete(input, ended) }
  } catch (thrown) {
    const error = TuttiError.from(thrown, 'TASK_FAILED')
    fail(input, error, startedAt)
    return { ok: false, error, used: totals.usage() }
  }
}

function announce({ scope, text, context, totalTasks }: RunTaskInput): void {
  const { identity, task, clock } = scope
  scope.emit({ type: 'task_started', ...identity, totalTasks, startedAt: isoNow(clock) })
  scope.emit({
    type: 'task_input',
    ...identity,
    expectedOutput: text.expectedOutput,
    agentGoal: task.agent.goal,
    agentBackground: task.agent.background ?? null,
    toolNames: task.tools.map((tool) => tool.name),
    assembledContext: limitText(contextText(context), CONTEXT_SHOWN),
    sentAt: isoNow(clock),
  })
}

interface Ended extends AgentLoopResult {
  readonly used: TaskUsage
  readonly startedAt: number
}

async function complete(
  { scope, totalTasks, journal }: RunTaskInput,
  { output, used, startedAt, iterationLimitReached }: Ended,
): Promise<TaskCheckpoint> {
  const { identity, clock } = scope
  const checkpoint: TaskCheckpoint = {
    taskName: identity.taskName,
    attempt: identity.attempt,
    output,
    ...used,
    durationMs: Math.round(clock.elapsed() - startedAt),
  }
  await journal.commit(
    {
      type: 'task_completed',
      ...identity,
      totalTasks,
      completedAt: isoNow(clock),
      durationMs: checkpoint.durationMs,
      tokenCount: totalTokens(used),
      output,
      ...used,
      iterationLimitReached,
    },
    checkpoint,
  )
  return checkpoint
}

function fail({ scope }: RunTaskInput, error: TuttiError, startedAt: number): void {
  scope.emit({
    type: 'task_failed',
    ...scope.identity,
    failedAt: isoNow(scope.clock),
    reason: error.message,
    durationMs: Math.round(scope.clock.elapsed() - startedAt),
    code: error.code,
  })
}
