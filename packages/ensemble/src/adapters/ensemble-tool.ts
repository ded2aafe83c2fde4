/** An ensemble as a tool: its template variables are the input, a run of it is the call. */
import { Type, type TypedTool } from '@tutti/core'
import { defineAgentTool, localConnector, type AgentToolSettings } from '@tutti/agent-call'

import { inputVariables } from '../definition/inputs.ts'
import { createEnsembleAgent, type AgentRunOptions } from './ensemble-agent.ts'

import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'
import type { Inputs } from '../definition/template.ts'

/** How an ensemble is a tool. */
export interface EnsembleToolSettings
  extends Partial<Omit<AgentToolSettings<Inputs>, 'maxTurns' | 'reply'>>, AgentRunOptions {
  /** @default the name of the ensemble, made fit for a tool */
  readonly name?: string
  /** @default the description of the ensemble */
  readonly description?: string
  /** @default streaming: the events of the run are reported as they happen */
  readonly mode?: 'sync' | 'streaming'
  /** @default none: an ensemble has limits of its own */
  readonly timeoutMs?: number
  /** @default none */
  readonly idleTimeoutMs?: number
}

/** Makes the tool; see `Ensemble.asTool`. */
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
    name: toolName(ensemble.name),
    description: ensemble.description.trim() === '' ? describe(ensemble) : ensemble.description,
    mode: 'streaming',
    timeoutMs: Infinity,
    idleTimeoutMs: Infinity,
    ...settings,
    input: inputSchema(ensemble),
    connector: localConnector(
      createEnsembleAgent(ensemble, options),
      `tutti://${encodeURIComponent(ensemble.name)}`,
    ),
  })
  // NOTE: the schema has a string for each variable, and the compiler does not know their names.
  return tool as unknown as TypedTool<Inputs>
}

function inputSchema({ tasks }: ResolvedEnsemble): Type.TObject {
  const variables = inputVariables(tasks).map((name) => [name, Type.String()] as const)
  return Type.Object(Object.fromEntries(variables))
}

function describe({ name, tasks }: ResolvedEnsemble): string {
  return `Runs "${name}": ${tasks.map((task) => task.name).join(', ')}`
}

function toolName(name: string): string {
  return name.replaceAll(/[^\w-]+/g, '_').slice(0, 64)
}
