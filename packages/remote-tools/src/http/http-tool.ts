/**
 * Tools that are HTTP endpoints. A text tool sends its single string as the query parameter
 * `input` with GET, otherwise as the body. A typed tool builds path, query and body from the fields of its input.
 */
import {
  defineTextTool,
  defineTool,
  ToolResult,
  type AgentTool,
  type ToolContext,
  type ToolDefinition,
  type ToolSettings,
  type Type,
  type TypedTool,
} from '@tutti/core'
import {
  startOfInput,
  isJsonObject,
  DEFAULT_TOOL_TIMEOUT_MS,
  pickOptions,
  suggest,
  TOOL_SETTING_NAMES,
  TYPED_TOOL_NAMES,
  type OptionNames,
  type SourceOf,
  type ToolSchema,
  type ValueOf,
} from '@tutti/core/internal'
import { HttpConnections } from '@tutti/net/internal'

import { callEndpoint, type Endpoint } from './call-endpoint.ts'
import {
  HTTP_OPTION_NAMES,
  resolveHttpOptions,
  type HttpOptions,
  type ResolvedHttpOptions,
} from './options.ts'
import { splitInput, planRequest, planTextRequest, type RequestParts } from './request-parts.ts'

/** Options of an HTTP tool whose input is one string. */
export interface TextHttpToolOptions extends ToolSettings<string>, HttpOptions {
  readonly idempotent?: boolean
  readonly input?: undefined
  readonly output?: undefined
  readonly request?: undefined
}

export interface TypedHttpToolOptions<Input extends ToolSchema, Output extends ToolSchema>
  extends Omit<ToolDefinition<Input, Output>, 'execute'>, HttpOptions {
  readonly idempotent?: boolean
  /**
   * Converts the input to the parts of the request. @default fields with a placeholder in the URL fill it; the others
   * are the query of GET, HEAD, DELETE and OPTIONS, and the JSON body of other methods
   */
  request?(input: ValueOf<Input>): RequestParts
}

const TEXT_NAMES = {
  ...TOOL_SETTING_NAMES,
  ...HTTP_OPTION_NAMES,
  input: true,
  output: true,
  request: true,
} as const satisfies OptionNames<TextHttpToolOptions>

const { execute: _, ...DEFINITION_NAMES } = TYPED_TOOL_NAMES

const TYPED_NAMES = {
  ...DEFINITION_NAMES,
  ...HTTP_OPTION_NAMES,
  request: true,
} as const satisfies OptionNames<TypedHttpToolOptions<ToolSchema, ToolSchema>>

/** A tool that is an HTTP endpoint. */
export interface HttpTool<Input, Output = string>
  extends TypedTool<Input, Output>, AsyncDisposable {
  /** Closes its connections. Calls in flight and later calls fail. Never rejects. */
  close(): Promise<void>
}

/**
 * Creates a tool from an HTTP endpoint, for example `httpTool({ name: 'classify', description: 'Sorts a text',
 * url: 'https://ml.example.com/classify' })`. It opens no connection before the first call.
 *
 * The structured result of a text tool, and of a typed tool without `output`, is {@link HttpResponseFacts}; with
 * `output` it is the value of the JSON response.
 *
 * @throws {TypeError} naming every invalid option.
 */
export function httpTool(options: TextHttpToolOptions): HttpTool<string>
export function httpTool<
  const Input extends ToolSchema,
  const Output extends ToolSchema = Type.TString,
>(options: TypedHttpToolOptions<Input, Output>): HttpTool<ValueOf<Input>, SourceOf<Output>>
export function httpTool(
  options: TextHttpToolOptions | TypedHttpToolOptions<ToolSchema, ToolSchema>,
): HttpTool<unknown, unknown> {
  const isTyped = options.input !== undefined
  const resolved = resolveHttpOptions(options, {
    name: options.name,
    isTyped,
    optionNames: isTyped ? TYPED_NAMES : TEXT_NAMES,
  })
  const connections = new HttpConnections(resolved.guard)
  const tool = httpToolOver(connections, options, resolved)
  const close = (): Promise<void> => connections.close()
  return Object.assign(tool, { close, [Symbol.asyncDispose]: close })
}

