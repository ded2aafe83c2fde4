/**
 * Our tools as tools of LangChain, for agents that are not ours.
 *
 * O1 The schema that the model gets is the author's own, the same object.
 * O2 A call goes the safe way: time limit, limiter, approval and metrics hold.
 * O3 A failure is thrown, as LangChain's agents expect; its text is what our models would read.
 */
import { runTool, type AgentTool, type RunToolOptions } from '@tutti/core'

import type { DynamicStructuredTool } from '@langchain/core/tools'

/** Surroundings of the calls: whom to ask, where to count. Signal and ids come from LangChain. */
export type ToLangChainToolOptions = Omit<RunToolOptions, 'signal' | 'idempotencyKey'>

/** A tool of LangChain that gives text, and the structured result as its artifact. */
export type LangChainTool = DynamicStructuredTool

/**
 * Makes a LangChain tool. LangChain checks the input against the schema before ours does, and mends
 * nothing: slips of form that our own agents forgive are errors there.
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

/** The part of LangChain's tool config that is read. */
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
