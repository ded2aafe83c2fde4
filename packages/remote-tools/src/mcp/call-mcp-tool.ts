/**
 * Calls an imported MCP tool. Questions of its server (elicitation) go to the reviewer of the run.
 *
 * REMOTE-E1 A question is declined if the run has no reviewer, or if it does not name its call while the connection has
 *    several calls in flight. The result of the call reports it.
 */
import { ToolResult, type ToolContext } from '@tutti/core'
import { errorMessage, formatExactJson, limitText } from '@tutti/core/internal'
import {
  askReviewer,
  contentText,
  type McpConnection,
  type McpForm,
  type McpFormAnswer,
  type McpProgress,
  type McpTool,
  McpToolCall,
  type McpToolResult,
} from '@tutti/mcp/internal'

/** One call of a tool. */
interface ImportedCall {
  readonly tool: McpTool
  readonly args: Readonly<Record<string, unknown>>
  readonly context: ToolContext
}

/** Maximum number of characters of a declined question that a result quotes. */
const QUOTED_LENGTH = 200

/**
 * Calls a tool. Failures are failed results.
 *
 * @throws the error of a question that concerns more than the call, such as EXIT_EARLY.
 */
export async function callMcpTool(
  connection: McpConnection,
  { tool, args, context }: ImportedCall,
): Promise<ToolResult> {
  const declined: string[] = []
  let thrown: { readonly error: unknown } | undefined
  const onDeclined = ({ message }: McpForm, reason: string): void => {
    const quoted = limitText(message, QUOTED_LENGTH)
    declined.push(`[Declined a question of the MCP server, because ${reason}: "${quoted}"]`)
    context.logger.warn(`Declined a question of an MCP server: ${reason}`)
  }
  const ask = async (form: McpForm, signal: AbortSignal): Promise<McpFormAnswer> => {
    if (!context.hasReviewer) {
      onDeclined(form, 'the run has no reviewer')
      return { action: 'decline' }
    }
    return askReviewer(context.requestAnswer, form, signal).catch((error: unknown) => {
      if (!signal.aborted) thrown = { error }
      throw error
    })
  }
  const call = new McpToolCall({
    tool,
    args,
    meta: () => traceMeta(context),
    signal: context.signal,
    clock: context.clock,
    onProgress: (progress) => {
      reportProgress(context, progress)
    },
    ask,
    onDeclined,
  })
  try {
    return withDeclined(toToolResult(await call.run(connection)), declined)
  } catch (error) {
    if (thrown !== undefined) throw thrown.error
    const failure = ToolResult.failure(`MCP call failed: ${errorMessage(error)}`)
    return withDeclined(failure, declined)
  }
}

/** Adds the declined questions to a result. */
function withDeclined(result: ToolResult, declined: readonly string[]): ToolResult {
  if (declined.length === 0) return result
  const add = (text: string): string => [text, ...declined].join('\n')
  if (result.success) return ToolResult.success(add(result.output), result.structured)
  return failure(add(result.errorMessage ?? ''), result.structured)
}

function toToolResult(result: McpToolResult): ToolResult {
  const { structuredContent } = result
  const text = contentText(result.content)
  if (result.isError === true)
    return failure(explainFailure(text, structuredContent), structuredContent)
  if (structuredContent === undefined) return ToolResult.success(text)
  return ToolResult.success(
    text === '' ? (formatExactJson(structuredContent) ?? '') : text,
    structuredContent,
  )
}

/** Maximum number of characters of structured content that explains a failure. */
const EXPLANATION_LENGTH = 2_000

/** Returns the text of a failed result; its structured content where it has no text. */
function explainFailure(text: string, structured: unknown): string {
  if (text.trim() !== '') return text
  if (structured === undefined) return 'The tool failed without a message'
  return limitText(JSON.stringify(structured), EXPLANATION_LENGTH)
}

function failure(reason: string, structured: unknown): ToolResult {
  const result = ToolResult.failure(reason)
  return structured === undefined ? result : Object.assign(result, { structured })
}

/** Returns the trace of the call, under the keys that the protocol reserves for it. */
function traceMeta({ traceparent, tracestate }: ToolContext): Record<string, string> {
  if (traceparent === undefined) return {}
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}

function reportProgress(
  { reportProgress: report }: ToolContext,
  { message, progress, total }: McpProgress,
): void {
  const known = total !== undefined && total > 0
  const fraction = known ? Math.min(1, Math.max(0, progress / total)) : undefined
  report({
    message: message ?? (known ? `${progress} of ${total}` : String(progress)),
    ...(fraction === undefined ? {} : { fraction }),
  })
}
