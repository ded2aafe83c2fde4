/** Tracks the begin and the end of the tool calls of one turn, so that the run can be released between them. */
import { TuttiError, type AgentTool, type ToolCall } from '@tutti/core'

import { toStepToolCall } from '../scope/replay.ts'

import type { CallsInFlight } from '../work/in-flight.ts'
import type { TaskScope } from '../scope/task-scope.ts'

/** Calls that are about to be made. */
export interface CallsToBegin {
  readonly iterationIndex: number
  /** Number of calls; at least one. */
  readonly count: number
  /** Returns the position of a call in its turn, from 0. */
  readonly positionOf: (call: ToolCall) => number
  /** Number of the handler's operation that makes the call; absent for other calls. */
  readonly ordinal?: number
}

/** Counts calls as in flight from begin to end, and records the intent of calls that must not be repeated. */
export class CallsBegin {
  readonly #scope: TaskScope
  readonly #calls: CallsToBegin
  readonly #inFlight: CallsInFlight<ToolCall>
  /** Error with which recording the intent of a call failed; that call did not begin. */
  lost: TuttiError | undefined

  constructor(scope: TaskScope, calls: CallsToBegin) {
    this.#scope = scope
    this.#calls = calls
    this.#inFlight = scope.run.inFlight.calls(calls.count)
  }

  /**
   * Returns a promise that the body of the tool must await before it begins; undefined if it may begin at
   * once.
   */
  begin(call: ToolCall, { idempotent }: AgentTool): Promise<void> | undefined {
    const { signal, run } = this.#scope
    const holding = this.#inFlight.begin(call, signal)
    if (holding !== undefined || idempotent || !run.recordsSteps) return holding
    return this.#recordIntent(call)
  }

  /** Marks a call as ended and recorded. */
  end(call: ToolCall): void {
    this.#inFlight.end(call)
  }

  /** Records the intent to call a tool that must not be called twice. */
  async #recordIntent(call: ToolCall): Promise<void> {
    const { iterationIndex, positionOf, ordinal } = this.#calls
    const position = positionOf(call)
    try {
      const intent = { kind: 'tool_begun', iterationIndex, position } as const
      const operation = ordinal === undefined ? {} : { ordinal }
      await this.#scope.commit({ ...intent, ...operation, ...toStepToolCall(call) })
    } catch (error) {
      this.lost ??= TuttiError.from(error, 'ENGINE_FAILED')
      throw error
    }
  }
}
