import { toolCatalog } from '@tutti/core'
import { ensemble, modelCatalog, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { openGateway } from '../../test/open-gateway.ts'
import { toModelRun, findSharedModel, listSharedModels } from './find-model.ts'

import type { Shared } from '../gateway-options.ts'

const model = scriptedModel(() => 'La', { provider: 'scripted' })
const choir = ensemble({ name: 'choir', tasks: [task({ description: 'Sing {song}' })], model })
const drums = ensemble({ name: 'drums', tasks: [task({ description: 'Drum' })], model })

async function sharing(shared?: Shared) {
  const gateway = await openGateway({ ensembles: [choir, drums] })
  const models = modelCatalog({ small: model, choir: model })
  return {
    runs: gateway.runs,
    shared,
    models,
    tools: toolCatalog([]),
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  }
}

describe('models of other APIs', () => {
  it('[GW-Z1][GW-Z2] The models of other APIs are the ensembles and the other aliases', async () => {
    await using all = await sharing()
    expect(listSharedModels(all).map(({ name, owner }) => [name, owner])).toEqual([
      ['choir', 'tutti'],
      ['drums', 'tutti'],
      ['small', 'scripted'],
    ])
    expect(findSharedModel(all, 'choir')).toMatchObject({ kind: 'ensemble' })
    expect(() => findSharedModel(all, 'smal')).toThrow(/Did you mean.*small/)
  })

  it('[GW-Z1] The models of other APIs are limited to those that are shared', async () => {
    await using some = await sharing({ ensembles: ['drums'], models: [] })
    expect(listSharedModels(some).map(({ name }) => name)).toEqual(['drums'])
    for (const name of ['choir', 'small'])
      expect(() => findSharedModel(some, name)).toThrow('model')
  })

  it('[GW-Z3][GW-Z4] The models of other APIs answer as one task whose text is an input, not a template', async () => {
    await using all = await sharing({ ensembles: ['drums'] })
    const schema = { type: 'object' }
    const asked = toModelRun(findSharedModel(all, 'small'), {
      text: 'Sing {x}',
      outputSchema: schema,
    })
    expect(asked).toMatchObject({
      ensemble: { name: 'drums' },
      inputs: { message: 'Sing {x}' },
      tasks: [{ description: '{message}', model: 'small', outputSchema: schema }],
    })
  })

  it('Instructions reach the task of each item of a list, and no task with another handler', async () => {
    await using all = await sharing()
    const sing = task({ name: 'sing', description: 'Sing {item}', forEach: { over: 'songs' } })
    const bow = task({ name: 'bow', description: 'Bow', handler: () => 'done' })
    const band = ensemble({ name: 'band', tasks: [sing, bow], model })
    const found = { ...findSharedModel(all, 'choir'), kind: 'ensemble', ensemble: band } as const
    const asked = toModelRun(found, { text: '{"songs":"[]"}', instructions: 'Softly' })
    expect(asked.taskOverrides).toEqual({ sing: { additionalContext: 'Softly' } })
  })

  it('[GW-Z1] A model of other APIs reads the inputs of an ensemble from the message', async () => {
    await using all = await sharing()
    const asked = toModelRun(findSharedModel(all, 'choir'), { text: 'Ode' })
    expect(asked).toMatchObject({ ensemble: { name: 'choir' }, inputs: { song: 'Ode' } })
  })
})
