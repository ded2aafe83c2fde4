/** Agents of a server, and requests to them. */
import { USAGE_EXTENSION } from '@tutti/protocol/internal'

import { sharedEnsembles } from '../service/sharing.ts'

import type { Sharing } from '../gateway-options.ts'
import type { GatewayCall } from '../service/gateway-call.ts'
import type { GatewayService } from '../service/gateway-service.ts'
import type { Ensemble } from '@tutti/ensemble'

/** One agent: all shared ensembles together, or one of them alone. */
export interface ServedAgent {
  readonly name: string
  readonly description: string
  /** Path prefix of its routes: empty, or `/agents/{ensemble}`. */
  readonly path: string
  /** Ensembles, which are its skills. A message that names none is for the first. */
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

/** Returns the agent of one shared ensemble; undefined when the name is unknown. */
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
  /** Aborts when the caller disconnects; tasks continue. */
  readonly gone: AbortSignal
}

/** Returns the requested extensions that the agent supports; the header of 0.3 has another name. */
export function activeExtensions(headers: Headers): readonly string[] {
  const asked = headers.get('a2a-extensions') ?? headers.get('x-a2a-extensions') ?? ''
  const names = asked.split(',').map((name) => name.trim())
  return names.includes(USAGE_EXTENSION) ? [USAGE_EXTENSION] : []
}
