/**
 * The tool calls of one model turn, as a part of the agent loop.
 *
 * L2 Tools of one turn run concurrently; their results join the conversation in the order of the calls.
 * L3 A tool's failure is told to the model and never ends the loop.
 * L13 What a tool does within its call is told before the call itself: steps, progress, changed files.
 * L14 A reviewer's early exit and a misconfigured tool end the loop, when the other calls of the turn
 *     have ended.
 */
import { isoNow, limitText, runToolCalls, toModelText, TuttiError } from '@tutti/core'

import type { Message, ToolSpecification } from '../model/chat-model.ts'
import type { TaskScope } from '../task-scope.ts'
import type { LoopTotals } from './loop-totals.ts'
import type { AgentTool, NestedToolCall, ToolCall, ToolCallOutcome } from '@tutti/core'
import type { RunEventOf } from '@tutti/protocol'

/**
 * Characters of a tool's input and output that an event carries; more is cut with a note. Enough for a
 * page or a file, and small enough that a thousand calls can be kept.
 */
export const MAX_TOOL_TEXT_LENGTH = 262_144

/** The calls of one turn. */
export interface ToolTurn {
  readonly iterationIndex: number
  readonly calls: readonly ToolCall[]
  /** Where they are counted. */
  readonly totals: LoopTotals
}

/**
 * Makes the calls and gives their results as messages, in the order of the calls.
 *
 * @throws {TuttiError} CANCELLED when the signal aborts, EXIT_EARLY when a reviewer ends the run,
 * TOOL_CONFIGURATION when a tool cannot work as it is set up.
 */
export async function callTools(scope: TaskScope, turn: ToolTurn): Promise<readonly Message[]> {
  const { identity, task, signal, tooling } = scope
  const { iterationIndex, calls, totals } = turn
  const outcomes = await runToolCalls(task.tools, calls, {
    ...tooling,
    signal,
    clock: scope.clock,
    logger: scope.logger,
    agentRole: identity.agentRole,
    taskName: identity.taskName,
    runId: scope.runId,
    idempotencyPrefix: `${scope.runId}/${identity.taskName}/${identity.attempt}/${iterationIndex}/`,
    onOutcome(call, outcome) {
      totals.toolCallCount += 1
      totals.toolExecutionTimeMs += outcome.durationMs
      emitToolCalled(scope, { iterationIndex, call, outcome })
    },
    onNestedOutcome(call, outcome) {
      emitToolCalled(scope, { iterationIndex, call, outcome })
    },
    ...reports(scope, iterationIndex),
  })
  if (signal.aborted) throw new TuttiError('CANCELLED', 'Tool calls were cancelled')
  const ending = outcomes.find(({ error }) => error !== undefined)?.error
  if (ending !== undefined) throw ending
  return calls.map((call, index) => ({
    role: 'tool',
    toolCallId: call.id,
    toolName: call.name,
    content: toolText(outcomes[index], scope.maxToolOutputLength),
  }))
}

/** The tools of a task as the model sees them. */
export function toolSpecifications(tools: readonly AgentTool[]): readonly ToolSpecification[] {
  return tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
}

function toolText(outcome: ToolCallOutcome | undefined, maxLength: number): string {
  return outcome === undefined ? '' : limitText(toModelText(outcome.result), maxLength)
}

/** The listeners that make events of what a tool says of itself. */
function reports(
  scope: TaskScope,
  iterationIndex: number,
): Pick<Parameters<typeof runToolCalls>[2] & object, 'onProgress' | 'onFileChange'> {
  const { agentRole, taskIndex, taskName, attempt } = scope.identity
  return {
    onProgress({ id, name }, { message, fraction }) {
      scope.emit({
        type: 'tool_progress',
        agentRole,
        taskName,
        taskIndex,
        attempt,
        iterationIndex,
        toolCallId: id,
        toolName: name,
        message: limitText(message, MAX_TOOL_TEXT_LENGTH),
        ...(isFraction(fraction) ? { fraction } : {}),
        sentAt: isoNow(scope.clock),
      })
    },
    onFileChange(_, { path, changeType, linesAdded, linesRemoved }) {
      scope.emit({
        type: 'file_changed',
        agentRole,
        filePath: path,
        changeType,
        linesAdded,
        linesRemoved,
        timestamp: isoNow(scope.clock),
      })
    },
  }
}

function isFraction(value: number | undefined): value is number {
  return value !== undefined && value >= 0 && value <= 1
}

interface EndedCall {
  readonly iterationIndex: number
  readonly call: ToolCall | NestedToolCall
  readonly outcome: ToolCallOutcome
}

function emitToolCalled(scope: TaskScope, { iterationIndex, call, outcome }: EndedCall): void {
  const { agentRole, taskIndex, taskName, attempt } = scope.identity
  scope.emit({
    type: 'tool_called',
    agentRole,
    taskIndex,
    taskName,
    attempt,
    iterationIndex,
    toolCallId: call.id,
    toolName: call.name,
    durationMs: outcome.durationMs,
    outcome: outcome.result.success ? 'SUCCESS' : 'FAILURE',
    toolArguments: limitText(call.arguments, MAX_TOOL_TEXT_LENGTH),
    toolResult: limitText(toModelText(outcome.result), MAX_TOOL_TEXT_LENGTH),
    structuredResult: asJson(outcome.result.structured),
    ...('parentId' in call ? { parentToolCallId: call.parentId } : {}),
  } satisfies RunEventOf<'tool_called'>)
}

/**
 * `value` as its JSON says it: a tool may give anything, an event may not. Null when it has none, and
 * when it is too long for an event.
 */
function asJson(value: unknown): unknown {
  try {
    const text: string | undefined = JSON.stringify(value)
    return text === undefined || text.length > MAX_TOOL_TEXT_LENGTH ? null : JSON.parse(text)
  } catch {
    return null
  }
}
