/**
 * Imports the tools of an MCP server. They have the schemas of the server; a call is a `tools/call` with the limits,
 * cancellation, approval and counting of every tool.
 *
 *   server ─tools/list─▶ tools        input ─tools/call─▶ content ─▶ ToolResult
 */
import { defineTool, errorMessage, type AgentTool } from '@tutti/core'
import {
  DEFAULT_MAX_MCP_MESSAGE_BYTES,
  DEFAULT_MCP_CONNECT_TIMEOUT_MS,
  McpConnection,
  type McpServer,
  type McpTool,
  resolveMcpServer,
} from '@tutti/mcp'

import { ToolNames } from '../http/tool-names.ts'
import { callMcpTool } from './call-mcp-tool.ts'
import { assertToolsOptions, type McpToolFacts, type McpToolsOptions } from './options.ts'

/** A tool of a server that cannot be imported. */
export interface SkippedMcpTool {
  readonly name: string
  readonly reason: string
}

/** The tools of one server, and the connection that they share. */
export interface McpTools extends AsyncDisposable {
  /** The tools, in the server's order. */
  readonly tools: readonly AgentTool[]
  /** Requested tools that were not imported, with the reasons. */
  readonly skipped: readonly SkippedMcpTool[]
  /** Lists the tools of the server again. Earlier tools continue to work. */
  refresh(): Promise<readonly AgentTool[]>
  /** Closes the connection, and ends a server that is a child process. Later calls fail. Never rejects. */
  close(): Promise<void>
}

/**
 * Connects to an MCP server and imports its tools.
 *
 * @throws {TypeError} naming every invalid option.
 * @throws {McpError} when the server cannot be reached or does not list its tools in time.
 */
export async function mcpTools(
  server: McpServer,
  options: McpToolsOptions = {},
): Promise<McpTools> {
  assertToolsOptions(options)
  const { onChange, maxMessageBytes = DEFAULT_MAX_MCP_MESSAGE_BYTES } = options
  const connection = new McpConnection(resolveMcpServer(server), {
    maxMessageBytes,
    connectTimeoutMs: options.connectTimeoutMs ?? DEFAULT_MCP_CONNECT_TIMEOUT_MS,
    // Every child process supports the older era, but some exit at the probe for a newer one.
    programEra: 'legacy',
    onToolsChanged: onChange,
  })
  let listed: Pick<McpTools, 'tools' | 'skipped'>
  const refresh = async (): Promise<readonly AgentTool[]> => {
    listed = importTools(await connection.listTools({ refresh: true }), { connection, options })
    return listed.tools
  }
  try {
    await refresh()
  } catch (error) {
    await connection.close()
    throw error
  }
  return {
    get tools() {
      return listed.tools
    },
    get skipped() {
      return listed.skipped
    },
    refresh,
    close: () => connection.close(),
    [Symbol.asyncDispose]: () => connection.close(),
  }
}

interface ImportContext {
  readonly connection: McpConnection
  readonly options: McpToolsOptions
}

function importTools(
  listed: readonly McpTool[],
  context: ImportContext,
): Pick<McpTools, 'tools' | 'skipped'> {
  const { include, exclude = [], prefix = '' } = context.options
  const names = new ToolNames()
  const tools: AgentTool[] = []
  const known = new Set(listed.map(({ name }) => name))
  const skipped: SkippedMcpTool[] = (include ?? [])
    .filter((name) => !known.has(name))
    .map((name) => ({ name, reason: 'the server has no such tool' }))
  for (const tool of listed) {
    if (exclude.includes(tool.name) || include?.includes(tool.name) === false) continue
    if (needsTasks(tool)) {
      skipped.push({ name: tool.name, reason: NEEDS_TASKS })
      continue
    }
    try {
      tools.push(importTool(tool, names.take(prefix + tool.name), context))
    } catch (error) {
      skipped.push({ name: tool.name, reason: errorMessage(error) })
    }
  }
  return { tools, skipped }
}

/** Returns whether a tool can be called only as an MCP task, which the SDK does not support. */
function needsTasks(tool: McpTool): boolean {
  const { execution } = tool
  return execution?.taskSupport === 'required'
}

const NEEDS_TASKS =
  'it can be called only as a task (taskSupport: required), which is not supported'

function importTool(
  tool: McpTool,
  name: string,
  { connection, options }: ImportContext,
): AgentTool {
  const { annotations = {}, outputSchema, title } = tool
  const { timeoutMs, limiter, outputCheck } = options
  const description = tool.description?.trim() ?? ''
  return defineTool({
    name,
    description: description === '' ? (title ?? annotations.title ?? tool.name) : description,
    input: tool.inputSchema,
    ...(outputSchema === undefined ? {} : { output: outputSchema }),
    idempotent: annotations.readOnlyHint === true || annotations.idempotentHint === true,
    requireApproval: needsApproval({ name: tool.name, annotations }, options.approve),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(limiter === undefined ? {} : { limiter }),
    ...(outputCheck === undefined ? {} : { outputCheck }),
    // NOTE: the input matches the schema of the tool, which describes an object.
    execute: (input, context) =>
      callMcpTool(connection, { tool, args: input as Record<string, unknown>, context }),
  })
}

function needsApproval(tool: McpToolFacts, approve: McpToolsOptions['approve'] = 'none'): boolean {
  if (typeof approve === 'function') return approve(tool)
  const { readOnlyHint, destructiveHint } = tool.annotations
  // The protocol defines a tool without these hints as destructive.
  return (
    approve === 'all' ||
    (approve === 'destructive' && readOnlyHint !== true && destructiveHint !== false)
  )
}
