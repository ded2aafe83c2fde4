/**
 * One MCP server over what is shared: for one request in the era of 2026-07-28, for one session before it.
 *
 *   tools/call ─find─▶ offer ─scope─▶ tool desk or run ─▶ result          └── audit trail ──┘
 *
 * M1 Listing needs no more than the endpoint; a tool needs `tools:invoke` and an ensemble `runs:write`, and
 *    whoever may not gets a JSON-RPC error.
 * M2 A name that is not offered is a JSON-RPC error; everything that a call itself comes to, a refusal or
 *    a failure too, is a result, which a model can read.
 * M3 Every call is in the audit trail, under the name of the action that it is over REST.
 * M4 Headers that the input schema of a tool declares (`x-mcp-header`) must agree with the arguments; the
 *    library compares them, in the era that has them.
 */
import { McpServer, ProtocolError, type ServerContext } from '@modelcontextprotocol/server'
import { shortList, shortText, suggest, type Scope } from '@tutti/protocol'
import { errorMessage } from '@tutti/core'

import { audited } from '../http/audited.ts'
import { assertScope, type Caller } from '../caller.ts'
import { API_VERSION } from '../gateway-options.ts'
import { callEnsemble, type Act } from './call-ensemble.ts'
import { errorResult } from './call-error.ts'
import { mcpRequest, traceOfMeta } from './call-surroundings.ts'
import { callTool } from './call-tool.ts'
import { callerOf } from './mcp-caller.ts'
import { promptOf, promptsOf } from './mcp-prompts.ts'
import { listResources, readResource, RESOURCE_TEMPLATES, type RunReader } from './mcp-resources.ts'
import { tellerOf } from './teller-of.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import type { Offer } from './offers.ts'
import type { RoundStates } from './round-state.ts'
import type {
  CallToolResult,
  ClientCapabilities,
  InputRequiredResult,
} from '@modelcontextprotocol/server'

/** What the servers of all requests and sessions share. */
export interface McpDesk {
  readonly options: GatewayOptions
  readonly offers: readonly Offer[]
  readonly states: RoundStates
  readonly reader: RunReader
}

/** For whom a server is made. */
export interface McpServerUse {
  readonly era: 'modern' | 'legacy'
  /** Told when a call begins (1) and ends (-1). */
  readonly onCalls?: (change: 1 | -1) => void
}

/** What a caller lacks who gets this code: in the range that is left to servers. */
const FORBIDDEN = -32_003

const INVALID_PARAMS = -32_602

/** How long clients may keep the list, in milliseconds: it changes only with the process. */
const LIST_TTL_MS = 60_000

const INSTRUCTIONS =
  'Tools of this server are tools of its catalog, which answer at once, and ensembles: teams of agents whose runs can take minutes and report progress.'

/** Makes a server; it is connected by whoever serves it. */
export function mcpServer(desk: McpDesk, use: McpServerUse): McpServer {
  const { options, offers, reader, states } = desk
  const made = new OfferServer(
    offers,
    { name: 'tutti', title: 'Tutti', version: API_VERSION },
    {
      // What is offered changes only with the process.
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
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the library has no other way
  server.onerror = (error) => {
    options.logger.debug('An MCP message could not be served', { error: errorMessage(error) })
  }
  server.setRequestHandler('tools/list', ({ params }) => {
    if (params?.cursor !== undefined) {
      throw new ProtocolError(
        INVALID_PARAMS,
        `Unknown cursor "${params.cursor}": the list is whole`,
      )
    }
    return { tools: offers.map(({ definition }) => definition) }
  })
  server.setRequestHandler('prompts/list', () => ({ prompts: promptsOf(offers) }))
  server.setRequestHandler('prompts/get', ({ params }) =>
    promptOf(offers, params.name, params.arguments),
  )
  server.setRequestHandler('resources/list', ({ params }) => listResources(reader, params?.cursor))
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [...RESOURCE_TEMPLATES],
  }))
  server.setRequestHandler('resources/read', ({ params }) => readResource(reader, params.uri))
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    use.onCalls?.(1)
    try {
      const hasForms = showsForms(server.getClientCapabilities()?.elicitation)
      const { name, arguments: given = {} } = params
      return await callOffer(desk, offerOf(offers, name), {
        ...use,
        name,
        given,
        context,
        hasForms,
      })
    } finally {
      use.onCalls?.(-1)
    }
  })
  return made
}

/** M4 Tools are offered without being registered, so the library asks here for their input schemas. */
class OfferServer extends McpServer {
  readonly #offers: readonly Offer[]

  constructor(offers: readonly Offer[], ...rest: ConstructorParameters<typeof McpServer>) {
    super(...rest)
    this.#offers = offers
  }

  override toolInputSchemaJson(name: string): Record<string, unknown> | undefined {
    return this.#offers.find(({ definition }) => definition.name === name)?.definition.inputSchema
  }
}

/** A client that says nothing more of its elicitation shows forms: they came first. */
function showsForms(elicitation: ClientCapabilities['elicitation']): boolean {
  return elicitation !== undefined && (elicitation.form !== undefined || !('url' in elicitation))
}

function offerOf(offers: readonly Offer[], name: string): Offer {
  const found = offers.find(({ definition }) => definition.name === name)
  if (found !== undefined) return found
  const names = offers.map(({ definition }) => definition.name)
  const near = suggest(name, names)
  const hint = near === undefined ? '' : ` Did you mean '${near}'?`
  throw new ProtocolError(
    INVALID_PARAMS,
    `Unknown tool '${shortText(name)}'. Available: [${shortList(names)}]${hint}`,
  )
}

/** One call as it came. */
interface Call extends Pick<McpServerUse, 'era'> {
  readonly name: string
  readonly given: Readonly<Record<string, unknown>>
  readonly context: ServerContext
  readonly hasForms: boolean
}

async function callOffer(
  { options, states }: McpDesk,
  offer: Offer,
  call: Call,
): Promise<CallToolResult | InputRequiredResult> {
  const { name, given, context } = call
  const caller = callerOf(context)
  const [action, scope] = ACTIONS[offer.kind]
  const refusal = refusalOf(caller, scope)
  const { trail, clock } = options
  /** Does what the call is about, and has the trail tell of it. */
  const act: Act = (work) => {
    const asked = { caller, action, via: 'http', target: name } as const
    return audited(asked, { trail, now: clock.now() }, (tell) => {
      if (refusal !== undefined) throw refusal
      return work(tell)
    })
  }
  try {
    return offer.kind === 'tool'
      ? await act(() =>
          callTool(options, offer.tool, {
            given,
            signal: context.mcpReq.signal,
            trace: traceOfMeta(context.mcpReq._meta),
            tell: tellerOf(context),
            request: mcpRequest(name, given, context),
          }),
        )
      : await callEnsemble({ ...call, options, states, act }, offer.ensemble)
  } catch (error) {
    if (ProtocolError.isInstance(error)) throw error
    if (refusal !== undefined && error === refusal) {
      throw new ProtocolError(FORBIDDEN, refusal.message)
    }
    return errorResult(error, options)
  }
}

/** What a call is over REST, and what it needs. */
const ACTIONS: Readonly<Record<Offer['kind'], readonly [action: string, scope: Scope]>> = {
  tool: ['invokeTool', 'tools:invoke'],
  ensemble: ['submitRun', 'runs:write'],
}

function refusalOf(caller: Caller, scope: Scope): Error | undefined {
  try {
    assertScope(caller, scope)
    return undefined
  } catch (error) {
    // NOTE: `assertScope` throws nothing else.
    return error as Error
  }
}
