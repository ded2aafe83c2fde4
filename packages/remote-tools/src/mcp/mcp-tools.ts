/**
 * The tools of an MCP server as tools. Their schemas are the server's own; a call is a `tools/call`
 * whose limit, cancel, approval and counts are those of every tool.
 *
 *   server ─tools/list─▶ tools        input ─tools/call─▶ content ─▶ ToolResult
 */
import { defineTool, errorMessage, ToolResult, type AgentTool, type ToolContext } from '@tutti/core'

import { ToolNames } from '../http/tool-names.ts'
import { McpConnection } from './connection.ts'
import { McpQuestions } from './elicitation.ts'
import { toolResultOf } from './mcp-result.ts'
import {
  assertToolsOptions,
  DEFAULT_CONNECT_TIMEOUT_MS,
  DEFAULT_MAX_MESSAGE_BYTES,
  resolveServer,
  type McpServer,
  type McpToolFacts,
  type McpToolsOptions,
} from './options.ts'

import type { CallToolResult, Client, Progress, Tool } from '@modelcontextprotocol/client'

/** A tool of a server that cannot be a tool here. */
export interface SkippedMcpTool {
  readonly name: string
  readonly reason: string
}

/** The tools of one server, and the connection that they share. */
export interface McpTools extends AsyncDisposable {
  /** The tools, in the server's order. */
  readonly tools: readonly AgentTool[]
  /** Tools of the server that are not among them though they were asked for, and why. */
  readonly skipped: readonly SkippedMcpTool[]
  /** Asks the server anew for its tools; those that were made before go on working. */
  refresh(): Promise<readonly AgentTool[]>
  /** Ends the connection, and a server that is a program. Calls after it fail. Never rejects. */
  close(): Promise<void>
}

/**
 * Connects to an MCP server and makes a tool of each of its tools.
 *
 * @throws {TypeError} for a server that is not described rightly.
 * @throws {Error} when the server cannot be reached or does not say its tools in time.
 */
export async function mcpTools(
  server: McpServer,
  options: McpToolsOptions = {},
): Promise<McpTools> {
  assertToolsOptions(options)
  const { maxMessageBytes = DEFAULT_MAX_MESSAGE_BYTES } = options
  if (!(maxMessageBytes > 0)) {
    throw new TypeError(
      `Cannot import MCP tools: maxMessageBytes must be > 0, got ${maxMessageBytes}`,
    )
  }
  const connection = new McpConnection(resolveServer(server), {
    maxMessageBytes,
    connectTimeoutMs: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
    onChange: () => options.onChange?.(),
  })
  let listed: Pick<McpTools, 'tools' | 'skipped'>
  const refresh = async (): Promise<readonly AgentTool[]> => {
    listed = toolsOf(await listTools(connection, options), { connection, options })
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

/** Pages that are asked for, at most: a server may never come to an end. */
const MAX_PAGES = 100

function listTools(
  connection: McpConnection,
  { connectTimeoutMs = DEFAULT_CONNECT_TIMEOUT_MS }: McpToolsOptions,
): Promise<readonly Tool[]> {
  return connection.use(async (client) => {
    const tools: Tool[] = []
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const params = cursor === undefined ? {} : { cursor }
      // Asked as a plain request: the client's own method would refuse results later, over and above
      // the check of output that tools have here.
      const listed = await client.request(
        { method: 'tools/list', params },
        { timeout: connectTimeoutMs },
      )
      tools.push(...listed.tools)
      cursor = listed.nextCursor
      if (cursor === undefined) break
    }
    return tools
  })
}

interface Surroundings {
  readonly connection: McpConnection
  readonly options: McpToolsOptions
}

function toolsOf(
  listed: readonly Tool[],
  surroundings: Surroundings,
): Pick<McpTools, 'tools' | 'skipped'> {
  const { include, exclude = [], prefix = '' } = surroundings.options
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
      tools.push(toolOf(tool, names.take(prefix + tool.name), surroundings))
    } catch (error) {
      skipped.push({ name: tool.name, reason: errorMessage(error) })
    }
  }
  return { tools, skipped }
}

