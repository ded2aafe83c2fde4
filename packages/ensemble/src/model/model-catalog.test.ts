import { TuttiError } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { scriptedModel } from '../../test/testing.ts'
import { modelCatalog } from './model-catalog.ts'

const fast = scriptedModel([])
const strong = scriptedModel([])
const catalog = modelCatalog({ fast, strong })

describe('modelCatalog', () => {
  it('modelCatalog finds a model only by its exact alias', () => {
    expect(catalog.find('fast')).toBe(fast)
    expect(catalog.find('Fast')).toBeUndefined()
    expect(catalog.find('constructor')).toBeUndefined()
    expect([...catalog.models.keys()]).toEqual(['fast', 'strong'])
  })

  it('modelCatalog rejects an unknown alias with INVALID_MODEL and the list of known aliases', () => {
    expect(catalog.resolve('strong')).toBe(strong)
    const resolve = (): unknown => catalog.resolve('stronger')
    expect(resolve).toThrow(TuttiError)
    expect(resolve).toThrow("Unknown model 'stronger'. Available: [fast, strong]")
    expect(resolve).toThrow(expect.objectContaining({ code: 'INVALID_MODEL' }))
  })
})
