/**
 * Pure: reads the parameters of a request, apart from its input.
 *
 * GW-N7 A parameter that would change the result and cannot be applied is refused by its name. Parameters that cannot
 *    change the result (`user`, `safety_identifier`, `prompt_cache_*`, `service_tier`, `stream_options`, most of
 *    `include`) are accepted, and others with the values that OpenAI's API has without them (`temperature` and `top_p`
 *    1, `reasoning.summary: auto`, which every response has), because clients send these by default.
 * GW-N18 `reasoning.effort` and `text.verbosity` are preferences, which clients send by default for some names of models.
 *    They are accepted without an effect, because the catalog has the settings of a model, and the response does not
 *    repeat them.
 */
import { isDeepStrictEqual } from 'node:util'

import { findNeutralProblem } from '../neutral-value.ts'
import { toConversationParam } from './conversation.ts'

import type { ClientToolBody, Problem } from '@tutti/protocol/internal'
import type { CreateResponseBody, ResponseRequest, ResponseTool, TextFormatParam } from './wire.ts'

/** Parameters that are not supported → the values with which they change nothing, in addition to none. */
const NEUTRAL = {
  access_programs: [],
  context_management: [],
  image: [],
  max_tool_calls: [],
  moderation: [],
  parallel_tool_calls: [true],
  prompt: [],
  service_tier: ['auto', 'default'],
  temperature: [1],
  tool_choice: ['auto', 'none'],
  top_logprobs: [0],
  top_p: [1],
  truncation: ['disabled'],
} as const satisfies Partial<Record<keyof CreateResponseBody, readonly unknown[]>>

/** Fields of a response that a request can include, although no response here has them. */
const INCLUDED: readonly unknown[] = [
  'code_interpreter_call.outputs',
  'computer_call_output.output.image_url',
  'file_search_call.results',
  'message.input_image.image_url',
  'reasoning.encrypted_content',
  'web_search_call.action.sources',
  'web_search_call.results',
]

/** Returns the problems of the parameters. */
export function findParameterProblems(body: CreateResponseBody): readonly Problem[] {
  const given = new Map<string, unknown>(Object.entries(body))
  return [
    ...Object.entries(NEUTRAL).flatMap(([name, neutral]) =>
      findNeutralProblem(`/${name}`, given.get(name), neutral),
    ),
    ...findReasoningProblems(body.reasoning),
    ...findIncludeProblems(body.include),
    ...findToolProblems(body.tools ?? []),
    ...findTextProblems(body),
    ...findConversationProblems(body),
  ]
}

function findConversationProblems(body: CreateResponseBody): readonly Problem[] {
  const { conversation = null, previous_response_id: previous = null } = body
  if (conversation === null || previous === null) return []
  const message = 'cannot be combined with previous_response_id: each names the earlier messages'
  return [{ path: '/conversation', message }]
}

