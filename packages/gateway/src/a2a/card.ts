/**
 * Cards for the discovery of agents. They are public: they state how to call the agent, and with which kind of key.
 *
 * Callers of version 1.x get a card with the fields of 1.0 only, because its JSON schema is closed. All others get a
 * card that readers of 0.3 and 1.0 can use: clients of 0.3 send no version, and an absent version means 0.3.
 */
import { createHash } from 'node:crypto'

import type { Ensemble } from '@tutti/ensemble'
import { inputVariables, namedInputs } from '@tutti/ensemble/internal'
import { USAGE_EXTENSION } from '@tutti/protocol/internal'

import { API_VERSION, type GatewayOptions } from '../gateway-options.ts'
import { MESSAGE_MEDIA_TYPES } from './message.ts'

import type { ServedAgent } from './agent.ts'

export interface CardParts {
  readonly agent: ServedAgent
  /** URL of the server, without a trailing slash. */
  readonly base: string
  /** Whether callers need a key. */
  readonly isSecured: boolean
}

type Json = Readonly<Record<string, unknown>>

/** Returns the card with the fields of 1.0 only. */
export function agentCard({ agent, base, isSecured }: CardParts): Json {
  const rpc = `${base}${agent.path}/a2a`
  return {
    name: agent.name,
    description: agent.description,
    supportedInterfaces: [
      { url: rpc, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: `${rpc}/v1`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url: rpc, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ],
    version: API_VERSION,
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extensions: [{ uri: USAGE_EXTENSION, description: USAGE_DESCRIPTION, required: false }],
    },
    ...(isSecured
      ? {
          securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
          securityRequirements: [{ schemes: { bearer: { list: [] } } }],
        }
      : {}),
    defaultInputModes: [...MESSAGE_MEDIA_TYPES],
    defaultOutputModes: [...MESSAGE_MEDIA_TYPES],
    skills: toSkills(agent),
  }
}

/**
 * Description of the usage extension. It must not contain `token`, which scanners of cards mistake for a credential.
 */
const USAGE_DESCRIPTION =
  'Reports the usage of a task in metadata: total_cost_usd, and cost_usd since the previous update. A request can ' +
  'set max_cost_usd there as the budget of its task, and deadline_ms, after which the task is cancelled.'

/** Returns the card with the fields of 0.3 and 1.0. */
export function hybridCard(parts: CardParts): Json {
  const { supportedInterfaces, capabilities, securitySchemes: _, ...card } = agentCard(parts)
  const rpc = `${parts.base}${parts.agent.path}/a2a`
  return {
    ...card,
    supportedInterfaces,
    capabilities,
    protocolVersion: '0.3.0',
    url: rpc,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [{ url: rpc, transport: 'JSONRPC' }],
    supportsAuthenticatedExtendedCard: false,
    ...(parts.isSecured
      ? {
          securitySchemes: {
            bearer: {
              type: 'http',
              scheme: 'bearer',
              httpAuthSecurityScheme: { scheme: 'Bearer' },
            },
          },
          security: [{ bearer: [] }],
        }
      : {}),
  }
}

function toSkills({ ensembles }: ServedAgent): readonly Json[] {
  const isOne = ensembles.length === 1
  return ensembles.map((ensemble) => {
    const { name, description, plan } = ensemble
    const choose = isOne ? '' : ` Select it with metadata {"ensemble": ${JSON.stringify(name)}}.`
    return {
      id: name,
      name,
      description: `${description || name}. ${describeInput(ensemble)}${choose}`.replace(
        '.. ',
        '. ',
      ),
      tags: ['ensemble', plan.workflow.toLowerCase()],
    }
  })
}

/** Describes the input of an ensemble. */
function describeInput(ensemble: Pick<Ensemble, 'tasks' | 'inputs'>): string {
  const variables = inputVariables(ensemble.tasks)
  const optional = namedInputs(ensemble).slice(variables.length)
  const more =
    optional.length === 0 ? '' : ` Optional fields of a data part: ${optional.join(', ')}.`
  const [only, ...others] = variables
  if (only === undefined) return `No input: any message starts it.${more}`
  if (others.length === 0) return `Input: text for the variable "${only}".${more}`
  return `Input: a data part, an object of strings with the fields ${variables.join(', ')}.${more}`
}

/** Cache lifetime of a card, in seconds. A card changes only when the server restarts. */
const MAX_AGE_S = 300

/** Answers with the card of an agent, in the version that the request asks for. */
export function answerCard(
  request: Request,
  agent: ServedAgent,
  { publicUrl, apiKeys }: Pick<GatewayOptions, 'publicUrl' | 'apiKeys'>,
): Response {
  const { origin } = new URL(request.url)
  const base = (publicUrl ?? origin).replace(/\/+$/, '')
  const parts = { agent, base, isSecured: apiKeys.length > 0 }
  const version = request.headers.get('a2a-version')?.trim() ?? ''
  const isModern = version !== '' && !version.startsWith('0.')
  const body = JSON.stringify(isModern ? agentCard(parts) : hybridCard(parts))
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  const headers = {
    etag,
    'cache-control': `public, max-age=${MAX_AGE_S}`,
    vary: 'Origin, A2A-Version',
  }
  if (isCached(etag, request.headers.get('if-none-match'))) {
    return new Response(null, { status: 304, headers })
  }
  return new Response(body, { headers: { ...headers, 'content-type': 'application/json' } })
}

function isCached(etag: string, header: string | null): boolean {
  const named = (header ?? '').split(',').map((part) => part.trim().replace(/^W\//, ''))
  return named.includes(etag) || named.includes('*')
}
