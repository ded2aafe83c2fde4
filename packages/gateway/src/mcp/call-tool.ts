/** Calls a tool of the catalog for an MCP client, through the same path as REST and WebSocket. */
import { invokeCatalogTool, type Invocation } from '../tools/invoke-tool.ts'
import { toStructuredContent } from './object-schema.ts'

import type { ReportProgress } from './caller.ts'
import type { GatewayOptions } from '../gateway-options.ts'
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { AgentTool } from '@tutti/core'
import type { McpRequest, TraceContext } from '@tutti/core/internal'
import type { ToolInvocation } from '@tutti/protocol/internal'

/** Arguments and context of a call. */
export interface McpToolCallOptions {
  readonly given: Readonly<Record<string, unknown>>
  /** Aborts when the client abandons the call. */
  readonly signal: AbortSignal
  /** Trace context of the call. */
  readonly trace?: TraceContext
  /** Call of the MCP client, for the tool. */
  readonly request?: McpRequest
  /** Reports progress to the client; undefined when it did not ask for it. */
  readonly report?: ReportProgress | undefined
}

/**
 * Calls a tool and returns its result; a failure of the tool is a result too.
 *
 * @throws {TuttiError} as `invokeCatalogTool`.
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

/** Reports progress as the number of reports, because progress over MCP must grow and that of a tool need not. */
function countingReports(report: ReportProgress): NonNullable<Invocation['onProgress']> {
  let count = 0
  return (_call, { message }) => {
    count += 1
    void report({ progress: count, total: 0, message })
  }
}

/** Pure: converts an invocation to a result of MCP. */
export function toolResult(
  { status, output = '', errorMessage = '', structured }: ToolInvocation,
  outputSchema: object | undefined,
): CallToolResult {
  if (status === 'FAILED') return failed(errorMessage === '' ? 'The tool failed' : errorMessage)
  if (structured === undefined) {
    // With an output schema, a client treats a missing value as a protocol error.
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