/** Returns the problems of `reasoning`, in which an effort and the automatic summary are accepted. */
function findReasoningProblems(reasoning: unknown): readonly Problem[] {
  if (!isObject(reasoning)) return findNeutralProblem('/reasoning', reasoning, [])
  return Object.entries(reasoning).flatMap(([name, value]) =>
    name === 'effort' && typeof value === 'string'
      ? []
      : findNeutralProblem(`/reasoning/${name}`, value, name === 'summary' ? ['auto'] : []),
  )
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function findIncludeProblems(include: unknown): readonly Problem[] {
  if (include === undefined || include === null) return []
  if (!Array.isArray(include)) return [{ path: '/include', message: 'must be a list' }]
  return include.flatMap((name: unknown, index) =>
    INCLUDED.includes(name)
      ? []
      : [{ path: `/include/${index}`, message: `is not supported, got ${JSON.stringify(name)}` }],
  )
}

function findToolProblems(tools: readonly ResponseTool[]): readonly Problem[] {
  return tools.flatMap(({ type, name }, index) => {
    const path = `/tools/${index}`
    if (type !== 'function') {
      const message = `must be "function", got ${JSON.stringify(type)}: the server's own tools belong to its ensembles`
      return [{ path: `${path}/type`, message }]
    }
    return name === undefined ? [{ path: `${path}/name`, message: 'is required' }] : []
  })
}

const VERBOSITIES: readonly unknown[] = ['low', 'medium', 'high']

function findTextProblems({ text }: CreateResponseBody): readonly Problem[] {
  const { format, verbosity } = text ?? {}
  const problems: Problem[] = []
  if (verbosity !== undefined && verbosity !== null && !VERBOSITIES.includes(verbosity)) {
    const message = `must be ${VERBOSITIES.map((one) => JSON.stringify(one)).join(' or ')}`
    problems.push({ path: '/text/verbosity', message })
  }
  if (format === undefined || format.type === 'text' || format.type === 'json_object') {
    return problems
  }
  if (format.type !== 'json_schema') {
    const message = 'must be "text", "json_object" or "json_schema"'
    problems.push({ path: '/text/format/type', message })
  } else if (format.schema === undefined) {
    problems.push({ path: '/text/format/schema', message: 'is required' })
  }
  return problems
}

const PLAIN_TEXT: TextFormatParam = { type: 'text' }

/** Returns the parameters as responses repeat them. */
export function toResponseRequest(body: CreateResponseBody): ResponseRequest {
  return {
    background: body.background === true,
    conversation: toConversationParam(body),
    frequency_penalty: 0,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: null,
    metadata: body.metadata ?? {},
    model: body.model,
    parallel_tool_calls: true,
    presence_penalty: 0,
    prompt_cache_key: body.prompt_cache_key ?? null,
    reasoning: null,
    safety_identifier: body.safety_identifier ?? null,
    service_tier: 'default',
    store: body.store !== false,
    temperature: 1,
    text: { format: body.text?.format ?? PLAIN_TEXT },
    tool_choice: body.tool_choice === 'none' ? 'none' : 'auto',
    tools: (body.tools ?? []).map((tool) => ({
      ...tool,
      description: tool.description ?? null,
      parameters: tool.parameters ?? null,
      strict: tool.strict ?? true,
    })),
    top_logprobs: 0,
    top_p: 1,
    truncation: 'disabled',
    user: body.user ?? null,
  }
}

/** Returns the schema of the answer; undefined for text. */
export function readTextSchema({
  text: { format },
}: Pick<ResponseRequest, 'text'>): Readonly<Record<string, unknown>> | undefined {
  if (format.type === 'json_schema') return format.schema
  return format.type === 'json_object' ? { type: 'object' } : undefined
}

/** Returns the functions that the model may call. */
export function toClientTools({
  tools,
  tool_choice: choice,
}: Pick<ResponseRequest, 'tools' | 'tool_choice'>): readonly ClientToolBody[] {
  if (choice === 'none') return []
  return tools.map(({ name = '', description, parameters }) => ({
    name,
    ...(description === undefined || description === null || description.trim() === ''
      ? {}
      : { description }),
    inputSchema: parameters ?? { type: 'object', properties: {} },
  }))
}

/** Returns the parameters that a request changes of the run that it continues. What it omits is unchanged. */
export function findChanges(asked: ResponseRequest, run: ResponseRequest): readonly string[] {
  const names = [
    'model',
    'conversation',
    'instructions',
    'tools',
    'tool_choice',
    'text',
    'max_output_tokens',
  ] as const
  return names.flatMap((name) => {
    const value = asked[name]
    const isAbsent =
      value === null || value === 'auto' || (Array.isArray(value) && value.length === 0)
    const isText = name === 'text' && asked.text.format.type === 'text'
    if (isAbsent || isText || isDeepStrictEqual(value, run[name])) return []
    return [`/${name}`]
  })
}
