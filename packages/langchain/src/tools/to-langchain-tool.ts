/**
 * Adapts Tutti tools to LangChain tools, for agents of other frameworks.
 *
 * LC-TT1 The model gets the author's schema, the same object.
 * LC-TT2 Time limit, limiter, approval and metrics apply to each call.
 * LC-TT3 A failure is thrown, as LangChain's agents expect; its text is the one that Tutti's agents see.
 */
import { runTool, type AgentTool, type RunToolOptions } from '@tutti/core'

import type { DynamicStructuredTool } from '@langchain/core/tools'

/** Context of the calls: reviewer, limiter and metrics. Signal and ids come from LangChain. */
export type ToLangChainToolOptions = Omit<RunToolOptions, 'signal' | 'idempotencyKey'>

/** A LangChain tool that returns text, with the structured result as its artifact. */
export type LangChainTool = DynamicStructuredTool

/**
 * Creates a LangChain tool. LangChain validates the input against the schema first and does not coerce it:
 * formal slips that Tutti's agents tolerate are errors there.
 */
export async function toLangChainTool(
  tool: AgentTool,
  options: ToLangChainToolOptions = {},
): Promise<LangChainTool> {
  const { DynamicStructuredTool: LangChainStructuredTool } = await import('@langchain/core/tools')
  return new LangChainStructuredTool({
    name: tool.name,
    description: tool.description,
    schema: tool.inputSchema,
    responseFormat: 'content_and_artifact',
    func: (input: unknown, _, config) => call(tool, input, { ...options, config }),
  })
}

interface Call extends ToLangChainToolOptions {
  readonly config?: CallConfig | undefined
}

/** The parts of LangChain's tool config that are used. */
interface CallConfig {
  readonly signal?: AbortSignal
  readonly toolCall?: { readonly id?: string }
}

async function call(
  tool: AgentTool,
  input: unknown,
  { config, ...options }: Call,
): Promise<readonly [content: string, artifact: unknown]> {
  const { signal, toolCall } = config ?? {}
  const outcome = await runTool(
    tool,
    {
      id: toolCall?.id ?? `call-${crypto.randomUUID()}`,
      name: tool.name,
      arguments: JSON.stringify(input),
    },
    signal === undefined ? options : { ...options, signal },
  )
  if (outcome.error !== undefined) throw outcome.error
  if (outcome.end === 'cancelled') signal?.throwIfAborted()
  const { success, output, errorMessage, structured } = outcome.result
  if (!success) throw new Error(errorMessage)
  return [output, structured]
}
