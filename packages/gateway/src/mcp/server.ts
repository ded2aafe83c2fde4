/**
 * MCP server for the shared tools and ensembles: one for each request in the era of 2026-07-28, one for each session
 * before it.
 *
 *   tools/call ─find─▶ listed tool ─scope─▶ tool call or run ─▶ result
 *                                   └───── audit trail ─────┘
 *
 * GW-M1 Listing needs the scope of the endpoint, a tool `tools:invoke`, an ensemble `runs:write`. A caller without the
 *    scope gets a JSON-RPC error.
 * GW-M2 An unknown name is a JSON-RPC error. Every other outcome of a call, including a refusal or a failure, is a
 *    result, which a model can read.
 * GW-M3 Every call is in the audit trail, with the name of the REST action.
 * GW-M4 Headers that the input schema of a tool declares (`x-mcp-header`) must equal the arguments. The SDK compares
 *    them in the era that has them.
 * GW-M5 Invalid parameters are answered with the code for invalid parameters. They are validated here, because the
 *    SDK reports violations of its schemas as internal errors.
 */
import { McpServer, ProtocolError, type ServerContext } from '@modelcontextprotocol/server'
import { Type, type Static, type TSchema } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'
import { decode, type Scope } from '@tutti/protocol'
import { unknownName } from '@tutti/protocol/internal'

import { API_VERSION } from '../gateway-options.ts'
import { auditedCall } from '../service/gateway-call.ts'
import { errorResult } from './answer.ts'
import { callEnsemble } from './call-ensemble.ts'
import { callTool } from './call-tool.ts'
import { hasScope } from '../caller.ts'
import { mcpCallerOf, progressReporter } from './caller.ts'
import { renderPrompt, toPrompts } from './prompts.ts'
import { readCallTrace, toMcpRequest, toMcpCall } from './request.ts'
import { listResources, readResource, RESOURCE_TEMPLATES, type RunReader } from './resources.ts'

import type { GatewayService } from '../service/gateway-service.ts'
import type { ListedTool } from './listed-tools.ts'
import type { RoundStates } from './round-state.ts'
import type {
  CallToolResult,
  ClientCapabilities,
  InputRequiredResult,
} from '@modelcontextprotocol/server'

/** Parts that the servers of all requests and sessions share. */
export interface McpServerParts {
  readonly service: GatewayService
  readonly tools: readonly ListedTool[]
  readonly states: RoundStates
  readonly reader: RunReader
}

/** The client of a server. */
export interface McpServerUse {
  readonly era: 'modern' | 'legacy'
  /** Called when a call begins (1) and ends (-1). */
  readonly onCalls?: (change: 1 | -1) => void
}

/** JSON-RPC code for a missing scope, in the range for server errors. */
const FORBIDDEN = -32_003

const INVALID_PARAMS = -32_602

/** Cache lifetime of lists, in milliseconds. They change only when the process restarts. */
const LIST_TTL_MS = 60_000

const INSTRUCTIONS =
  'The tools of this server are catalog tools, which answer at once, and ensembles: teams of agents whose runs can take minutes and report progress.'

/** Creates a server that is not connected yet. */
export function createMcpServer(parts: McpServerParts, use: McpServerUse): McpServer {
  const { service, tools, reader, states } = parts
  const made = new ListingServer(
    tools,
    { name: 'tutti', title: 'Tutti', version: API_VERSION },
    {
      capabilities: {
        tools: { listChanged: false },
        resources: {},
        prompts: { listChanged: false },
      },
      instructions: INSTRUCTIONS,
      cacheHints: {
        'tools/list': { ttlMs: LIST_TTL_MS, cacheScope: 'private' },
        'prompts/list': { ttlMs: LIST_TTL_MS, cacheScope: 'private' },
        'resources/list': { ttlMs: 0, cacheScope: 'private' },
        'resources/read': { ttlMs: 0, cacheScope: 'private' },
        'resources/templates/list': { ttlMs: LIST_TTL_MS, cacheScope: 'private' },
        'server/discover': { ttlMs: LIST_TTL_MS, cacheScope: 'private' },
      },
      requestState: { verify: (state, context) => states.verify(state, context) },
    },
  )
  const { server } = made
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no other way
  server.onerror = (error) => {
    service.options.logger.debug('Failed to serve an MCP message', { error: errorMessage(error) })
  }
  server.setRequestHandler('tools/list', { params: toParamsSchema(ListParams) }, ({ cursor }) => {
    if (cursor !== undefined) {
      throw new ProtocolError(INVALID_PARAMS, `Unknown cursor "${cursor}": the list has one page`)
    }
    return { tools: tools.map(({ definition }) => definition) }
  })
  server.setRequestHandler('prompts/list', { params: toParamsSchema(ListParams) }, () => ({
    prompts: toPrompts(tools),
  }))
  server.setRequestHandler('prompts/get', { params: toParamsSchema(PromptParams) }, (params) =>
    renderPrompt(tools, params.name, params.arguments),
  )
  server.setRequestHandler('resources/list', { params: toParamsSchema(ListParams) }, ({ cursor }) =>
    listResources(service.options, cursor),
  )
  server.setRequestHandler(
    'resources/templates/list',
    { params: toParamsSchema(ListParams) },
    () => ({
      resourceTemplates: [...RESOURCE_TEMPLATES],
    }),
  )
  server.setRequestHandler(
    'resources/read',
    { params: toParamsSchema(ResourceParams) },
    ({ uri }, context) =>
      readResource(uri, { options: service.options, reader, caller: mcpCallerOf(context) }),
  )
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    use.onCalls?.(1)
    try {
      const hasForms = showsForms(server.getClientCapabilities()?.elicitation)
      const { name, arguments: given = {} } = params
      const call = { ...use, name, given, context, hasForms }
      return await callListed(parts, findListed(tools, name), call)
    } finally {
      use.onCalls?.(-1)
    }
  })
  return made
}

