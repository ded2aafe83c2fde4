/** How the tool calls of one turn begin and end, for whoever may want to let go of the run. */
import { TuttiError, type AgentTool, type ToolCall } from '@tutti/core'

import type { CallsInFlight } from '../work/in-flight.ts'
import type { TaskScope } from '../scope/task-scope.ts'

/** The calls that are about to be made. */
export interface CallsToBegin {
  readonly iterationIndex: number
  /** How many; at least one. */
  readonly count: number
  /** Which call of its turn it is, from 0. */
  readonly positionOf: (call: ToolCall) => number
}

/** Counts calls as in flight from their begin to their end, and keeps the intent of those that must not be repeated. */
export class CallsBegin {
  readonly #scope: TaskScope
  readonly #calls: CallsToBegin
  readonly #inFlight: CallsInFlight<ToolCall>
  /** Why a call was not let begin: its intent could not be kept. */
  lost: TuttiError | undefined

  constructor(scope: TaskScope, calls: CallsToBegin) {
    this.#scope = scope
    this.#calls = calls
    this.#inFlight = scope.run.inFlight.calls(calls.count)
  }

  /** What a body that is about to begin has to wait for. */
  begin(call: ToolCall, { idempotent }: AgentTool): Promise<void> | undefined {
    const { signal, run } = this.#scope
    const holding = this.#inFlight.begin(call, signal)
    if (holding !== undefined || idempotent || !run.keepsSteps) return holding
    return this.#keepIntent(call)
  }

  /** A call has come to its end, and the end is kept. */
  end(call: ToolCall): void {
    this.#inFlight.end(call)
  }

  /** Keeps that a tool is about to be called which must not be called twice. */
  async #keepIntent(call: ToolCall): Promise<void> {
    const { iterationIndex, positionOf } = this.#calls
    const position = positionOf(call)
    try {
      await this.#scope.commit({ kind: 'tool_begun', iterationIndex, position })
    } catch (error) {
      this.lost ??= TuttiError.from(error, 'ENGINE_FAILED')
      throw error
    }
  }
}
