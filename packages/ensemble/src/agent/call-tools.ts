/**
 * The tool calls of one model turn.
 *
 * ENS-L2 Tools of one turn run concurrently; their results join the conversation in the order of the calls.
 * ENS-L3 The model receives a tool's failure; a failure never ends the loop.
 * ENS-L13 The steps, progress and file changes of a tool call are emitted before the event of the call
 *    itself.
 * ENS-L14 A reviewer's early exit and a misconfigured tool end the loop once the other calls of the turn have
 *    ended.
 * ENS-L20 A call that is recorded in a step is not repeated. An interrupted call is repeated with the same
 *    idempotency key, unless its tool is not idempotent: then the result for the model says that the outcome
 *    is unknown.
 * ENS-L21 Calls are made in the order in which they were requested; calls beyond a budget are not made.
 * ENS-L23 A call begins when the body of its tool begins; a call that was interrupted while it waited for
 *    approval does not count as begun.
 * ENS-G14 After an EDIT of a tool call, the result for the model begins with the new input, also after a restart.
 */
import { runToolCalls, ToolResult, TuttiError } from '@tutti/core'
import { cachePerObject, toOutcomeText } from '@tutti/core/internal'

import { isDelegateTool } from '../hierarchy/delegate-tool.ts'
import { fromStepError, toStepError } from '../scope/step-log.ts'
import { stoppedError } from '../work/stopped-error.ts'
import { CallsBegin } from './calls-begin.ts'
import { assertSameCall, toStepToolCall } from '../scope/replay.ts'
import { createToolCalledEvent, formatAgentCall } from './tool-events.ts'
import { isClientTool } from './client-tools.ts'
import { createToolCallOptions, type RunTooling } from './tool-call-options.ts'
import { createToolSlotPrefix } from '../reviews/review-slots.ts'

import type { Message, ToolSpecification } from '../model/chat-model.ts'
import type { TaskScope } from '../scope/task-scope.ts'
import type { AgentTool, RunToolCallsOptions, ToolCall, ToolCallOutcome } from '@tutti/core'
import type { EditedInput } from '@tutti/core/internal'

/** Tools of a task, and the parts of the run that their calls use. */
export interface TaskTools {
  readonly tools: readonly AgentTool[]
  readonly tooling: RunTooling
}

/** Tool calls of one turn. */
export interface ToolTurn extends TaskTools {
  readonly iterationIndex: number
  readonly calls: readonly ToolCall[]
}

/** Returns the specifications of tools for the model, cached per list of tools. */
export function listToolSpecifications(tools: readonly AgentTool[]): readonly ToolSpecification[] {
  return toSpecifications(tools)
}

/** A task has the same list of tools in every run. */
const toSpecifications = cachePerObject(
  (tools: readonly AgentTool[]): readonly ToolSpecification[] =>
    tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
)

/**
 * Makes the calls and returns their results as messages, in the order of the calls.
 *
 * @throws {TuttiError} the reason why the work was stopped, EXIT_EARLY if a reviewer ended the run,
 * TOOL_CONFIGURATION if a tool is misconfigured, or BUDGET_EXCEEDED.
 */
export function callTools(scope: TaskScope, turn: ToolTurn): Promise<readonly Message[]> {
  return new TurnCalls(scope, turn).make()
}

/** Result of one call, as the model receives it. */
interface ToolAnswer {
  readonly text: string
  readonly error?: TuttiError
}

/** Makes the calls of one turn and collects their answers. */
class TurnCalls {
  readonly #scope: TaskScope
  readonly #turn: ToolTurn
  #answers: (ToolAnswer | undefined)[] = []
  #abandoned: string | undefined

  constructor(scope: TaskScope, turn: ToolTurn) {
    this.#scope = scope
    this.#turn = turn
    this.#answers = turn.calls.map((call, position) => this.#earlier(call, position))
  }