/** Whether a tool can only be called as a task of the protocol, which its library does not support. */
function needsTasks(tool: Tool): boolean {
  const { execution } = tool
  return execution?.taskSupport === 'required'
}

const NEEDS_TASKS =
  'it can only be called as a task (taskSupport: required), which is not supported'

function toolOf(tool: Tool, name: string, { connection, options }: Surroundings): AgentTool {
  const { annotations = {}, outputSchema, title } = tool
  const { timeoutMs, limiter, outputCheck } = options
  const said = tool.description?.trim() ?? ''
  return defineTool({
    name,
    description: said === '' ? (title ?? annotations.title ?? tool.name) : said,
    input: tool.inputSchema,
    ...(outputSchema === undefined ? {} : { output: outputSchema }),
    idempotent: annotations.readOnlyHint === true || annotations.idempotentHint === true,
    requireApproval: needsApproval({ name: tool.name, annotations }, options.approve),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(limiter === undefined ? {} : { limiter }),
    ...(outputCheck === undefined ? {} : { outputCheck }),
    async execute(input, context) {
      const questions = new McpQuestions(context)
      const call: Call = { tool, input, context, signal: questions.signal }
      try {
        const result = await connection.use((client) =>
          connection.elicitations.during(questions, () => callTool(client, call)),
        )
        return questions.addDeclined(toolResultOf(result))
      } catch (error) {
        questions.throwIfEnded()
        return questions.addDeclined(ToolResult.failure(`MCP call failed: ${errorMessage(error)}`))
      }
    },
  })
}

function needsApproval(tool: McpToolFacts, approve: McpToolsOptions['approve'] = 'none'): boolean {
  if (typeof approve === 'function') return approve(tool)
  const { readOnlyHint, destructiveHint } = tool.annotations
  // A tool that says neither is destructive: so the protocol has it.
  return (
    approve === 'all' ||
    (approve === 'destructive' && readOnlyHint !== true && destructiveHint !== false)
  )
}

/** No limit of the client's own: the call has one, and the client's would end calls at 60 s. */
const LONGEST_TIMER_MS = 2_147_483_647

interface Call {
  readonly tool: Tool
  readonly input: unknown
  readonly context: ToolContext
  readonly signal: AbortSignal
}

function callTool(client: Client, { tool, input, context, signal }: Call): Promise<CallToolResult> {
  const { name, outputSchema: _checkedHere, ...described } = tool
  // NOTE: the input was read by the schema of the tool, which describes an object.
  const args = input as Record<string, unknown>
  return client.callTool(
    { name, arguments: args, ...traceOf(context) },
    {
      signal,
      onprogress: (progress) => {
        reportProgress(context, progress)
      },
      resetTimeoutOnProgress: true,
      timeout: LONGEST_TIMER_MS,
      maxTotalTimeout: LONGEST_TIMER_MS,
      // Says which arguments the server wants in headers too (`x-mcp-header`).
      toolDefinition: { ...described, name },
    },
  )
}

/** The trace of the call, as the protocol reserves keys for it. */
function traceOf({ traceparent, tracestate }: ToolContext): {
  readonly _meta?: Record<string, string>
} {
  if (traceparent === undefined) return {}
  return { _meta: tracestate === undefined ? { traceparent } : { traceparent, tracestate } }
}

function reportProgress(
  { reportProgress: report }: ToolContext,
  { message, progress, total }: Progress,
): void {
  const known = total !== undefined && total > 0
  const fraction = known ? Math.min(1, Math.max(0, progress / total)) : undefined
  report({
    message: message ?? (known ? `${progress} of ${total}` : String(progress)),
    ...(fraction === undefined ? {} : { fraction }),
  })
}
