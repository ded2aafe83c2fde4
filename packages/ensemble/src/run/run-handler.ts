/** A task that is done by code: a function, or one tool call. */
import {
  isToolResult,
  runTool,
  toModelText,
  TuttiError,
  type AgentTool,
  type ToolResult,
} from '@tutti/core'

import { outputText, type TaskAnswer } from '../agent/loop.ts'
import { HandlerOutput } from '../definition/handler-output.ts'
import { CallsBegin } from '../agent/calls-begin.ts'
import { toolCalledEvent } from '../agent/tool-events.ts'
import { createToolCallOptions, type RunTooling } from '../agent/tool-call-options.ts'
import { fromStepError, toStepError } from '../scope/step-log.ts'
import { stoppedError } from '../work/stopped-error.ts'
import { untilStopped } from '../work/until-stopped.ts'

import type { TaskText } from '../definition/task-text.ts'
import type { ContextOutput } from '../definition/handler.ts'
import type { Handler, HandlerContext, TaskHandler } from '../definition/handler.ts'
import type { Task } from '../definition/task.ts'
import type { NewTaskStep, TaskScope } from '../scope/task-scope.ts'
import type { MessagePart, ToolCall, ToolCallOutcome } from '@tutti/core'

/** The input of {@link runHandler}. */
export interface HandlerInput {
  readonly tooling: RunTooling
  readonly text: TaskText
  readonly context: readonly ContextOutput[]
}

/**
 * Asks the handler of a task.
 *
 * @throws {TuttiError} TASK_FAILED with what the handler threw or with the reason of its failed result,
 * OUTPUT_INVALID when its value does not fit the schema, or why the work was stopped.
 */
export async function runHandler(
  scope: TaskScope,
  handler: Handler,
  input: HandlerInput,
): Promise<TaskAnswer> {
  const recorded = scope.replay('handler_ended')
  if (recorded !== undefined) return toAnswer(recorded)
  const work =
    typeof handler === 'function'
      ? callHandler(scope, handler, input)
      : callHandlerTool(scope, handler, input).then((result) =>
          asWanted(result, handler, scope.task),
        )
  // Code that does not wait is not waited for: ten such tasks take as long as ten function calls.
  const value = toHandlerValue(isThenable(work) ? await work : work, scope.task)
  const given: Given =
    scope.task.outputReader === undefined
      ? { text: value.text, ...partsField(value) }
      : { ...(await readBySchema(scope.task, value)), ...partsField(value) }
  await scope.commit({ kind: 'handler_ended', ...given })
  return toAnswer(given)
}

interface Given {
  readonly text: string
  readonly value?: unknown
  readonly parts?: readonly MessagePart[]
}

function partsField({ parts }: HandlerValue): Pick<Given, 'parts'> {
  return parts === undefined ? {} : { parts }
}

function toAnswer({ text, value, parts }: Given): TaskAnswer {
  return {
    output: text,
    ...(value === undefined ? {} : { structured: value }),
    ...(parts === undefined ? {} : { parts }),
    iterationLimitReached: false,
    turns: 0,
  }
}

/** Returns the output of the handler, or a promise of it. */
function callHandler(
  scope: TaskScope,
  handler: TaskHandler,
  { text, context, tooling }: HandlerInput,
): unknown {
  const { run, identity, signal } = scope
  const { taskName, attempt } = identity
  const { request } = tooling.shared
  const holding = run.inFlight.waitIfDraining(signal, 'Handler')
  if (holding !== undefined) return holding
  const given: HandlerContext = {
    runId: run.runId,
    taskName,
    attempt,
    description: text.description,
    expectedOutput: text.expectedOutput,
    context,
    inputs: run.inputs,
    ...(request === undefined ? {} : { request }),
    signal,
    logger: run.logger,
    idempotencyKey: `${run.runId}/${taskName}/${attempt}/handler`,
  }
  const work = handler(given)
  return isThenable(work) ? handlerResult(scope, work) : work
}

/** Waits for a handler; when it is stopped, until it has stopped. */
async function handlerResult(
  { signal, run }: TaskScope,
  work: PromiseLike<unknown>,
): Promise<unknown> {
  try {
    const value: unknown = await untilStopped(Promise.resolve(work), {
      signal,
      clock: run.clock,
      what: 'Handler',
    })
    if (signal.aborted) throw stoppedError(signal, 'Handler')
    return value
  } catch (error) {
    if (!signal.aborted) throw TuttiError.from(error, 'TASK_FAILED')
    throw TuttiError.isInstance(error) ? error : stoppedError(signal, 'Handler', { cause: error })
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  )
}

/**
 * What is taken of the result of a tool: where neither the tool nor the task declares a value, the text that a
 * model would receive. The result of an agent, for example, also has metadata of its answer.
 */
