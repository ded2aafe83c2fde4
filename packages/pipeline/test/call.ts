/** Calls a tool as a run would, and records the steps. */
import { runTool, type AgentTool, type RunToolOptions, type ToolCallOutcome } from '@tutti/core'

/** An outcome, and its steps in the order of their ends. */
export interface Followed extends ToolCallOutcome {
  /** Steps as `id tool end`. */
  readonly steps: readonly string[]
  /** Inputs of the steps, as JSON. */
  readonly inputs: readonly string[]
}

/** Calls `tool` with `input` as the model's arguments; the id of the call is `c`. */
export async function call(
  tool: AgentTool,
  input: unknown,
  options: RunToolOptions = {},
): Promise<Followed> {
  const steps: string[] = []
  const inputs: string[] = []
  const outcome = await runTool(
    tool,
    { id: 'c', name: tool.name, arguments: JSON.stringify(input) },
    {
      ...options,
      onNestedOutcome(nested, { end }) {
        steps.push(`${nested.id} ${nested.name} ${end}`)
        inputs.push(nested.arguments)
      },
    },
  )
  return { ...outcome, steps, inputs }
}
