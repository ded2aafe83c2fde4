/** Calls a tool of the catalog for an MCP client, through the same path as REST and WebSocket. */
import { invokeCatalogTool, type Invocation } from '../tools/invoke-tool.ts'
import { toStructuredContent } from './object-schema.ts'

import type { ReportProgress } from './caller.ts'
import type { GatewayOptions } from '../gateway-options.ts'
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { AgentTool, McpRequest, TraceContext } from '@tutti/core'
import type { ToolInvocation } from '@tutti/protocol'

/** Arguments and context of a call. */
export interface McpToolCallOptions {
  readonly given: Readonly<Record<string, unknown>>
  /** Aborts when the client abandons the call. */
  readonly signal: AbortSignal
  /** In which trace it calls. */
  readonly trace?: TraceContext
  /** The call, for the tool. */
  readonly request?: McpRequest
  /** Reports progress to the client; undefined when it did not ask for it. */
  readonly report?: ReportProgress | undefined
}

/**
 * Returns the result of the call; a failure of the tool is a result too.
 *
 * @throws {TuttiError} as `invokeTool`.
 */
export async function callTool(
  options: GatewayOptions,
  tool: AgentTool,
  { given, signal, trace, report, request }: McpToolCallOptions,
): Promise<CallToolResult> {
  const progress = report === undefined ? {} : { onProgress: countingReports(report) }
  const invocation = await invokeCatalogTool(options, tool, {
    input: given,
    signal,
    ...trace,
    ...progress,
    ...(request === undefined ? {} : { request }),
  })
  return toolResult(invocation, tool.outputSchema)
}

/** Counts the reports: progress over MCP must grow, which a fraction need not. */
function countingReports(report: ReportProgress): NonNullable<Invocation['onProgress']> {
  let count = 0
  return (_call, { message }) => {
    count += 1
    void report({ progress: count, total: 0, message })
  }
}

/** Pure: an invocation as MCP has it. */
export function toolResult(
  { status, output = '', errorMessage = '', structured }: ToolInvocation,
  outputSchema: object | undefined,
): CallToolResult {
  if (status === 'FAILED') return failed(errorMessage === '' ? 'The tool failed' : errorMessage)
  if (structured === undefined) {
    // A client that was promised a value takes none for a fault of the protocol.
    return outputSchema === undefined ? { content: [text(output)] } : failed(withoutValue(output))
  }
  const shown = output === '' ? JSON.stringify(structured) : output
  return {
    content: [text(shown)],
    structuredContent: toStructuredContent(structured, outputSchema),
  }
}

function text(shown: string) {
  return { type: 'text', text: shown } as const
}

function failed(message: string): CallToolResult {
  return { isError: true, content: [text(message)] }
}

function withoutValue(output: string): string {
  return `The tool declares an output schema, but returned no structured value. Its text: ${output}`
}
