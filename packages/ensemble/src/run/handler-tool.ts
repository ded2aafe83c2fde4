/** Tool calls that a handler makes, or that are the handler of a task. */
import { runTool, toModelText, TuttiError, type AgentTool, type ToolResult } from '@tutti/core'
import { formatExactJson, toPlainJson } from '@tutti/core/internal'

import { CallsBegin } from '../agent/calls-begin.ts'
import { createToolCallOptions, type RunTooling } from '../agent/tool-call-options.ts'
import { createToolCalledEvent } from '../agent/tool-events.ts'
import { toOperationId } from '../scope/recorded-operations.ts'
import { assertSameCall, computeInputDigest, toStepToolCall } from '../scope/replay.ts'
import { fromStepError, toStepError } from '../scope/step-log.ts'
import { stoppedError } from '../work/stopped-error.ts'

import type { StepOf } from '../ports/run-step.ts'
import type { NewTaskStep, TaskScope } from '../scope/task-scope.ts'
import type { OperationFrame } from './operation-frame.ts'
import type { ToolCall, ToolCallOutcome } from '@tutti/core'

/** A tool call, with its position and its record. */
export interface HandlerCall {
  readonly tool: AgentTool
  readonly call: ToolCall
  readonly tooling: RunTooling
  /** Position of the call in its attempt, from 0. */
  readonly position: number
  /** Number of the operation that makes the call; undefined if the tool is the handler. */
  readonly ordinal?: number
  readonly idempotencyKey: string
  /** Aborts when the result is no longer needed. */
  readonly signal: AbortSignal
  /** Steps of an earlier process. */
  readonly begun: StepOf<'tool_begun'> | undefined
  readonly ended: StepOf<'tool_ended'> | undefined
}

/**
 * Makes a call, or returns its recorded result.
 *
 * @throws {TuttiError} INTERRUPTED if a call that must not be repeated was interrupted, BUDGET_EXCEEDED, REPLAY_MISMATCH, the
 * error with which the call ends its task, or the reason why the work was stopped.
 */
export async function callFromHandler(
  scope: TaskScope,
  { tool, call, tooling, position, ordinal, ...made }: HandlerCall,
): Promise<ToolResult> {
  const { run, totals, meter } = scope
  const { ended, begun, signal, idempotencyKey } = made
  if (ended !== undefined) assertSameCall(ended, call)
  if (ended?.error !== undefined) throw fromStepError(ended.error)
  if (ended?.result !== undefined) return ended.result
  if (begun !== undefined) assertSameCall(begun, call)
  if (begun !== undefined && !tool.idempotent) throw interruptedError(tool)
  const operation = ordinal === undefined ? {} : { ordinal }
  scope.assertLive(`a call of tool "${tool.name}"`)
  if (signal.aborted) throw stoppedError(signal, `Tool "${tool.name}"`)
  meter.begin('tool')
  const begin = new CallsBegin(scope, {
    iterationIndex: 0,
    count: 1,
    positionOf: () => position,
    ...operation,
  })
  const outcome = await runTool(tool, call, {
    ...createToolCallOptions(scope, tooling, 0),
    signal,
    idempotencyKey,
    onBegin: (one) => begin.begin(one, tool),
  })
  totals.addToolCall(outcome.durationMs)
  const step = run.recordsSteps ? toEndedStep(call, outcome, position) : undefined
  scope.emit(
    createToolCalledEvent(scope, { iterationIndex: 0, call, outcome }),
    step === undefined ? undefined : { ...step, ...operation },
  )
  begin.end(call)
  if (begin.lost !== undefined) throw begin.lost
  if (signal.aborted) {
    const abandoned = outcome.end === 'abandoned'
    throw stoppedError(signal, `Tool "${tool.name}"`, { abandoned })
  }
  if (outcome.error !== undefined) throw outcome.error
  return step?.result ?? outcome.result
}

/** Makes a call for a handler, or returns its recorded value; see `HandlerOperations.call`. */
export async function callToolOperation(
  frame: OperationFrame,
  tool: AgentTool,
  input: unknown,
): Promise<unknown> {
  const { scope, settings, signal } = frame
  const { run, identity } = scope
  const operation = frame.take()
  const { ordinal, recorded, replayed } = operation
  const id = toOperationId('call', ordinal)
  const call = { id, name: tool.name, arguments: toArguments(tool, input) }
  const digest = computeInputDigest(call.arguments)
  frame.assertSame(operation, 'call', {
    asked: `a call of tool "${tool.name}" with input ${digest}`,
    isSame: ({ callBegun, callEnded = callBegun }) =>
      callEnded === undefined ||
      (callEnded.toolName === tool.name && callEnded.inputDigest === digest),
  })
  const what = `Tool "${tool.name}"`
  await frame.turnOfResult(what, operation)
  const begun = recorded?.callEnded === undefined ? 'begun' : 'ended'
  const progress = recorded === undefined ? 'new' : begun
  const result = await frame.perform(what, { progress }, () =>
    callFromHandler(scope, {
      tool,
      call,
      tooling: settings.tooling,
      position: ordinal,
      ordinal,
      idempotencyKey: frame.toKey(ordinal),
      signal,
      begun: recorded?.callBegun,
      ended:
        recorded?.callEnded ??
        replayed?.callEnded ??
        run.log.record.findCall(identity.taskName, ordinal),
    }),
  )
  return readResult(tool, result)
}

/** Returns the value of a successful call, or its text if the tool declares no value. */
function readResult({ name, outputSchema }: AgentTool, result: ToolResult): unknown {
  if (!result.success) {
    throw new TuttiError(
      'TOOL_FAILED',
      `Tool "${name}" failed: ${result.errorMessage ?? result.output}`,
    )
  }
  return outputSchema === undefined ? result.output : (result.structured ?? result.output)
}

/** Returns the arguments of a call: text for a text tool, else JSON. */
function toArguments({ kind }: AgentTool, input: unknown): string {
  return formatExactJson(kind === 'text' && typeof input === 'string' ? { input } : input) ?? ''
}

function interruptedError({ name }: AgentTool): TuttiError {
  return new TuttiError(
    'INTERRUPTED',
    `Tool "${name}" was interrupted, its outcome is unknown, and it must not be called twice`,
  )
}

/** Returns the step of an ended call; undefined if it was interrupted, or its result is not JSON. */
function toEndedStep(
  call: ToolCall,
  { result, durationMs, end, error }: ToolCallOutcome,
  position: number,
): Extract<NewTaskStep, { kind: 'tool_ended' }> | undefined {
  if (end === 'cancelled' || end === 'abandoned') return undefined
  const where = { iterationIndex: 0, position }
  const ended = { kind: 'tool_ended', ...where, ...toStepToolCall(call), durationMs } as const
  const text = toModelText(result)
  if (error !== undefined) return { ...ended, text, error: toStepError(error) }
  try {
    const plain: ToolResult = JSON.parse(JSON.stringify(toPlainJson(result)))
    return { ...ended, text, result: plain }
  } catch {
    return undefined
  }
}
