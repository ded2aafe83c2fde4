import { defineTextTool, toolCatalog } from '@tutti/core'
import { ensemble, modelCatalog, task, type Ensemble } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import {
  assertShared,
  findShared,
  sharedCapabilities,
  sharedEnsembles,
  sharedModels,
  sharedTools,
} from './sharing.ts'

import type { Sharing } from '../gateway-options.ts'

const model = scriptedModel([])

const band = make('band')
const choir = make('choir')

const tools = ['shout', 'whisper'].map((name) =>
  defineTextTool({ name, description: `To ${name}`, execute: (text) => text }),
)

function make(name: string): Ensemble {
  const tasks = [task({ description: 'Play' })]
  return ensemble({ name, tasks, model, description: `The ${name}` })
}

function sharing(shared?: Sharing['shared']): Sharing {
  return {
    // NOTE: the subject reads only the ensembles.
    runs: { ensembles: [band, choir] } as unknown as Sharing['runs'],
    tools: toolCatalog(tools),
    models: modelCatalog({ fast: model, deep: model }),
    shared,
  }
}

const namesOf = (given: Sharing): unknown => ({
  ensembles: sharedEnsembles(given).map(({ name }) => name),
  tools: sharedTools(given).map(({ name }) => name),
  models: [...sharedModels(given).keys()],
})

describe('a server', () => {
  it('A server shares everything unless names are listed', () => {
    expect(namesOf(sharing())).toEqual({
      ensembles: ['band', 'choir'],
      tools: ['shout', 'whisper'],
      models: ['fast', 'deep'],
    })
  })

  it('A server shares only the listed names, and nothing for an empty list', () => {
    const listed = { ensembles: ['choir'], tools: ['shout'], models: ['deep'] }
    expect(namesOf(sharing(listed))).toEqual(listed)
    const none = { ensembles: [], tools: [], models: [] }
    expect(namesOf(sharing(none))).toEqual(none)
  })

  it('A server describes what it shares with its tags', () => {
    const tags = { choir: ['voice'] }
    expect(sharedCapabilities(sharing({ ensembles: ['choir'], tools: ['shout'], tags }))).toEqual([
      { name: 'choir', description: 'The choir', type: 'TASK', tags: ['voice'] },
      { name: 'shout', description: 'To shout', type: 'TOOL' },
    ])
  })
})

describe('findShared', () => {
  it('A shared ensemble is found by its exact name', () => {
    expect(findShared([band, choir], 'choir')).toBe(choir)
  })

  it('A server refuses other names with the code and the term of the protocol', () => {
    expect(() => findShared([band], 'choir')).toThrow(
      expect.objectContaining({ code: 'INVALID_ENSEMBLE' }),
    )
    const how = { kind: 'skill', code: 'BAD_REQUEST' } as const
    expect(() => findShared([band], 'bend', how)).toThrow(
      expect.objectContaining({
        code: 'BAD_REQUEST',
        message: expect.stringMatching(/skill.*bend.*band/),
      }),
    )
  })
})

describe('assertShared', () => {
  it('A list of shared names accepts names that exist', () => {
    const shared = {
      ensembles: ['band'],
      tools: ['shout'],
      models: ['fast'],
      ignoreSampling: ['choir', 'deep'],
      tags: { band: ['brass'], shout: [] },
    }
    expect(() => assertShared(sharing(shared))).not.toThrow()
    expect(() => assertShared(sharing())).not.toThrow()
  })

  it.each([
    [{ ensembles: ['opera'] }, 'no ensemble is named "opera"'],
    [{ tools: ['sing', 'hum'] }, 'no tool is named "sing", "hum"'],
    [{ models: ['slow'] }, 'no model is named "slow"'],
    [
      { ignoreSampling: ['slow'] },
      'ignoreSampling names "slow", which is neither an ensemble nor a model',
    ],
    [{ ensembles: ['band'], tags: { choir: ['x'] } }, 'tags name "choir", which is not shared'],
  ])('A list of shared names refuses %j', (shared, problem) => {
    expect(() => assertShared(sharing(shared))).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: `Cannot share unknown names: ${problem}`,
      }),
    )
  })
})
