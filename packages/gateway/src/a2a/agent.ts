/** The agents of a server, and requests to them. */
import { USAGE_EXTENSION } from '@tutti/protocol'

import { sharedEnsembles } from '../service/sharing.ts'

import type { Sharing } from '../gateway-options.ts'
import type { GatewayCall } from '../service/gateway-call.ts'
import type { GatewayService } from '../service/gateway-service.ts'
import type { Ensemble } from '@tutti/ensemble'

/** One agent: all shared ensembles together, or one of them alone. */
export interface ServedAgent {
  readonly name: string
  readonly description: string
  /** Path of its addresses: empty, or `/agents/{ensemble}`. */
  readonly path: string
  /** Its skills; a message that names none is for the first. */
  readonly ensembles: readonly Ensemble[]
}

/** Returns the agent of all shared ensembles; undefined when none is shared. */
export function rootAgent(sharing: Sharing): ServedAgent | undefined {
  const ensembles = sharedEnsembles(sharing)
  const [only, ...others] = ensembles
  if (only === undefined) return undefined
  const { name, description } = only
  if (others.length === 0) return { name, description: description || name, path: '', ensembles }
  const names = ensembles.map((ensemble) => ensemble.name)
  return {
    name: 'Tutti',
    description: `Teams of agents, one per skill: ${names.join(', ')}`,
    path: '',
    ensembles,
  }
}

/** Returns the agent of one shared ensemble; undefined when there is none of that name. */
export function ensembleAgent(sharing: Sharing, name: string): ServedAgent | undefined {
  const found = sharedEnsembles(sharing).find((ensemble) => ensemble.name === name)
  if (found === undefined) return undefined
  return {
    name,
    description: found.description || name,
    path: `/agents/${encodeURIComponent(name)}`,
    ensembles: [found],
  }
}

/** One request to an agent. */
export interface A2aCall {
  readonly service: GatewayService
  readonly call: GatewayCall
  readonly agent: ServedAgent
  /** Headers of the request. */
  readonly headers: Headers
  /** Aborts when the caller is gone; tasks continue. */
  readonly gone: AbortSignal
}

/** Returns the extensions that the headers ask for and the agent has; 0.3 has another name for the header. */
export function activeExtensions(headers: Headers): readonly string[] {
  const asked = headers.get('a2a-extensions') ?? headers.get('x-a2a-extensions') ?? ''
  const names = asked.split(',').map((name) => name.trim())
  return names.includes(USAGE_EXTENSION) ? [USAGE_EXTENSION] : []
}
