/**
 * The operations of an OpenAPI document as tools: a typed tool for each, over connections that they
 * share.
 *
 *   operation ─parameters, body─▶ input schema      input ─styles, auth─▶ request ─▶ ToolResult
 *
 * What cannot become a tool is in a list beside the tools, with the reason; nothing is dropped in
 * silence.
 */
import {
  defineTool,
  DEFAULT_TOOL_TIMEOUT_MS,
  errorMessage,
  findChoiceProblems,
  findUnknownOptions,
  ToolResult,
  type AgentTool,
  type ToolContext,
} from '@tutti/core'
import { HttpConnections, networkGuard, type NetworkGuard } from '@tutti/net'

import { callEndpoint, type Endpoint } from '../http/call-endpoint.ts'
import { isIdempotent } from '../http/retries.ts'
import { resolveHttpOptions, type HttpOptions } from '../http/options.ts'
import { ToolNames } from '../http/tool-names.ts'
import { OpenApiReader, asObject } from './document.ts'
import { answerSchema, descriptionOf, operationsOf, type FoundOperation } from './operations.ts'
import { operationInput } from './operation-input.ts'
import { operationRequest, shownInput } from './operation-request.ts'
import {
  isChosen,
  OPEN_API_OPTION_NAMES,
  type OpenApiOperation,
  type OpenApiToolsOptions,
} from './options.ts'
import { parametersOf } from './parameters.ts'
import { requestBodyOf } from './request-body.ts'
import { Schemas } from './schemas.ts'
import {
  authProblems,
  credentialsFor,
  schemesOf,
  securityOf,
  type SecurityContext,
} from './security.ts'
import { serverUrl } from './servers.ts'

/** An operation that is no tool, and why. */
export interface SkippedOperation {
  /** Its `operationId`, or `METHOD /path` when it has none. */
  readonly operation: string
  readonly reason: string
}

/** The tools of a document, and the connections that they share. */
export interface OpenApiTools extends AsyncDisposable {
  /** The tools, in the order of the document. */
  readonly tools: readonly AgentTool[]
  /** Operations that are not among them though they were asked for. */
  readonly skipped: readonly SkippedOperation[]
  /** Ends the connections: calls in flight fail, and so do later ones. Never rejects. */
  close(): Promise<void>
}

/**
 * Makes a tool of each operation of an OpenAPI document of version 3.0 or 3.1, given as a parsed JSON
 * object. References are followed within the document.
 *
 * @throws {TypeError} when it is no such document, or naming every option that does not fit.
 */
export function openApiTools(document: unknown, options: OpenApiToolsOptions = {}): OpenApiTools {
  const source = new OpenApiReader(document)
  const schemes = schemesOf(source)
  assertOptions(options, { schemes, auth: options.auth ?? {} })
  const { located, skipped } = locate(source, options)
  const guard = guardOf(options, [...new Set(located.map(({ server }) => new URL(server).host))])
  const connections = new HttpConnections(guard)
  const factory = new ToolFactory(source, { options, schemes, connections, guard })
  const tools = located.flatMap((one) => {
    try {
      return [factory.toolOf(one)]
    } catch (error) {
      skipped.push({ operation: one.found.id, reason: errorMessage(error) })
      return []
    }
  })
  const close = (): Promise<void> => connections.close()
  return { tools, skipped, close, [Symbol.asyncDispose]: close }
}

function assertOptions(
  options: OpenApiToolsOptions,
  { schemes, auth }: Pick<SecurityContext, 'schemes' | 'auth'>,
): void {
  const { approve, baseUrl } = options
  const problems = [
    ...findUnknownOptions(options, OPEN_API_OPTION_NAMES),
    ...(typeof approve === 'function'
      ? []
      : findChoiceProblems('approve', approve, ['all', 'writes', 'none'])),
    ...authProblems(auth, schemes),
  ]
  const url = baseUrl === undefined ? undefined : URL.parse(String(baseUrl))
  if (url === null || (url !== undefined && !/^https?:$/.test(url.protocol))) {
    problems.push('baseUrl must be an http or https URL')
  }
  if (problems.length > 0) {
    throw new TypeError(`Cannot import an OpenAPI document: ${problems.join('; ')}`)
  }
}

interface Located {
  readonly found: FoundOperation
  readonly server: string
}

/** The operations that were asked for, with the server of each. */
function locate(source: OpenApiReader, options: OpenApiToolsOptions) {
  const { include, exclude, deprecated = false } = options
  const baseUrl = options.baseUrl === undefined ? undefined : String(options.baseUrl)
  const located: Located[] = []
  const skipped: SkippedOperation[] = []
  for (const found of operationsOf(source)) {
    if (include !== undefined && !isChosen(include, found)) continue
    if (exclude !== undefined && isChosen(exclude, found)) continue
    if (found.deprecated && !deprecated) {
      skipped.push({ operation: found.id, reason: 'it is deprecated' })
      continue
    }
    try {
      located.push({ found, server: serverUrl({ ...found, root: source.root }, baseUrl) })
    } catch (error) {
      skipped.push({ operation: found.id, reason: errorMessage(error) })
    }
  }
  return { located, skipped }
}

