/** An ensemble as a tool: the template variables are the input, and each call is a run. */
import { Type, type TypedTool } from '@tutti/core'
import { defineAgentTool, localConnector, type AgentToolSettings } from '@tutti/agent-call/internal'

import { inputVariables, namedInputs } from '../definition/inputs.ts'
import { createEnsembleAgent, type AgentRunOptions } from './ensemble-agent.ts'

import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'
import type { Inputs } from '../definition/template.ts'

export interface EnsembleToolSettings
  extends Partial<Omit<AgentToolSettings<Inputs>, 'maxTurns' | 'reply'>>, AgentRunOptions {
  /**
   * @default the name of the ensemble, with other characters than `\w` and `-` replaced by `_`, cut at 64
   * characters
   */
  readonly name?: string
  /** @default the description of the ensemble */
  readonly description?: string
  /** @default streaming: the events of the run are reported as they happen */
  readonly mode?: 'sync' | 'streaming'
  /** @default none, because an ensemble has its own limits */
  readonly timeoutMs?: number
  /** @default none */
  readonly idleTimeoutMs?: number
}

/** Creates the tool of an ensemble; see `Ensemble.asTool`. */
export function createEnsembleTool(
  ensemble: ResolvedEnsemble,
  { memories, models, prices, reflections, toolMetrics, ...settings }: EnsembleToolSettings,
): TypedTool<Inputs> {
  const options: AgentRunOptions = {
    ...(models === undefined ? {} : { models }),
    ...(prices === undefined ? {} : { prices }),
    ...(memories === undefined ? {} : { memories }),
    ...(reflections === undefined ? {} : { reflections }),
    ...(toolMetrics === undefined ? {} : { toolMetrics }),
  }
  const tool = defineAgentTool({
    name: toToolName(ensemble.name),
    description:
      ensemble.description.trim() === '' ? describeEnsemble(ensemble) : ensemble.description,
    mode: 'streaming',
    timeoutMs: Infinity,
    idleTimeoutMs: Infinity,
    ...settings,
    input: createInputSchema(ensemble),
    connector: localConnector(
      createEnsembleAgent(ensemble, options),
      `tutti://${encodeURIComponent(ensemble.name)}`,
    ),
  })
  // NOTE: the schema has a string for each variable, but the compiler does not know their names.
  return tool as unknown as TypedTool<Inputs>
}

/** Returns a schema with every input that the ensemble names; template variables are required. */
function createInputSchema(ensemble: ResolvedEnsemble): Type.TObject {
  const required = new Set(inputVariables(ensemble.tasks))
  const fields = namedInputs(ensemble).map((name) => {
    const field = required.has(name) ? Type.String() : Type.Optional(Type.String())
    return [name, field] as const
  })
  return Type.Object(Object.fromEntries(fields))
}

function describeEnsemble({ name, tasks }: ResolvedEnsemble): string {
  return `Runs "${name}": ${tasks.map((task) => task.name).join(', ')}`
}

function toToolName(name: string): string {
  return name.replaceAll(/[^\w-]+/g, '_').slice(0, 64)
}