const ListParams = Type.Object({ cursor: Type.Optional(Type.String({ maxLength: 1_000 })) })

const PromptParams = Type.Object({
  name: Type.String(),
  arguments: Type.Optional(Type.Record(Type.String(), Type.String())),
})

const ResourceParams = Type.Object({ uri: Type.String() })

/** A schema in the form that the SDK accepts. @see https://standardschema.dev */
interface ParamsSchema<Value> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (
      given: unknown,
    ) => { readonly value: Value } | { readonly issues: readonly ParamsIssue[] }
    readonly types?: { readonly input: Value; readonly output: Value }
  }
}

interface ParamsIssue {
  readonly message: string
  readonly path: readonly string[]
}

/** Converts a schema of parameters for the SDK (GW-M5). */
function toParamsSchema<Schema extends TSchema>(schema: Schema): ParamsSchema<Static<Schema>> {
  const validate = (given: unknown) => {
    const decoded = decode(schema, given)
    if (decoded.ok) return { value: decoded.value }
    const issues = decoded.problems.map(({ path, message }) => ({
      message,
      path: path.split('/').slice(1),
    }))
    return { issues }
  }
  return { '~standard': { version: 1, vendor: 'tutti', validate } }
}

/** MCP server whose tools are listed without registration, so the SDK reads their input schemas here (GW-M4). */
class ListingServer extends McpServer {
  readonly #tools: readonly ListedTool[]

  constructor(tools: readonly ListedTool[], ...rest: ConstructorParameters<typeof McpServer>) {
    super(...rest)
    this.#tools = tools
  }

  override toolInputSchemaJson(name: string): Record<string, unknown> | undefined {
    return this.#tools.find(({ definition }) => definition.name === name)?.definition.inputSchema
  }
}

/** Whether a client can show forms. An elicitation capability without modes means forms, the original mode. */
function showsForms(elicitation: ClientCapabilities['elicitation']): boolean {
  return elicitation !== undefined && (elicitation.form !== undefined || !('url' in elicitation))
}

function findListed(tools: readonly ListedTool[], name: string): ListedTool {
  const found = tools.find(({ definition }) => definition.name === name)
  if (found !== undefined) return found
  const names = tools.map(({ definition }) => definition.name)
  throw new ProtocolError(INVALID_PARAMS, unknownName('tool', name, names))
}

/** One call of a client. */
interface Call extends Pick<McpServerUse, 'era'> {
  readonly name: string
  readonly given: Readonly<Record<string, unknown>>
  readonly context: ServerContext
  readonly hasForms: boolean
}

async function callListed(
  { service, states }: McpServerParts,
  listed: ListedTool,
  call: Call,
): Promise<CallToolResult | InputRequiredResult> {
  const { name, given, context } = call
  const { options } = service
  const caller = mcpCallerOf(context)
  try {
    if (listed.kind === 'ensemble') {
      return await callEnsemble({ ...call, service, states }, listed.ensemble)
    }
    const action = { name: 'invokeTool', scope: SCOPES.tool } as const
    const request = toMcpCall(name, given, context)
    return await auditedCall(options, caller, { target: name }).perform(action, () =>
      callTool(options, listed.tool, {
        given,
        signal: context.mcpReq.signal,
        trace: readCallTrace(request.meta),
        report: progressReporter(context),
        request: toMcpRequest(request),
      }),
    )
  } catch (error) {
    if (ProtocolError.isInstance(error)) throw error
    const isAllowed = hasScope(caller, SCOPES[listed.kind])
    if (!isAllowed) throw new ProtocolError(FORBIDDEN, errorMessage(error))
    return errorResult(error, options)
  }
}

/** Kind of listed tool → scope of its calls. */
const SCOPES = {
  tool: 'tools:invoke',
  ensemble: 'runs:write',
} as const satisfies Readonly<Record<ListedTool['kind'], Scope>>
