/** Calls a tool of the catalog for an MCP client, at the desk where REST and WebSocket call them. */
import { invokeTool, type Invocation } from '../tools/invoke-tool.ts'
import { structuredContentOf } from './object-schema.ts'

import type { RunNote } from './run-notes.ts'
import type { GatewayOptions } from '../gateway-options.ts'
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { AgentTool, McpRequest, TraceContext } from '@tutti/core'
import type { ToolInvocation } from '@tutti/protocol'

/** What the tool is given, and until when. */
export interface ToolArguments {
  readonly given: Readonly<Record<string, unknown>>
  /** Aborts when the client gives up. */
  readonly signal: AbortSignal
  /** In which trace it calls. */
  readonly trace?: TraceContext
  /** The call, for the tool. */
  readonly request?: McpRequest
  /** Tells the client how far the tool is; undefined when it did not ask. */
  readonly tell?: ((note: RunNote) => Promise<void>) | undefined
}

/**
 * What the call came to; a failure of the tool is a result too.
 *
 * @throws {TuttiError} as `invokeTool`.
 */
export async function callTool(
  options: GatewayOptions,
  tool: AgentTool,
  { given, signal, trace, tell, request }: ToolArguments,
): Promise<CallToolResult> {
  const told = tell === undefined ? {} : { onProgress: progressTold(tell) }
  const invocation = await invokeTool(options, tool, {
    input: given,
    signal,
    ...trace,
    ...told,
    ...(request === undefined ? {} : { request }),
  })
  return toolResult(invocation, tool.outputSchema)
}

/** A number of progress only ever grows, which a fraction need not: reports are counted. */
function progressTold(
  tell: NonNullable<ToolArguments['tell']>,
): NonNullable<Invocation['onProgress']> {
  let count = 0
  return (_call, { message }) => {
    count += 1
    void tell({ progress: count, total: 0, message })
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
    structuredContent: structuredContentOf(structured, outputSchema),
  }
}

function text(shown: string) {
  return { type: 'text', text: shown } as const
}

function failed(message: string): CallToolResult {
  return { isError: true, content: [text(message)] }
}

function withoutValue(output: string): string {
  return `The tool gave no value of the shape that it promises. Its text: ${output}`
}
