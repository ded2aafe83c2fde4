import { describe, expect, it } from 'vitest'

import { modelCatalog } from '../model/model-catalog.ts'
import { ModelSwitches, type NamedModel } from './models.ts'

import type { ChatModel } from '../model/chat-model.ts'

function model(name: string): ChatModel {
  return {
    provider: 'test',
    name,
    stream() {
      throw new Error('Must not be called')
    },
  }
}

const a: NamedModel = { label: 'a', model: model('a') }
const b: NamedModel = { label: 'b', model: model('b') }

describe('[ENS-S2] the model of a task', () => {
  it('The model of a task is its own before any switch', () => {
    expect(new ModelSwitches(undefined).of('x')).toBeUndefined()
  })

  it('The model of a task is that of the last switch, of the run or the task', () => {
    const switches = new ModelSwitches(undefined)
    const both = () => [switches.of('x')?.to, switches.of('y')?.to]
    switches.switch(a)
    expect(both()).toEqual([a, a])
    switches.switch(b, 'x')
    expect(both()).toEqual([b, a])
    switches.switch('FALLBACK')
    expect(both()).toEqual(['FALLBACK', 'FALLBACK'])
  })

  it('The model of a task has a new switch each time, also to the same model', () => {
    const switches = new ModelSwitches(undefined)
    switches.switch('PRIMARY')
    const first = switches.of('x')
    switches.switch('PRIMARY')
    expect(switches.of('x')).toEqual(first)
    expect(switches.of('x')).not.toBe(first)
  })
})

describe('[ENS-S3] ModelSwitches', () => {
  it('ModelSwitches resolves an alias of the catalog, or a model itself', () => {
    const known = model('known')
    const switches = new ModelSwitches(modelCatalog({ fast: known }))
    expect(switches.resolve('fast')).toEqual({ label: 'fast', model: known })
    expect(switches.resolve(known)).toEqual({ label: 'fast', model: known })
    const other = model('known')
    expect(switches.resolve(other)).toEqual({ label: 'test:known', model: other })
  })

  it('ModelSwitches rejects an unknown alias', () => {
    const switches = new ModelSwitches(modelCatalog({ fast: model('known') }))
    const refusal = { code: 'INVALID_MODEL' }
    expect(() => switches.resolve('slow')).toThrow(expect.objectContaining(refusal))
    expect(() => new ModelSwitches(undefined).resolve('x')).toThrow(
      expect.objectContaining(refusal),
    )
  })
})
