/**
 * Defines tools that call an agent through a connector.
 *
 *   input ─request─▶ input of the agent ─▶ try (and retries) ─▶ answer ─▶ text for the model, value
 */
import { defineTextTool, defineTool, type ToolSettings, type TypedTool } from '@tutti/core'
import {
  pickOptions,
  TextToolInput,
  TOOL_SETTING_NAMES,
  type SourceOf,
  type ToolSchema,
  type ValueOf,
} from '@tutti/core/internal'

import {
  resolveAgentSettings,
  type AgentToolContext,
  type AgentToolDefinition,
} from './agent-tool-settings.ts'
import { callAgent } from './call-agent.ts'

import type Type from 'typebox'

type TextAgentTool = ToolSettings<never> &
  Pick<AgentToolDefinition<ToolSchema, ToolSchema>, 'output' | 'outputCheck'>

/**
 * Defines a tool that calls an agent.
 *
 * @throws {TypeError} naming every invalid option.
 */
export function defineAgentTool<
  const Input extends ToolSchema = Type.TString,
  const Output extends ToolSchema = Type.TString,
>(
  definition: AgentToolDefinition<Input, Output>,
): TypedTool<ValueOf<Input>, SourceOf<Output>, SourceOf<Input>> {
  const settings = resolveAgentSettings(definition)
  const { input, output, outputCheck, request = (value: unknown) => value, connector } = definition
  const { graceMs = connector.graceMs } = definition
  const tool = {
    ...pickOptions(definition, TOOL_SETTING_NAMES),
    idempotent: definition.idempotent ?? false,
    // The driver enforces time limits, because it can cancel the agent.
    timeoutMs: Infinity,
    ...(graceMs === undefined ? {} : { graceMs }),
  }
  const checked = {
    ...(output === undefined ? {} : { output }),
    ...(outputCheck === undefined ? {} : { outputCheck }),
  }
  if (input === undefined) {
    // NOTE: without a schema the input is a text, which is then the type of `Input`.
    const ask = (text: string, context: AgentToolContext): ReturnType<typeof callAgent> =>
      callAgent(settings, request(text as ValueOf<Input>), context)
    return textTool({ ...tool, ...checked }, ask) as TypedTool<
      ValueOf<Input>,
      SourceOf<Output>,
      SourceOf<Input>
    >
  }
  return defineTool({
    ...tool,
    ...checked,
    input,
    execute: (value, context) => callAgent(settings, request(value), context),
  })
}

/** Defines a tool whose input is one text; a tool with an output schema must be a typed tool. */
function textTool(
  { output, outputCheck, ...tool }: TextAgentTool,
  ask: (text: string, context: AgentToolContext) => ReturnType<typeof callAgent>,
): unknown {
  if (output === undefined) return defineTextTool({ ...tool, execute: ask })
  return defineTool({
    ...tool,
    input: TextToolInput,
    output,
    ...(outputCheck === undefined ? {} : { outputCheck }),
    execute: ({ input }, context) => ask(input, context),
  })
}