function asWanted(result: unknown, { outputSchema }: AgentTool, { outputReader }: Task): unknown {
  const isText = outputSchema === undefined && outputReader === undefined
  return isText && isToolResult(result) && result.success && result.output !== ''
    ? result.output
    : result
}

async function callHandlerTool(
  scope: TaskScope,
  tool: AgentTool,
  { text, context, tooling }: HandlerInput,
): Promise<unknown> {
  const { run, identity, signal, totals, meter } = scope
  const { taskName, attempt } = identity
  const recorded = scope.replay('tool_ended')
  if (recorded?.error !== undefined) throw fromStepError(recorded.error)
  if (recorded?.result !== undefined) return recorded.result
  if (!tool.idempotent) assertNotCutOff(scope, tool)
  const input = context.at(-1)?.output ?? text.description
  const call: ToolCall = {
    id: 'handler',
    name: tool.name,
    arguments: tool.kind === 'text' ? JSON.stringify({ input }) : input,
  }
  meter.begin('tool')
  const begin = new CallsBegin(scope, { iterationIndex: 0, count: 1, positionOf: () => 0 })
  const outcome = await runTool(tool, call, {
    ...createToolCallOptions(scope, tooling, 0),
    idempotencyKey: `${run.runId}/${taskName}/${attempt}/handler`,
    onBegin: (made) => begin.begin(made, tool),
  })
  totals.addToolCall(outcome.durationMs)
  scope.emit(toolCalledEvent(scope, { iterationIndex: 0, call, outcome }), endedStep(outcome))
  begin.end(call)
  if (begin.lost !== undefined) throw begin.lost
  if (signal.aborted) {
    const abandoned = outcome.end === 'abandoned'
    throw stoppedError(signal, `Tool "${tool.name}"`, { abandoned })
  }
  if (outcome.error !== undefined) throw outcome.error
  return outcome.result
}

/**
 * Checks that a tool which must not be called twice may be called.
 *
 * @throws {TuttiError} INTERRUPTED when an earlier process was cut off in that very call.
 */
function assertNotCutOff(scope: TaskScope, { name }: AgentTool): void {
  if (scope.replay('tool_begun') === undefined) return
  throw new TuttiError(
    'INTERRUPTED',
    `Tool "${name}" was interrupted, its outcome is not known, and it must not be called twice`,
  )
}

/** Returns the step of an ended call; undefined when it was interrupted, or its result has no JSON. */
function endedStep({ result, durationMs, end, error }: ToolCallOutcome): NewTaskStep | undefined {
  if (end === 'cancelled' || end === 'abandoned') return undefined
  const ended = { kind: 'tool_ended', iterationIndex: 0, position: 0, durationMs } as const
  const text = toModelText(result)
  if (error !== undefined) return { ...ended, text, error: toStepError(error) }
  try {
    const plain: ToolResult = JSON.parse(JSON.stringify(result))
    return { ...ended, text, result: plain }
  } catch {
    return undefined
  }
}

/** The output of a handler. */
interface HandlerValue {
  readonly text: string
  readonly value: unknown
  readonly parts?: readonly MessagePart[]
}

/** Reads the output of a handler as text and value. */
function toHandlerValue(given: unknown, task: Task): HandlerValue {
  if (given instanceof HandlerOutput) {
    const { text, value = text, parts } = given
    return { text, value, parts }
  }
  const value = isToolResult(given) ? resultValue(given) : given
  if (value === undefined || value === null) {
    throw new TuttiError('TASK_FAILED', `The handler of task "${task.name}" gave nothing`)
  }
  const text: string | undefined = typeof value === 'string' ? value : JSON.stringify(value)
  if (text !== undefined) return { text, value }
  throw new TuttiError(
    'TASK_FAILED',
    `The handler of task "${task.name}" gave a ${typeof value}, which is no text and no JSON`,
  )
}

/** The same, as the schema of the task reads it. */
async function readBySchema(
  { name, outputReader }: Task,
  { text, value }: HandlerValue,
): Promise<Given> {
  const reading =
    typeof value === 'string'
      ? await outputReader?.read(text)
      : await outputReader?.readValue(value)
  if (reading === undefined) return { text }
  if (reading.ok) return { text: outputText(reading.value), value: reading.value }
  throw new TuttiError(
    'OUTPUT_INVALID',
    `The output of the handler of task "${name}" does not fit its schema: ${reading.problem}`,
    { details: { problem: reading.problem } },
  )
}

function resultValue(result: Parameters<typeof toModelText>[0]): unknown {
  if (result.success) return result.structured ?? result.output
  throw new TuttiError('TASK_FAILED', result.errorMessage ?? toModelText(result))
}
