/** Events and steps that the cases write. */
import type { NewRun } from '../../domain/run-record.ts'
import type { RunStep } from '@tutti/ensemble/internal'
import type { LoggedRunEvent, RunEvent, RunEventOf } from '@tutti/protocol'

/** The instant of every event here. */
export const AT = '2026-01-01T00:00:00.000Z'

/** The same in milliseconds since 1970. */
export const AT_MS = Date.parse(AT)

/** Text that a store must not change: control characters, half of a surrogate pair, quotes, a wide character. */
export const ODD_TEXT = 'nul \u0000 bell \u0007 del \u007f lone \ud800 \udc00 "q" \\u0000 é 🎻'

/** The first event of a run. */
export function queued(run: NewRun): RunEventOf<'run_queued'> {
  return {
    type: 'run_queued',
    queuedAt: AT,
    ensemble: run.ensemble,
    workflow: run.workflow,
    totalTasks: run.taskCount,
    inputs: { ...run.inputs },
    tags: { ...run.tags },
  }
}

/** The fields of an event that identify its task. */
export function taskFields(taskIndex: number) {
  return {
    taskIndex,
    taskName: `task-${taskIndex}`,
    taskDescription: `Task ${taskIndex}`,
    agentRole: 'Player',
    attempt: 1,
  }
}

/** The start of a run of two tasks. */
export const started: RunEventOf<'ensemble_started'> = {
  type: 'ensemble_started',
  ensembleId: 'e',
  startedAt: AT,
  totalTasks: 2,
  workflow: 'SEQUENTIAL',
  ensemble: 'band',
  tasks: [1, 2].map((index) => ({
    name: `task-${index}`,
    description: `Task ${index}`,
    agentRole: 'Player',
    context: [],
  })),
  outputTask: 'task-2',
}

/** Returns the start of the first attempt of a task. */
export function taskStarted(taskIndex: number): RunEventOf<'task_started'> {
  return { type: 'task_started', ...taskFields(taskIndex), totalTasks: 2, startedAt: AT }
}

/** The completion of the first task. */
export const completed: RunEventOf<'task_completed'> = {
  type: 'task_completed',
  ...taskFields(1),
  totalTasks: 2,
  completedAt: AT,
  durationMs: 7,
  tokenCount: 30,
  toolCallCount: 2,
  output: 'first output',
  inputTokens: 20,
  outputTokens: 10,
  iterationLimitReached: false,
  costUsd: 0.5,
}

/** The failure of an attempt of the first task that will be retried. */
export const failed: RunEventOf<'task_attempt_failed'> = {
  type: 'task_attempt_failed',
  ...taskFields(1),
  failedAt: AT,
  reason: 'it broke',
  durationMs: 3,
  code: 'TASK_FAILED',
  inputTokens: 5,
  outputTokens: 6,
  toolCallCount: 1,
  costUsd: 0.25,
  willRetry: true,
}

/** Returns the end of a model call. */
export function modelAnswered(
  fields: Partial<RunEventOf<'llm_iteration_completed'>> = {},
): RunEventOf<'llm_iteration_completed'> {
  return {
    type: 'llm_iteration_completed',
    iterationIndex: 0,
    responseType: 'FINAL_ANSWER',
    inputTokens: 1,
    outputTokens: 9,
    latencyMs: 1,
    model: 'sonnet',
    completedAt: AT,
    finishReason: 'stop',
    ...taskFields(1),
    ...fields,
  }
}

/** Returns an event with this part of a model's reasoning. */
export function reasoning(text: string, taskIndex = 1): RunEventOf<'reasoning'> {
  const { taskDescription: _, ...fields } = taskFields(taskIndex)
  return { type: 'reasoning', text, ...fields, iterationIndex: 0, sentAt: AT }
}

/** Returns a token event with this text. */
export function token(text: string, taskIndex = 1): RunEventOf<'token'> {
  return { type: 'token', token: text, ...taskFields(taskIndex), iterationIndex: 0, sentAt: AT }
}

/** Returns the event of a model call with these messages. */
export function modelCalled(
  messages: RunEventOf<'llm_iteration_started'>['messages'],
): RunEventOf<'llm_iteration_started'> {
  const call = { iterationIndex: 0, totalMessageCount: messages.length, model: 'model' }
  return { type: 'llm_iteration_started', ...taskFields(1), ...call, messages, startedAt: AT }
}

/** Returns the event of a tool call that has ended. */
export function toolCalled(changes: Partial<RunEventOf<'tool_called'>>): RunEventOf<'tool_called'> {
  const { taskDescription: _, ...task } = taskFields(1)
  return {
    type: 'tool_called',
    ...task,
    toolName: 'read',
    durationMs: 1,
    outcome: 'SUCCESS',
    toolArguments: null,
    toolResult: null,
    structuredResult: null,
    iterationIndex: 0,
    toolCallId: 'call-1',
    completedAt: AT,
    ...changes,
  }
}

/** Returns the step of a tool call that has ended. */
export function toolEnded(text: string): RunStep {
  const { taskName, attempt } = taskFields(1)
  const position = { taskName, attempt, iterationIndex: 0, position: 0 }
  return { kind: 'tool_ended', runMs: 1, taskMs: 1, durationMs: 1, text, ...position }
}

/** The event of a cancel. */
export const cancelling: RunEventOf<'run_cancelling'> = {
  type: 'run_cancelling',
  requestedAt: AT,
  mode: 'abort',
  cause: 'SERVER',
}

/** Returns the event of a review that opens; it waits for ever unless `changes` set a timeout. */
export function reviewRequested(
  reviewId: string,
  changes: Partial<RunEventOf<'review_requested'>> = {},
): RunEventOf<'review_requested'> {
  return {
    type: 'review_requested',
    reviewId,
    ...taskFields(1),
    taskOutput: 'draft',
    kind: 'TASK_OUTPUT',
    timing: 'AFTER_EXECUTION',
    prompt: null,
    timeoutMs: 0,
    onTimeout: 'CONTINUE',
    requestedAt: AT,
    ...changes,
  }
}

/** Returns the event of a decided review. */
export function reviewDecided(reviewId: string, decidedBy?: string): RunEventOf<'review_decided'> {
  return {
    type: 'review_decided',
    reviewId,
    decision: 'CONTINUE',
    decidedAt: AT,
    ...(decidedBy === undefined ? {} : { decidedBy }),
  }
}

/** Returns the last event of a run. */
export function result(
  runId: string,
  changes: Partial<RunEventOf<'run_result'>> = {},
): RunEventOf<'run_result'> {
  return {
    type: 'run_result',
    runId,
    status: 'FAILED',
    outputs: [],
    durationMs: 12,
    metrics: { totalTokens: 30, totalToolCalls: 2 },
    error: 'it broke',
    ...changes,
  }
}

/** Returns a step that is identified by its number. */
export function step(runMs: number): RunStep {
  return { kind: 'run_begun', startedAt: AT_MS, runMs, tasks: [] }
}

/** An event that no store can write, because its serialization throws. */
export function poison(): RunEvent {
  const toJSON = (): never => {
    throw new Error('this value cannot be written')
  }
  // NOTE: a value that cannot be serialized, to make the write fail inside the store.
  return { ...token(''), token: { toJSON } } as unknown as RunEvent
}

/** Returns the events of a run with their numbers, from `seq` on. */
export function toLoggedEvents(
  runId: string,
  seq: number,
  events: readonly RunEvent[],
): readonly LoggedRunEvent[] {
  return events.map((event, index) => ({
    ...event,
    runId,
    seq: seq + index,
    id: `${runId}:${seq + index}`,
  }))
}
