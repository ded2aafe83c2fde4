/** Defines tools that call agents. The address determines the protocol. */
import { assertKnownOptions, pickOptions, type OptionNames } from '@tutti/core/internal'
import {
  AGENT_TOOL_NAMES,
  defineAgentTool,
  localConnector,
  type AgentToolDefinition,
} from '@tutti/agent-call/internal'

import { createConnector, type AgentAddressOptions } from './create-connector.ts'

import type { Type, TypedTool } from '@tutti/core'
import type { SourceOf, ToolSchema, ValueOf } from '@tutti/core/internal'
import type { LocalAgent } from '@tutti/agent-call/internal'

/** Options of a tool that calls an agent. */
export interface AgentToolOptions<
  Input extends ToolSchema = Type.TString,
  Output extends ToolSchema = Type.TString,
>
  extends Omit<AgentToolDefinition<Input, Output>, 'connector'>, AgentAddressOptions {
  /**
   * The agent: one of this process, or an address.
   *
   * | address | protocol or target |
   * | --- | --- |
   * | `https://…`, `http://…` on this machine | A2A, or the protocol of a connector of `connectors`: see `wire` |
   * | `tutti://name`, `jamjet://name` | an agent of this process, of `agents` |
   * | `mcp+https://…#tool`, `mcp+stdio:…#tool`, `mcp://host/tool`, `name:tool` of `mcpServers` | MCP |
   * | `wss://host#task:name`, `wss://host#tool:name` | a task or tool that another Tutti server shares, over `peerConnector` of `connectors` |
   */
  readonly agent: string | URL | LocalAgent
}

const ADDRESS_NAMES = {
  headers: true,
  allowHttp: true,
  allow: true,
  resolve: true,
  agents: true,
  mcpServers: true,
  wire: true,
  cardUrl: true,
  connectors: true,
} as const satisfies OptionNames<AgentAddressOptions>

const { connector: _, ...DEFINITION_NAMES } = AGENT_TOOL_NAMES

const OPTION_NAMES = {
  ...DEFINITION_NAMES,
  ...ADDRESS_NAMES,
  agent: true,
} as const satisfies OptionNames<AgentToolOptions<ToolSchema, ToolSchema>>

/** A tool that calls an agent, with resources that its calls share. */
export interface AgentAsTool<Input, Output, Source>
  extends TypedTool<Input, Output, Source>, AsyncDisposable {
  /** Releases shared connections and child processes. Never rejects. */
  close(): Promise<void>
}

/**
 * Creates a tool that calls an agent. It connects at its first call.
 *
 * @throws {TypeError} naming every invalid option, such as an address that does not lead to an agent.
 */
export function agentTool<
  const Input extends ToolSchema = Type.TString,
  const Output extends ToolSchema = Type.TString,
>(
  options: AgentToolOptions<Input, Output>,
): AgentAsTool<ValueOf<Input>, SourceOf<Output>, SourceOf<Input>> {
  const { agent } = options
  assertKnownOptions(
    `Cannot define agent tool ${JSON.stringify(options.name)}:`,
    options,
    OPTION_NAMES,
  )
  const isHere = typeof agent === 'object' && !(agent instanceof URL)
  const connector = isHere
    ? localConnector(agent, `tutti://${options.name}`)
    : createConnector(agent, options)
  const tool = defineAgentTool<Input, Output>({
    ...pickOptions(options, DEFINITION_NAMES),
    connector,
  })
  const close = async (): Promise<void> => {
    await connector.close?.()
  }
  return Object.assign(tool, { close, [Symbol.asyncDispose]: close })
}
