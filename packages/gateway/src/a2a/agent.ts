/** Pure: the agents that a server is. */
import { sharedEnsembles } from '../peer/shared.ts'

import type { Sharing } from '../gateway-options.ts'
import type { Ensemble } from '@tutti/ensemble'
import type { RunRecord } from '@tutti/runs'

/** One agent: all shared ensembles together, or one of them alone. */
export interface Agent {
  readonly name: string
  readonly description: string
  /** Where its addresses begin: empty, or `/agents/{ensemble}`. */
  readonly path: string
  /** What it can do; a message that names none is for the first. */
  readonly ensembles: readonly Ensemble[]
}

/** The agent that all shared ensembles are together; undefined when none is shared. */
export function rootAgent(sharing: Sharing): Agent | undefined {
  const ensembles = sharedEnsembles(sharing)
  const [only, ...others] = ensembles
  if (only === undefined) return undefined
  const { name, description } = only
  if (others.length === 0) return { name, description: description || name, path: '', ensembles }
  const names = ensembles.map((ensemble) => ensemble.name)
  return {
    name: 'Tutti',
    description: `Teams of agents, one a skill: ${names.join(', ')}`,
    path: '',
    ensembles,
  }
}

/** The agent that one shared ensemble is alone; undefined when there is none of that name. */
export function ensembleAgent(sharing: Sharing, name: string): Agent | undefined {
  const found = sharedEnsembles(sharing).find((ensemble) => ensemble.name === name)
  if (found === undefined) return undefined
  return {
    name,
    description: found.description || name,
    path: `/agents/${encodeURIComponent(name)}`,
    ensembles: [found],
  }
}

/** Whether a run is a task of the agent, whoever asked for it and over which wire. */
export function isTaskOf({ ensembles }: Agent, { ensemble }: Pick<RunRecord, 'ensemble'>): boolean {
  return ensembles.some(({ name }) => name === ensemble)
}
