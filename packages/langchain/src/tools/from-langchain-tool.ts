/**
 * Adapts LangChain tools to Tutti tools.
 *
 * LC-FT1 The model gets LangChain's own JSON Schema of the tool.
 * LC-FT2 LangChain validates the input, so that transforms and refinements of its author apply, once.
 * LC-FT3 An artifact that it returns is the structured result.
 */
import { defineTextTool, defineTool, ToolResult } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'

import type { AgentTool, ToolContext, ToolSettings, TSchema } from '@tutti/core'
import type { StructuredToolInterface } from '@langchain/core/tools'

/** The fields of a LangChain tool of any class. */
export interface AnyLangChainTool {
  readonly name: string
  readonly description: string
  /** A schema of Zod 3 or 4, or JSON Schema. */
  readonly schema: unknown
  invoke(input: unknown, config?: { readonly signal?: AbortSignal }): Promise<unknown>
}

/** Settings that replace those of the LangChain tool. */
export type FromLangChainToolOptions = Partial<ToolSettings<unknown>>

/**
 * Creates a tool from a LangChain tool, such as those of its community packages. Its calls have a time limit,
 * approval and metrics; an abort reaches it as `config.signal`.
 *
 * @throws {TypeError} when its name or description is invalid, or its schema has no JSON Schema.
 */
export async function fromLangChainTool(
  langchainTool: AnyLangChainTool,
  options: FromLangChainToolOptions = {},
): Promise<AgentTool> {
  const { toJsonSchema } = await import('@langchain/core/utils/json_schema')
  // NOTE: LangChain's own schema types are not assignable to each other under strict optional fields.
  const schema = plain(toJsonSchema(langchainTool.schema as StructuredToolInterface['schema']))
  const { name, description } = langchainTool
  const settings = { name, description, ...options }
  if (isTextSchema(schema)) {
    return defineTextTool({
      ...settings,
      execute: (input, context) => invoke(langchainTool, { input }, context),
    })
  }
  return defineTool({
    ...settings,
    input: schema,
    execute: (input, context) => invoke(langchainTool, input, context),
  })
}

/** Returns only the JSON Schema: a Zod schema would also validate, and transform the input a first time. */
function plain(schema: TSchema): TSchema {
  return '~standard' in schema ? { ...schema } : schema
}

/** Returns whether a tool takes one string: LangChain's `Tool`, whose field is optional. */
function isTextSchema(schema: object): boolean {
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, object>> }
  const { input, ...others } = properties
  return (
    input !== undefined &&
    Object.keys(others).length === 0 &&
    Reflect.get(input, 'type') === 'string'
  )
}

async function invoke(
  langchainTool: AnyLangChainTool,
  args: unknown,
  context: Pick<ToolContext, 'callId' | 'signal'>,
): Promise<ToolResult> {
  const call = { type: 'tool_call', id: context.callId, name: langchainTool.name, args }
  try {
    return toResult(await langchainTool.invoke(call, { signal: context.signal }))
  } catch (error) {
    if (!isInputError(error)) throw error
    return ToolResult.failure(`Invalid input for "${langchainTool.name}": ${errorMessage(error)}`)
  }
}

function isInputError(error: unknown): boolean {
  return error instanceof Error && error.constructor.name === 'ToolInputParsingException'
}

/** Converts the output of a tool: a message with content and artifact, or any value. */
function toResult(returned: unknown): ToolResult {
  if (!isMessage(returned)) return ToolResult.success(toText(returned))
  const text = toText(returned.content)
  if (returned.status === 'error') return ToolResult.failure(text)
  return ToolResult.success(text, returned.artifact)
}

interface ToolMessageLike {
  readonly content: unknown
  readonly status?: unknown
  readonly artifact?: unknown
}

function isMessage(value: unknown): value is ToolMessageLike {
  return typeof value === 'object' && value !== null && 'content' in value
}

/** Returns the text of a message's content: a string, or the text blocks among its blocks. */
function toText(content: unknown): string {
  if (typeof content === 'string') return content
  if (Array.isArray(content)) return content.map(blockText).join('\n')
  // JSON.stringify returns undefined for some values, such as undefined.
  const text: string | undefined = JSON.stringify(content)
  return text ?? ''
}

function blockText(block: unknown): string {
  const text: unknown = typeof block === 'object' && block !== null && Reflect.get(block, 'text')
  return typeof text === 'string' ? text : (JSON.stringify(block) ?? '')
}
