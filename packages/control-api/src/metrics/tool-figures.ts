/** Counts tool calls, as the tools of `@tutti/core` tell of them. */
import type { ToolMetrics } from '@tutti/core'
import type { Instruments } from './instruments.ts'

/** Who has tools called: agents in runs, or people and programs over the API. */
export type ToolCaller = 'agent' | 'hand'

/**
 * Where tool calls are counted. Roles of agents are left out: requests bring their own, and a label must not hold what
 * they say.
 */
export function toolFigures(
  { toolCalls, toolDuration, toolCounter, toolValue }: Instruments,
  by: ToolCaller,
): ToolMetrics {
  return {
    countCall({ toolName: tool }, outcome, durationMs) {
      toolCalls.add({ tool, outcome, by })
      toolDuration.observe({ tool }, durationMs / 1_000)
    },
    increment({ toolName: tool }, name, count) {
      toolCounter.add({ tool, name }, count)
    },
    record({ toolName: tool }, name, value) {
      toolValue.observe({ tool, name }, value)
    },
  }
}