/** The guard that was given, or one that trusts the document's own servers and no others. */
function guardOf({ guard }: OpenApiToolsOptions, hosts: readonly string[]): NetworkGuard {
  if (guard !== undefined) return 'assertUrl' in guard ? guard : networkGuard(guard)
  return networkGuard({ allow: hosts })
}

interface FactoryParts {
  readonly options: OpenApiToolsOptions
  readonly schemes: SecurityContext['schemes']
  readonly connections: HttpConnections
  readonly guard: NetworkGuard
}

class ToolFactory {
  readonly #source: OpenApiReader
  readonly #schemas: Schemas
  readonly #names = new ToolNames()
  readonly #parts: FactoryParts

  constructor(source: OpenApiReader, parts: FactoryParts) {
    this.#source = source
    this.#schemas = new Schemas(source)
    this.#parts = parts
  }

  toolOf({ found, server }: Located): AgentTool {
    const { operation, pathItem, method, path } = found
    const { options, schemes } = this.#parts
    const input = operationInput(
      this.#source,
      {
        parameters: parametersOf(this.#source, { pathItem, operation }),
        body:
          method === 'GET' || method === 'HEAD'
            ? undefined
            : requestBodyOf(this.#source, operation),
      },
      this.#schemas,
    )
    const answer = answerSchema(this.#source, operation)
    const name = this.#names.take(`${options.prefix ?? ''}${nameOf(found, options)}`)
    const output = answer === undefined ? undefined : this.#schemas.standalone(answer, 'output')
    const endpoint = this.#endpoint({ name, server, method, hasOutput: output !== undefined })
    const security = securityOf(this.#source, operation)
    const auth: SecurityContext = { toolName: name, schemes, auth: options.auth ?? {} }
    return defineTool({
      name,
      description: descriptionOf(found),
      input: input.schema,
      ...(output === undefined ? {} : { output }),
      ...settingsOf(options),
      idempotent: endpoint.options.idempotent,
      requireApproval: needsApproval(found, options.approve) && {
        describe: (value: unknown) =>
          `HTTP ${method} ${server}${path}\nInput: ${shownInput(value)}`,
      },
      execute: async (value: unknown, context: ToolContext) => {
        const credentials = await credentialsFor(security, auth)
        const plan = operationRequest({ server, path, input }, asObject(value), credentials)
        if (plan.ok) return callEndpoint(endpoint, plan.request, context)
        return ToolResult.failure(`Invalid input for "${name}": ${plan.problems.join('; ')}`)
      },
    })
  }

  #endpoint({ name, server, method, hasOutput }: EndpointFacts): Endpoint {
    const { options, guard, connections } = this.#parts
    const { retries, timeoutMs = DEFAULT_TOOL_TIMEOUT_MS, outputCheck = 'warn' } = options
    const http: HttpOptions = { ...httpOptionsOf(options), url: server, method, guard }
    const resolved = resolveHttpOptions(
      retries !== undefined && isIdempotent(method) ? { ...http, retries } : http,
      { name, isTyped: false },
    )
    const { maxResponseBytes } = resolved
    return {
      options: resolved,
      connections,
      timeoutMs,
      maxResponseBytes,
      outputCheck: hasOutput ? outputCheck : undefined,
    }
  }
}

interface EndpointFacts {
  readonly name: string
  readonly server: string
  readonly method: string
  readonly hasOutput: boolean
}

function nameOf(found: FoundOperation, { rename }: OpenApiToolsOptions): string {
  const { operation, method, path } = found
  const own =
    typeof operation['operationId'] === 'string' ? found.id : `${method.toLowerCase()} ${path}`
  return rename?.(found) ?? own
}

function needsApproval(
  operation: OpenApiOperation,
  approve: OpenApiToolsOptions['approve'] = 'none',
): boolean {
  if (typeof approve === 'function') return approve(operation)
  const writes = !['GET', 'HEAD', 'OPTIONS'].includes(operation.method)
  return approve === 'all' || (approve === 'writes' && writes)
}

function settingsOf({ timeoutMs, limiter, outputCheck }: OpenApiToolsOptions) {
  return {
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(limiter === undefined ? {} : { limiter }),
    ...(outputCheck === undefined ? {} : { outputCheck }),
  }
}

function httpOptionsOf(options: OpenApiToolsOptions): Omit<HttpOptions, 'url'> {
  const { headers, maxResponseBytes, redirects, idempotencyKeyHeader, clock } = options
  return {
    ...(headers === undefined ? {} : { headers }),
    ...(maxResponseBytes === undefined ? {} : { maxResponseBytes }),
    ...(redirects === undefined ? {} : { redirects }),
    ...(idempotencyKeyHeader === undefined ? {} : { idempotencyKeyHeader }),
    ...(clock === undefined ? {} : { clock }),
  }
}
