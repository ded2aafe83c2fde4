/** Tasks that code performs: a function, or one tool call. */
import { runTool, toModelText, TuttiError, type AgentTool, type ToolResult } from '@tutti/core'
import {
  computeJsonDigest,
  formatExactJson,
  isToolResult,
  toJsonForm,
  toPlainJson,
} from '@tutti/core/internal'

import { renderOutput, type TaskAnswer } from '../agent/loop.ts'
import { HandlerOutput } from '../definition/handler-output.ts'
import { CallsBegin } from '../agent/calls-begin.ts'
import { createToolCalledEvent } from '../agent/tool-events.ts'
import { createToolCallOptions, type RunTooling } from '../agent/tool-call-options.ts'
import {
  assertSameCall,
  describeStep,
  replayMismatchError,
  toStepToolCall,
} from '../scope/replay.ts'
import { fromStepError, toStepError } from '../scope/step-log.ts'
import { stoppedError } from '../work/stopped-error.ts'
import { untilStopped } from '../work/until-stopped.ts'

import type { TaskText } from '../definition/task-text.ts'
import type { ContextOutput } from '../definition/handler.ts'
import type { Handler, HandlerContext, TaskHandler } from '../definition/handler.ts'
import type { Task } from '../definition/task.ts'
import type { StepOf } from '../ports/run-step.ts'
import type { NewTaskStep, TaskScope } from '../scope/task-scope.ts'
import type { ToolCall, ToolCallOutcome } from '@tutti/core'
import type { MessagePart } from '@tutti/core/internal'

/** The input of {@link runHandler}. */
export interface HandlerInput {
  readonly tooling: RunTooling
  readonly text: TaskText
  readonly context: readonly ContextOutput[]
}

/**
 * Calls the handler of a task and returns its answer; not a promise if the handler returns at once and
 * nothing has to become durable, because each await would cost the task a turn of the microtask queue.
 *
 * @throws {TuttiError} TASK_FAILED with what the handler threw or with the reason of its failed result,
 * OUTPUT_INVALID if its value does not match the schema, or the reason why the work was stopped.
 */
export function runHandler(
  scope: TaskScope,
  handler: Handler,
  input: HandlerInput,
): TaskAnswer | Promise<TaskAnswer> {
  const recorded = scope.replay('handler_ended')
  if (recorded !== undefined) {
    assertSameInput(recorded, input)
    return toAnswer(recorded)
  }
  const known = findInRecord(scope, input)
  if (known !== undefined) {
    const { text, value, parts } = known
    return recordAnswer(scope, input, {
      text,
      ...(value === undefined ? {} : { value }),
      ...(parts === undefined ? {} : { parts }),
    })
  }
  const work =
    typeof handler === 'function'
      ? callHandler(scope, handler, input)
      : callHandlerTool(scope, handler, input).then((result) =>
          selectToolOutput(result, handler, scope.task),
        )
  return isThenable(work)
    ? Promise.resolve(work).then((given) => readAnswer(scope, input, given))
    : readAnswer(scope, input, work)
}

/** Returns the output of the handler in the record of a replay with live models. */
function findInRecord(
  { run: { log }, identity }: TaskScope,
  input: HandlerInput,
): StepOf<'handler_ended'> | undefined {
  if (log.replay !== 'models') return undefined
  return log.record.findHandler(identity.taskName, digestHandlerInput(input))
}

/** Returns the digest of what a handler receives from its task and from earlier ones. */
function digestHandlerInput({ text, context }: HandlerInput): string {
  return computeJsonDigest([
    text.description,
    context.map(({ taskName, output }) => [taskName, output]),
  ])
}

/**
 * Checks that a handler would receive what it received when its output was recorded.
 *
 * @throws {TuttiError} REPLAY_MISMATCH if not.
 */
function assertSameInput(step: StepOf<'handler_ended'>, input: HandlerInput): void {
  const { taskName, inputDigest } = step
  const asked = digestHandlerInput(input)
  if (asked === inputDigest) return
  throw replayMismatchError({
    taskName,
    step: describeStep(step),
    recorded: `the output of a handler for input ${inputDigest}`,
    asked: `that for input ${asked}`,
  })
}

/** Reads the return value of a handler, and records and returns it as the answer. */
function readAnswer(
  scope: TaskScope,
  input: HandlerInput,
  given: unknown,
): TaskAnswer | Promise<TaskAnswer> {
  const value = toHandlerValue(given, scope.task)
  if (scope.task.outputReader === undefined) {
    return recordAnswer(scope, input, { text: value.text, ...toPartsField(value) })
  }
  return parseBySchema(scope.task, value).then((parsed) =>
    recordAnswer(scope, input, { ...parsed, ...toPartsField(value) }),
  )
}

/** Records the answer of a handler and returns it, as a promise if it first has to become durable. */
function recordAnswer(
  scope: TaskScope,
  input: HandlerInput,
  given: HandlerAnswer,
): TaskAnswer | Promise<TaskAnswer> {
  const recorded = scope.run.recordsSteps
    ? scope.commit({ kind: 'handler_ended', inputDigest: digestHandlerInput(input), ...given })
    : undefined
  const answer = toAnswer(given)
  return recorded === undefined ? answer : recorded.then(() => answer)
}

interface HandlerAnswer {
  readonly text: string
  readonly value?: unknown
  readonly parts?: readonly MessagePart[]
}

