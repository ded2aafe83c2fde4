/**
 * Imports the tools of an MCP server. They have the schemas of the server; a call is a `tools/call` with the limits,
 * cancellation, approval and counting of every tool.
 *
 *   server ─tools/list─▶ tools        input ─tools/call─▶ content ─▶ ToolResult
 */
import { defineTool, type AgentTool } from '@tutti/core'
import { errorMessage, type ForeignSchema } from '@tutti/core/internal'
import {
  DEFAULT_MAX_MCP_MESSAGE_BYTES,
  DEFAULT_MCP_CONNECT_TIMEOUT_MS,
  McpConnection,
  type McpServer,
  type McpTool,
  type McpToolList,
  resolveMcpServer,
} from '@tutti/mcp/internal'

import { setImmediate } from 'node:timers/promises'

import { ToolNames } from '../http/tool-names.ts'
import { adaptForeignSchema } from '../schema/foreign-schema.ts'
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
  /** Changes that make tools usable, and reasons why the list of the server is incomplete. */
  readonly warnings: readonly string[]
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
  let listed: ImportedTools
  const refresh = async (): Promise<readonly AgentTool[]> => {
    listed = await importTools(await connection.listTools({ refresh: true }), {
      connection,
      options,
    })
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
    get warnings() {
      return listed.warnings
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

type ImportedTools = Pick<McpTools, 'tools' | 'skipped' | 'warnings'>

/** Time after which an import lets other work run, in milliseconds. */
const MAX_TURN_MS = 20

async function importTools(listed: McpToolList, context: ImportContext): Promise<ImportedTools> {
  const { include, exclude = [], prefix = '' } = context.options
  const isChosen = (name: string): boolean =>
    !exclude.includes(name) && include?.includes(name) !== false
  const names = new ToolNames()
  const tools: AgentTool[] = []
  const warnings = [...listed.warnings]
  const known = new Set([...listed.tools, ...listed.skipped].map(({ name }) => name))
  const skipped: SkippedMcpTool[] = (include ?? [])
    .filter((name) => !known.has(name))
    .map((name) => ({ name, reason: 'the server has no such tool' }))
  skipped.push(...listed.skipped.filter(({ name }) => isChosen(name)))
  let startedAt = performance.now()
  for (const tool of listed.tools.filter(({ name }) => isChosen(name))) {
    if (performance.now() - startedAt > MAX_TURN_MS) {
      await setImmediate()
      startedAt = performance.now()
    }
    if (needsTasks(tool)) {
      skipped.push({ name: tool.name, reason: NEEDS_TASKS })
      continue
    }
    const warn = (warning: string): void => {
      warnings.push(`${tool.name}: ${warning}`)
    }
    const name = names.take(prefix + tool.name)
    try {
      tools.push(importTool(tool, { ...context, name, warn }))
    } catch (error) {
      skipped.push({ name: tool.name, reason: errorMessage(error) })
    }
  }
  return { tools, skipped, warnings }
}

/** Returns whether a tool can be called only as an MCP task, which the SDK does not support. */
function needsTasks(tool: McpTool): boolean {
  const { execution } = tool
  return execution?.taskSupport === 'required'
}

const NEEDS_TASKS =
  'it can be called only as a task (taskSupport: required), which is not supported'

interface ToolImport extends ImportContext {
  readonly name: string
  readonly warn: (warning: string) => void
}

function importTool(tool: McpTool, context: ToolImport): AgentTool {
  const { warn } = context
  const input = adaptForeignSchema(tool.inputSchema)
  for (const warning of input.warnings) warn(`inputSchema${warning}`)
  const define = (output: ForeignSchema['schema'] | undefined): AgentTool =>
    defineImported(tool, { ...context, input: input.schema, output })
  if (tool.outputSchema === undefined) return define(undefined)
  try {
    const output = adaptForeignSchema(tool.outputSchema)
    const imported = define(output.schema)
    for (const warning of output.warnings) warn(`outputSchema${warning}`)
    return imported
  } catch (error) {
    // A tool is useful without the schema of its output.
    const imported = define(undefined)
    warn(`its outputSchema was dropped: ${errorMessage(error)}`)
    return imported
  }
}

interface ImportedDefinition extends ImportContext {
  readonly name: string
  readonly input: ForeignSchema['schema']
  readonly output: ForeignSchema['schema'] | undefined
}

function defineImported(
  tool: McpTool,
  { name, input, output, connection, options }: ImportedDefinition,
): AgentTool {
  const { annotations = {}, title } = tool
  const { timeoutMs, limiter, outputCheck } = options
  const description = tool.description?.trim() ?? ''
  const titles = [title, annotations.title].map((text) => text?.trim() ?? '')
  return defineTool({
    name,
    description: [description, ...titles, tool.name].find((text) => text !== '') ?? tool.name,
    input,
    exactIntegers: true,
    ...(output === undefined ? {} : { output }),
    idempotent: annotations.readOnlyHint === true || annotations.idempotentHint === true,
    requireApproval: needsApproval({ name: tool.name, annotations }, options.approve),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(limiter === undefined ? {} : { limiter }),
    ...(outputCheck === undefined ? {} : { outputCheck }),
    // NOTE: the input matches the schema of the tool, which describes an object.
    execute: (value, context) =>
      callMcpTool(connection, { tool, args: value as Record<string, unknown>, context }),
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