/** Creates a text tool that sends its input with GET. */
export function httpGetTool(name: string, description: string, url: string): HttpTool<string> {
  return httpTool({ name, description, url, method: 'GET' })
}

/** Creates a text tool that sends its input with POST. */
export function httpPostTool(name: string, description: string, url: string): HttpTool<string> {
  return httpTool({ name, description, url, method: 'POST' })
}

/** Creates a tool over `connections`, which other tools may share. */
export function httpToolOver(
  connections: HttpConnections,
  options: TextHttpToolOptions | TypedHttpToolOptions<ToolSchema, ToolSchema>,
  resolved: ResolvedHttpOptions,
): TypedTool<unknown, unknown> {
  const { template, method, idempotent, maxResponseBytes } = resolved
  const endpoint: Endpoint = {
    options: resolved,
    connections,
    timeoutMs: options.timeoutMs ?? DEFAULT_TOOL_TIMEOUT_MS,
    maxResponseBytes,
    outputCheck: options.output === undefined ? undefined : (options.outputCheck ?? 'warn'),
  }
  const shared = { idempotent, ...resolveApproval(options, resolved) }
  if (options.input === undefined) {
    return defineTextTool({
      ...pickOptions(options, TOOL_SETTING_NAMES),
      ...shared,
      execute: (input, context) =>
        callEndpoint(endpoint, planTextRequest(template, { method, input }), context),
    })
  }
  const request = options.request ?? ((input) => splitInput(input, { ...template, method }))
  const tool = defineTool({
    // The author's function gets the schema's types.
    exactIntegers: options.request === undefined,
    ...pickOptions(options, DEFINITION_NAMES),
    ...shared,
    execute: (input: unknown, context: ToolContext) => {
      const parts = request(input)
      const plan = planRequest(template, parts, { isStrict: options.request !== undefined })
      if (plan.ok) return callEndpoint(endpoint, plan.request, context)
      return ToolResult.failure(`Invalid input for "${options.name}": ${plan.problems.join('; ')}`)
    },
  })
  if (options.request === undefined) assertPlaceholders(tool, template.placeholders)
  return tool
}

/**
 * Checks that the input has a field for each placeholder of the URL, if its schema lists all fields.
 *
 * @throws {TypeError} naming every placeholder without a field.
 */
function assertPlaceholders(
  { name, inputSchema }: AgentTool,
  placeholders: readonly string[],
): void {
  const { properties, additionalProperties, anyOf, oneOf, allOf, $ref } = inputSchema as Readonly<
    Record<string, unknown>
  >
  if (
    !isJsonObject(properties) ||
    additionalProperties === true ||
    isJsonObject(additionalProperties)
  )
    return
  if ([anyOf, oneOf, allOf, $ref].some((part) => part !== undefined)) return
  const problems = placeholders
    .filter((placeholder) => !Object.hasOwn(properties, placeholder))
    .map((placeholder) => {
      const meant = suggest(placeholder, Object.keys(properties))
      const hint = meant === undefined ? '' : ` (did you mean {${meant}}?)`
      return `url has the placeholder {${placeholder}}, but the input has no such field${hint}`
    })
  if (problems.length === 0) return
  throw new TypeError(`Cannot define HTTP tool ${JSON.stringify(name)}: ${problems.join('; ')}`)
}

/** Returns the approval option; unless it describes calls itself, it shows the request to the reviewer. */
function resolveApproval(
  { requireApproval }: Pick<ToolSettings<never>, 'requireApproval'>,
  resolved: ResolvedHttpOptions,
): Pick<ToolSettings<unknown>, 'requireApproval'> {
  if (requireApproval === undefined || requireApproval === false) return {}
  const describe = (input: unknown): string => describeRequest(resolved, input)
  return { requireApproval: { describe, ...(requireApproval === true ? {} : requireApproval) } }
}

/** Returns the text for a reviewer: method, start of the input, and URL without its query, which may contain a key. */
function describeRequest(
  { method, template }: Pick<ResolvedHttpOptions, 'method' | 'template'>,
  input: unknown,
): string {
  return `HTTP ${method} ${template.shown}\n${method === 'GET' ? 'Input' : 'Body'}: ${startOfInput(input)}`
}
