/**
 * Imports the operations of an OpenAPI document as typed tools, which share their connections.
 *
 *   operation ─parameters, body─▶ input schema      input ─styles, auth─▶ request ─▶ ToolResult
 *
 * Operations that cannot become a tool are listed with the reason.
 */
import { defineTool, ToolResult, type AgentTool, type ToolContext } from '@tutti/core'
import {
  DEFAULT_TOOL_TIMEOUT_MS,
  errorMessage,
  findChoiceProblems,
  findOptionProblems,
} from '@tutti/core/internal'
import {
  findHeaderProblems,
  HttpConnections,
  networkGuard,
  type NetworkGuard,
} from '@tutti/net/internal'

import { callEndpoint, type Endpoint } from '../http/call-endpoint.ts'
import { isIdempotent } from '../http/retries.ts'
import { findLimitProblems, resolveHttpOptions, type HttpOptions } from '../http/options.ts'
import { ToolNames } from '../http/tool-names.ts'
import { adaptForeignSchema } from '../schema/foreign-schema.ts'
import { OpenApiReader, asObject } from './document.ts'
import {
  findResponseSchema,
  describeOperation,
  findOperations,
  type FoundOperation,
} from './operations.ts'
import { buildOperationInput } from './operation-input.ts'
import { buildOperationRequest, formatInput, splitQuery } from './operation-request.ts'
import {
  isChosen,
  OPEN_API_OPTION_NAMES,
  type OpenApiOperation,
  type OpenApiToolsOptions,
} from './options.ts'
import { findUndeclared, readParameters } from './parameters.ts'
import { readRequestBody } from './request-body.ts'
import { Schemas } from './schemas.ts'
import {
  findAuthProblems,
  createCredentials,
  readSchemes,
  readSecurity,
  type SecurityContext,
} from './security.ts'
import { resolveServerUrl } from './servers.ts'

/** An operation that was not imported. */
export interface SkippedOperation {
  /** Its `operationId`, or `METHOD /path` when it has none. */
  readonly operation: string
  readonly reason: string
}

/** The tools of a document, and the connections that they share. */
export interface OpenApiTools extends AsyncDisposable {
  /** The tools, in the order of the document. */
  readonly tools: readonly AgentTool[]
  /** Chosen operations that were not imported, with the reasons. */
  readonly skipped: readonly SkippedOperation[]
  /** Changes that make operations usable, each with the name of its tool. */
  readonly warnings: readonly string[]
  /** Closes the connections. Calls in flight and later calls fail. Never rejects. */
  close(): Promise<void>
}

/**
 * Creates a tool for each operation of a parsed OpenAPI document, version 3.0 or 3.1.
 * References are followed within the document only.
 *
 * @throws {TypeError} when it is not such a document, or naming every invalid option.
 */
export function openApiTools(document: unknown, options: OpenApiToolsOptions = {}): OpenApiTools {
  const source = new OpenApiReader(document)
  const schemes = readSchemes(source)
  assertOptions(options, { schemes, auth: options.auth ?? {} })
  const { located, skipped } = locate(source, options)
  const guard = resolveGuard(options, [
    ...new Set(located.map(({ server }) => new URL(server).host)),
  ])
  const connections = new HttpConnections(guard)
  const factory = new ToolFactory(source, { options, schemes, connections, guard })
  const tools = located.flatMap((one) => {
    try {
      return [factory.create(one)]
    } catch (error) {
      skipped.push({ operation: one.found.id, reason: errorMessage(error) })
      return []
    }
  })
  const close = (): Promise<void> => connections.close()
  return { tools, skipped, warnings: factory.warnings, close, [Symbol.asyncDispose]: close }
}

