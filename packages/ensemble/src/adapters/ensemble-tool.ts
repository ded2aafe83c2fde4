/**
 * An ensemble as a tool, whose input are the template variables.
 *
 *   call by an agent or a handler ─▶ task with the ensemble, in the run of the caller
 *   any other call                ─▶ separate run
 *
 * ENS-P17 When an agent or a handler calls an ensemble as a tool, the run gets a task with that ensemble, named below the
 *    caller. The task has the inputs of the run and of the call, and the tool's limits.
 */
import { defineTool, Type, type TypedTool } from '@tutti/core'
import { pickOptions, TOOL_SETTING_NAMES } from '@tutti/core/internal'
import { defineAgentTool, localConnector, type AgentToolSettings } from '@tutti/agent-call/internal'

import { task } from '../definition/define-task.ts'
import { inputVariables, namedInputs } from '../definition/inputs.ts'
import { markEnsembleTool } from '../definition/sub-ensemble.ts'
import { createEnsembleAgent, type AgentRunOptions } from './ensemble-agent.ts'

import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'
import type { Task } from '../definition/task.ts'
import type { Inputs } from '../definition/template.ts'

/** Settings of the tool of an ensemble. Those of a run apply only to separate runs. */
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
  const definition = {
    name: toToolName(ensemble.name),
    description:
      ensemble.description.trim() === '' ? describeEnsemble(ensemble) : ensemble.description,
    mode: 'streaming',
    timeoutMs: Infinity,
    idleTimeoutMs: Infinity,
    ...settings,
    input: createInputSchema(ensemble),
  } as const
  const tool = defineAgentTool({
    ...definition,
    connector: localConnector(
      createEnsembleAgent(ensemble, options),
      `tutti://${encodeURIComponent(ensemble.name)}`,
    ),
  })
  markEnsembleTool(tool, {
    task: createToolTask(ensemble, definition),
    withBody: (body) =>
      defineTool({
        ...pickOptions(definition, TOOL_SETTING_NAMES),
        input: definition.input,
        timeoutMs: Infinity,
        // The task continues after an interruption.
        idempotent: true,
        // NOTE: the schema has a string for each variable.
        execute: (inputs, context) => body(inputs as Inputs, context),
      }),
  })
  // NOTE: the schema has a string for each variable, but the compiler does not know their names.
  return tool as unknown as TypedTool<Inputs>
}

type ToolLimits = Pick<EnsembleToolSettings, 'retries' | 'maxCostUsd' | 'maxTokens'> & {
  readonly name: string
  readonly timeoutMs: number
}

/** Returns the task that a call in a run adds, with the limits of the tool. Its output is text, like that of the tool. */
function createToolTask(
  ensemble: ResolvedEnsemble,
  { name, retries, timeoutMs, maxCostUsd, maxTokens }: ToolLimits,
): Task {
  const budget = {
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  }
  const { outputReader: _, ...made } = task({
    name,
    ensemble,
    ...(retries === undefined ? {} : { retries }),
    ...(timeoutMs === Infinity ? {} : { timeoutMs }),
    ...(Object.keys(budget).length === 0 ? {} : { budget }),
  })
  return made
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