  /** Makes the calls that have no answer yet, and returns the answers to all calls. */
  async make(): Promise<readonly Message[]> {
    const { calls, refusal } = this.#withinBudget()
    if (calls.length > 0) {
      this.#assertMayCall(calls)
      const begin = this.#createBegin(calls)
      await this.#runAll(calls, this.#createOptions(begin))
      if (begin.lost !== undefined) throw begin.lost
    }
    if (this.#scope.signal.aborted) throw this.#stopped()
    const ending = this.#answers.find((answer) => answer?.error !== undefined)?.error ?? refusal
    if (ending !== undefined) throw ending
    return this.#turn.calls.map(({ id, name }, position) => ({
      role: 'tool',
      toolCallId: id,
      toolName: name,
      content: this.#answers[position]?.text ?? '',
    }))
  }

  #createBegin({ length: count }: readonly ToolCall[]): CallsBegin {
    const { iterationIndex, calls } = this.#turn
    const positionOf = (call: ToolCall): number => calls.indexOf(call)
    return new CallsBegin(this.#scope, { iterationIndex, count, positionOf })
  }

  #runAll(calls: readonly ToolCall[], options: RunToolCallsOptions): Promise<unknown> {
    const unlimited = calls.filter((call) => this.#isUnlimited(call))
    if (unlimited.length === 0) return this.#run(calls, options)
    const others = calls.filter((call) => !unlimited.includes(call))
    return Promise.all([this.#run(others, options), this.#runUnlimited(unlimited, options)])
  }

  /** Checks that the calls may be made. In a replay with live models, an agent delegates again. */
  #assertMayCall(calls: readonly ToolCall[]): void {
    const { replay } = this.#scope.run.log
    const called =
      replay === 'models' ? calls.find((call) => !isDelegateTool(this.#toolOf(call))) : calls[0]
    if (called !== undefined) this.#scope.assertMayCall(`a call of tool "${called.name}"`)
  }

  #isUnlimited(call: ToolCall): boolean {
    const tool = this.#toolOf(call)
    return isDelegateTool(tool) || isClientTool(tool)
  }

  /**
   * Runs delegations and calls of client tools outside the limits for tool calls. A waiting delegation must not
   * occupy a slot that the tools of the other agent need, and it ends only when that agent has stopped, which
   * has its own grace period. A client must see all calls of a turn before it answers them.
   */
  #runUnlimited(
    calls: readonly ToolCall[],
    { limiter: _, ...options }: RunToolCallsOptions,
  ): Promise<unknown> {
    return this.#run(calls, { ...options, maxConcurrentCalls: Infinity, graceMs: Infinity })
  }

  /** Returns the error of stopped calls; it names a tool that did not stop. */
  #stopped(): TuttiError {
    const { signal } = this.#scope
    return this.#abandoned === undefined
      ? stoppedError(signal, 'Tool calls')
      : stoppedError(signal, `Tool "${this.#abandoned}"`, { abandoned: true })
  }

  #toolOf(call: ToolCall): AgentTool | undefined {
    return this.#turn.tools.find(({ name }) => name === call.name)
  }

  /** Returns the answer that an earlier process recorded, or a failure for an interrupted call that must not be repeated. */
  #earlier(call: ToolCall, position: number): ToolAnswer | undefined {
    if (!this.#scope.log.isKnown) return this.#recorded(call, position)
    const { iterationIndex } = this.#turn
    const isSameCall = (step: {
      readonly iterationIndex: number
      readonly position: number
    }): boolean => step.iterationIndex === iterationIndex && step.position === position
    const ended = this.#scope.replay('tool_ended', isSameCall)
    if (ended !== undefined) {
      assertSameCall(ended, call)
      const { text, error } = ended
      return error === undefined ? { text } : { text, error: fromStepError(error) }
    }
    const begun = this.#scope.replay('tool_begun', isSameCall)
    if (begun === undefined) return this.#recorded(call, position)
    assertSameCall(begun, call)
    const result = ToolResult.failure(
      'The call was interrupted and its outcome is unknown: check it before you repeat the call',
    )
    const edits = this.#earlierEdits(call)
    const outcome: ToolCallOutcome = {
      result,
      durationMs: 0,
      waitedMs: 0,
      end: 'finished',
      ...(edits.length === 0 ? {} : { edits }),
    }
    this.#take(call, position, outcome)
    return { text: this.#toText(outcome) }
  }

  /** Returns the input with which a reviewer replaced that of an interrupted call. */
  #earlierEdits({ id, name }: ToolCall): readonly EditedInput[] {
    const slots = createToolSlotPrefix(this.#turn.iterationIndex, id)
    const { log, identity } = this.#scope
    const first = log.find(
      'gate_opened',
      identity.attempt,
      ({ slot, answerSchema }) => answerSchema === undefined && slot.startsWith(slots),
    )
    if (first === undefined) return []
    const decision = log.findReview(first.slot, identity.attempt)?.closed?.decision
    if (decision?.action !== 'EDIT' || !('input' in decision)) return []
    return [{ toolName: name, isStep: false, input: decision.input }]
  }

  /** Returns the answer in the record of a replay with live models. */
  #recorded(call: ToolCall, position: number): ToolAnswer | undefined {
    const { run, identity } = this.#scope
    if (run.log.replay !== 'models') return undefined
    if (isDelegateTool(this.#toolOf(call))) return undefined
    const step = run.log.record.takeCall(identity.taskName, call)
    if (step === undefined) return undefined
    const error = step.error === undefined ? {} : { error: fromStepError(step.error) }
    const result = ToolResult.success(step.text)
    this.#emitEnd(call, position, { result, durationMs: 0, waitedMs: 0, end: 'finished', ...error })
    return { text: step.text, ...error }
  }

  #withinBudget(): { readonly calls: readonly ToolCall[]; readonly refusal?: TuttiError } {
    const open = this.#turn.calls.filter((_, position) => this.#answers[position] === undefined)
    let begun = 0
    try {
      for (; begun < open.length; begun += 1) this.#scope.meter.begin('tool')
      return { calls: open }
    } catch (error) {
      const refusal = TuttiError.from(error, 'BUDGET_EXCEEDED')
      return { calls: open.slice(0, begun), refusal }
    }
  }

  #createOptions(begin: CallsBegin): RunToolCallsOptions {
    const { iterationIndex, tooling, calls } = this.#turn
    const { run, identity } = this.#scope
    const { taskName, attempt } = identity
    // One literal: V8 keeps an object alive, and with it the run, until the next major collection if a function is
    // assigned to a new property of it.
    return {
      ...createToolCallOptions(this.#scope, tooling, iterationIndex),
      idempotencyPrefix: `${run.runId}/${taskName}/${attempt}/${iterationIndex}/`,
      onBegin: (call, tool) => begin.begin(call, tool),
      onOutcome: (call, outcome) => {
        this.#take(call, calls.indexOf(call), outcome)
        begin.end(call)
      },
    }
  }

  #run(calls: readonly ToolCall[], options: RunToolCallsOptions): Promise<unknown> {
    return runToolCalls(this.#turn.tools, calls, options)
  }

  #take(call: ToolCall, position: number, outcome: ToolCallOutcome): void {
    const { durationMs, end, error } = outcome
    const text = this.#toText(outcome)
    this.#scope.totals.addToolCall(durationMs)
    this.#answers[position] = error === undefined ? { text } : { text, error }
    if (end === 'abandoned') this.#abandoned ??= call.name
    // A call that is stopped may not report the end of its agent.
    this.#scope.run.inFlight.endAgentCalls(formatAgentCall(this.#scope, call.id))
    this.#emitEnd(call, position, outcome)
  }

  /** Returns the text of an outcome for the model, within the limit for tool outputs. */
  #toText(outcome: ToolCallOutcome): string {
    return toOutcomeText(outcome, this.#scope.run.ensemble.maxToolOutputLength)
  }

  /** Records the event and the step of an ended call. */
  #emitEnd(call: ToolCall, position: number, outcome: ToolCallOutcome): void {
    const { iterationIndex } = this.#turn
    const { durationMs, end, error } = outcome
    const event = createToolCalledEvent(this.#scope, { iterationIndex, call, outcome })
    if (end === 'cancelled' || end === 'abandoned' || !this.#scope.run.recordsSteps) {
      this.#scope.emit(event)
      return
    }
    this.#scope.emit(event, {
      kind: 'tool_ended',
      iterationIndex,
      position,
      ...toStepToolCall(call),
      durationMs,
      text: this.#toText(outcome),
      ...(error === undefined ? {} : { error: toStepError(error) }),
    })
  }
}