function assertOptions(
  options: OpenApiToolsOptions,
  { schemes, auth }: Pick<SecurityContext, 'schemes' | 'auth'>,
): void {
  const { approve, baseUrl, headers = {} } = options
  const problems = [
    ...findOptionProblems(options, OPEN_API_OPTION_NAMES),
    ...(typeof approve === 'function'
      ? []
      : findChoiceProblems('approve', approve, ['all', 'writes', 'none'])),
    ...findAuthProblems(auth, schemes),
    ...(typeof headers === 'function' ? [] : findHeaderProblems(headers)),
    ...findLimitProblems(options),
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

/** Returns the chosen operations with their servers. */
function locate(source: OpenApiReader, options: OpenApiToolsOptions) {
  const { include, exclude, deprecated = false } = options
  const baseUrl = options.baseUrl === undefined ? undefined : String(options.baseUrl)
  const located: Located[] = []
  const skipped: SkippedOperation[] = []
  for (const found of findOperations(source)) {
    if (include !== undefined && !isChosen(include, found)) continue
    if (exclude !== undefined && isChosen(exclude, found)) continue
    if (found.deprecated && !deprecated) {
      skipped.push({ operation: found.id, reason: 'it is deprecated' })
      continue
    }
    try {
      located.push({ found, server: resolveServerUrl({ ...found, root: source.root }, baseUrl) })
    } catch (error) {
      skipped.push({ operation: found.id, reason: errorMessage(error) })
    }
  }
  return { located, skipped }
}

/** Returns the guard of the options, or one that trusts only the servers of the document. */
function resolveGuard({ guard }: OpenApiToolsOptions, hosts: readonly string[]): NetworkGuard {
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
  readonly warnings: string[] = []
  readonly #parts: FactoryParts

  constructor(source: OpenApiReader, parts: FactoryParts) {
    this.#source = source
    this.#schemas = new Schemas(source)
    this.#parts = parts
  }

  create({ found, server }: Located): AgentTool {
    const { operation, pathItem, method, path } = found
    const { options, schemes } = this.#parts
    const declared = readParameters(this.#source, { pathItem, operation })
    const undeclared = findUndeclared(path, declared)
    const built = buildOperationInput(
      this.#source,
      {
        parameters: [...declared, ...undeclared],
        body:
          method === 'GET' || method === 'HEAD'
            ? undefined
            : readRequestBody(this.#source, operation),
      },
      this.#schemas,
    )
    const response = findResponseSchema(this.#source, operation)
    const adapted = adaptForeignSchema(built.schema)
    const name = this.#names.take(`${options.prefix ?? ''}${chooseName(found, options)}`)
    const answer =
      response === undefined
        ? undefined
        : adaptForeignSchema(this.#schemas.standalone(response, 'output'))
    this.warnings.push(
      ...undeclared.map(
        (parameter) => `${name}: path parameter "${parameter.name}" is not declared; it is text`,
      ),
      ...adapted.warnings.map((warning) => `${name}: input${warning}`),
      ...(answer?.warnings ?? []).map((warning) => `${name}: output${warning}`),
    )
    const endpoint = this.#endpoint({ name, server, method, hasOutput: answer !== undefined })
    const security = readSecurity(this.#source, operation)
    const auth: SecurityContext = { toolName: name, schemes, auth: options.auth ?? {} }
    return defineTool({
      name,
      description: describeOperation(found),
      input: adapted.schema,
      exactIntegers: true,
      ...(answer === undefined ? {} : { output: answer.schema }),
      ...pickSettings(options),
      idempotent: endpoint.options.idempotent,
      requireApproval: needsApproval(found, options.approve) && {
        describe: (value: unknown) =>
          `HTTP ${method} ${splitQuery(server)[0]}${path}\nInput: ${formatInput(value)}`,
      },
      execute: async (value: unknown, context: ToolContext) => {
        const credentials = await createCredentials(security, auth)
        const plan = buildOperationRequest(
          { server, path, input: built },
          asObject(value),
          credentials,
        )
        if (plan.ok) return callEndpoint(endpoint, plan.request, context)
        return ToolResult.failure(`Invalid input for "${name}": ${plan.problems.join('; ')}`)
      },
    })
  }

  #endpoint({ name, server, method, hasOutput }: EndpointFacts): Endpoint {
    const { options, guard, connections } = this.#parts
    const { retries, timeoutMs = DEFAULT_TOOL_TIMEOUT_MS, outputCheck = 'warn' } = options
    const http: HttpOptions = { ...pickHttpOptions(options), url: server, method, guard }
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

function chooseName(found: FoundOperation, { rename }: OpenApiToolsOptions): string {
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

function pickSettings({ timeoutMs, limiter, outputCheck }: OpenApiToolsOptions) {
  return {
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(limiter === undefined ? {} : { limiter }),
    ...(outputCheck === undefined ? {} : { outputCheck }),
  }
}

function pickHttpOptions(options: OpenApiToolsOptions): Omit<HttpOptions, 'url'> {
  const { headers, maxResponseBytes, redirects, idempotencyKeyHeader, clock } = options
  return {
    ...(headers === undefined ? {} : { headers }),
    ...(maxResponseBytes === undefined ? {} : { maxResponseBytes }),
    ...(redirects === undefined ? {} : { redirects }),
    ...(idempotencyKeyHeader === undefined ? {} : { idempotencyKeyHeader }),
    ...(clock === undefined ? {} : { clock }),
  }
}
