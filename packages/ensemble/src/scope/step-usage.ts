/** Pure: sums the usage in steps. */
import { Totals } from '../usage/totals.ts'

import type { RunStep } from '../ports/run-step.ts'
import type { Usage } from '../usage/usage.ts'

export interface StepUsage extends Usage {
  /** Number of model calls that ended with a reply. */
  readonly modelCallCount: number
}

/** Returns the usage of the calls that the steps record. */
export function sumStepUsage(steps: readonly RunStep[]): StepUsage {
  const totals = new Totals()
  for (const step of steps) {
    switch (step.kind) {
      case 'model_turn':
        totals.addModelCall({
          usage: step.reply.usage,
          cost: step.cost,
          latencyMs: step.latencyMs,
        })
        break
      case 'tool_ended':
        totals.addToolCall(step.durationMs)
        break
      case 'agent_used':
        totals.addAgent(step)
        break
      default:
    }
  }
  return { ...totals.usage(), modelCallCount: totals.iterations }
}
