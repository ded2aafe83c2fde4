/**
 * Tools that are HTTP endpoints. A text tool sends its one string as AgentEnsemble does: as the field
 * `input` of the query of GET, and as the body otherwise. A typed tool makes path, query and body of
 * the fields of its input.
 */
import {
  startOfInput,
  isJsonObject,
  defineTextTool,
  defineTool,
  DEFAULT_TOOL_TIMEOUT_MS,
  pickOptions,
  suggest,
  TOOL_SETTING_NAMES,
  ToolResult,
  TYPED_TOOL_NAMES,
  type AgentTool,
  type OptionNames,
  type SourceOf,
  type ToolContext,
  type ToolDefinition,
  type ToolSchema,
  type ToolSettings,
  type Type,
  type TypedTool,
  type ValueOf,
} from '@tutti/core'
import { HttpConnections } from '@tutti/net'

import { callEndpoint, type Endpoint } from './call-endpoint.ts'
import {
  HTTP_OPTION_NAMES,
  resolveHttpOptions,
  type HttpOptions,
  type ResolvedHttpOptions,
} from './options.ts'
import { partsOfInput, planRequest, planTextRequest, type RequestParts } from './request-parts.ts'

/** What the author of an HTTP tool writes whose whole input is one string. */
export interface TextHttpToolOptions extends ToolSettings<string>, HttpOptions {
  readonly idempotent?: boolean
  readonly input?: undefined
  readonly output?: undefined
  readonly request?: undefined
}

/** What the author of a typed HTTP tool writes. */
export interface TypedHttpToolOptions<Input extends ToolSchema, Output extends ToolSchema>
  extends Omit<ToolDefinition<Input, Output>, 'execute'>, HttpOptions {
  readonly idempotent?: boolean
  /**
   * The parts of the request that the input makes. @default fields that the URL has places for go
   * there; the rest is the query of GET, HEAD, DELETE and OPTIONS, and the JSON body otherwise
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
  /** Ends its connections: calls in flight fail, and so do later ones. Never rejects. */
  close(): Promise<void>
}

/**
 * Makes a tool of an HTTP endpoint, such as `httpTool({ name: 'classify', description: 'Sorts a text',
 * url: 'https://ml.example.com/classify' })`. Nothing is connected before the first call.
 *
 * A text tool, and a typed one without `output`, gives {@link HttpResponseFacts} as its structured
 * result; with `output`, that is the value of the JSON answer.
 *
 * @throws {TypeError} naming everything of the definition that does not fit.
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

/** A text tool that asks with GET. */
export function httpGetTool(name: string, description: string, url: string): HttpTool<string> {
  return httpTool({ name, description, url, method: 'GET' })
}

/** A text tool that sends its input with POST. */
export function httpPostTool(name: string, description: string, url: string): HttpTool<string> {
  return httpTool({ name, description, url, method: 'POST' })
}

/** Makes a tool over connections that others may share. */
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
  const shared = { idempotent, ...approvalOf(options, resolved) }
  if (options.input === undefined) {
    return defineTextTool({
      ...pickOptions(options, TOOL_SETTING_NAMES),
      ...shared,
      execute: (input, context) =>
        callEndpoint(endpoint, planTextRequest(template, { method, input }), context),
    })
  }
  const request = options.request ?? ((input) => partsOfInput(input, { ...template, method }))
  const tool = defineTool({
    ...pickOptions(options, DEFINITION_NAMES),
    ...shared,
    execute: (input: unknown, context: ToolContext) => {
      const parts = request(input)
      const plan = planRequest(template, parts, { isStrict: options.request !== undefined })
      if (plan.ok) return callEndpoint(endpoint, plan.request, context)
      return ToolResult.failure(`Invalid input for "${options.name}": ${plan.problems.join('; ')}`)
    },
  })
  if (options.request === undefined) assertPlaces(tool, template.places)
  return tool
}

/**
 * Checks that the input has a field for each place of the URL, when its schema lists all fields.
 *
 * @throws {TypeError} naming every place without a field.
 */
function assertPlaces({ name, inputSchema }: AgentTool, places: readonly string[]): void {
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
  const problems = places
    .filter((place) => !Object.hasOwn(properties, place))
    .map((place) => {
      const meant = suggest(place, Object.keys(properties))
      const hint = meant === undefined ? '' : ` (did you mean {${meant}}?)`
      return `url has the place {${place}}, and the input has no such field${hint}`
    })
  if (problems.length === 0) return
  throw new TypeError(`Cannot define HTTP tool ${JSON.stringify(name)}: ${problems.join('; ')}`)
}

/** A reviewer is shown the request, unless the tool describes its calls itself. */
function approvalOf(
  { requireApproval }: Pick<ToolSettings<never>, 'requireApproval'>,
  resolved: ResolvedHttpOptions,
): Pick<ToolSettings<unknown>, 'requireApproval'> {
  if (requireApproval === undefined || requireApproval === false) return {}
  const describe = (input: unknown): string => describeRequest(resolved, input)
  return { requireApproval: { describe, ...(requireApproval === true ? {} : requireApproval) } }
}

/** Text for a reviewer: the method, the URL without its query, which may hold a key, and the start of the input. */
function describeRequest(
  { method, template }: Pick<ResolvedHttpOptions, 'method' | 'template'>,
  input: unknown,
): string {
  return `HTTP ${method} ${template.shown}\n${method === 'GET' ? 'Input' : 'Body'}: ${startOfInput(input)}`
}