function toPartsField({ parts }: HandlerValue): Pick<HandlerAnswer, 'parts'> {
  return parts === undefined ? {} : { parts }
}

function toAnswer({ text, value, parts }: HandlerAnswer): TaskAnswer {
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
  const { request } = tooling
  scope.assertMayCall('a call of the handler')
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
  return isThenable(work) ? awaitHandler(scope, work) : work
}

/** Waits for a handler. If the task is stopped, waits until the handler has stopped. */
async function awaitHandler(
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
 * Returns the part of a tool's result that is the output of the task: if neither the tool nor the task
 * declares a value, the text that a model would receive. The result of an agent, for example, also has
 * metadata of its answer.
 */
function selectToolOutput(
  result: unknown,
  { outputSchema }: AgentTool,
  { outputReader }: Task,
): unknown {
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
  const input = context.at(-1)?.output ?? text.description
  const call: ToolCall = {
    id: 'handler',
    name: tool.name,
    arguments: tool.kind === 'text' ? JSON.stringify({ input }) : input,
  }
  const recorded = scope.replay('tool_ended')
  if (recorded !== undefined) assertSameCall(recorded, call)
  if (recorded?.error !== undefined) throw fromStepError(recorded.error)
  if (recorded?.result !== undefined) return recorded.result
  if (!tool.idempotent) assertNotInterrupted(scope, tool, call)
  scope.assertMayCall(`a call of tool "${tool.name}"`)
  meter.begin('tool')
  const begin = new CallsBegin(scope, { iterationIndex: 0, count: 1, positionOf: () => 0 })
  const outcome = await runTool(tool, call, {
    ...createToolCallOptions(scope, tooling, 0),
    idempotencyKey: `${run.runId}/${taskName}/${attempt}/handler`,
    onBegin: (made) => begin.begin(made, tool),
  })
  totals.addToolCall(outcome.durationMs)
  scope.emit(
    createToolCalledEvent(scope, { iterationIndex: 0, call, outcome }),
    run.recordsSteps ? toEndedStep(call, outcome) : undefined,
  )
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
 * Checks that no non-repeatable tool call has begun.
 *
 * @throws {TuttiError} INTERRUPTED if an earlier process was interrupted during this call.
 */
function assertNotInterrupted(scope: TaskScope, { name }: AgentTool, call: ToolCall): void {
  const begun = scope.replay('tool_begun')
  if (begun === undefined) return
  assertSameCall(begun, call)
  throw new TuttiError(
    'INTERRUPTED',
    `Tool "${name}" was interrupted, its outcome is unknown, and it must not be called twice`,
  )
}

/** Returns the step of an ended call; undefined if it was interrupted, or its result is not JSON. */
function toEndedStep(
  call: ToolCall,
  { result, durationMs, end, error }: ToolCallOutcome,
): NewTaskStep | undefined {
  if (end === 'cancelled' || end === 'abandoned') return undefined
  const position = { iterationIndex: 0, position: 0 }
  const ended = { kind: 'tool_ended', ...position, ...toStepToolCall(call), durationMs } as const
  const text = toModelText(result)
  if (error !== undefined) return { ...ended, text, error: toStepError(error) }
  try {
    const plain: ToolResult = JSON.parse(JSON.stringify(toPlainJson(result)))
    return { ...ended, text, result: plain }
  } catch {
    return undefined
  }
}

/** Output of a handler. */
interface HandlerValue {
  readonly text: string
  readonly value: unknown
  readonly parts?: readonly MessagePart[]
}

/** Converts the return value of a handler to text and value. */
function toHandlerValue(given: unknown, task: Task): HandlerValue {
  if (given instanceof HandlerOutput) {
    const { text, value = text, parts } = given
    return { text, value, parts }
  }
  const value = isToolResult(given) ? readResultValue(given) : given
  if (value === undefined || value === null) {
    throw new TuttiError('TASK_FAILED', `The handler of task "${task.name}" returned nothing`)
  }
  if (value instanceof Error) throw value
  const form = toJsonForm(value)
  const exact = form.ok ? form.value : undefined
  const text = typeof exact === 'string' ? exact : formatExactJson(exact)
  if (text !== undefined) return { text, value: toPlainJson(exact) }
  const problem = form.ok ? 'the value has no JSON form' : form.problem
  throw new TuttiError(
    'TASK_FAILED',
    `The handler of task "${task.name}" must return text or JSON, but ${problem}`,
  )
}

/** Parses the output of a handler by the schema of its task. */
async function parseBySchema(
  { name, outputReader }: Task,
  { text, value }: HandlerValue,
): Promise<HandlerAnswer> {
  const reading =
    typeof value === 'string'
      ? await outputReader?.read(text)
      : await outputReader?.readValue(value)
  if (reading === undefined) return { text }
  if (reading.ok) return { text: renderOutput(reading.value), value: reading.value }
  throw new TuttiError(
    'OUTPUT_INVALID',
    `The output of the handler of task "${name}" does not match its schema: ${reading.problem}`,
    { details: { problem: reading.problem } },
  )
}

function readResultValue(result: Parameters<typeof toModelText>[0]): unknown {
  if (result.success) return result.structured ?? result.output
  throw new TuttiError('TASK_FAILED', result.errorMessage ?? toModelText(result))
}
