import { describe, expect, it } from 'vitest'

import { defineTextTool } from '../definition/define-tool.ts'
import { TuttiError } from '../errors.ts'
import { toolCatalog } from './tool-catalog.ts'

const named = (name: string): ReturnType<typeof defineTextTool> =>
  defineTextTool({ name, description: `The ${name}`, execute: (text) => text })

const search = named('search')
const calculator = named('calculator')
const catalog = toolCatalog([search, calculator])

describe('toolCatalog', () => {
  it('toolCatalog finds a tool only by its exact name', () => {
    expect(catalog.find('search')).toBe(search)
    expect(catalog.find('Search')).toBeUndefined()
    expect(catalog.find('toString')).toBeUndefined()
    expect(catalog.tools).toEqual([search, calculator])
  })

  it('toolCatalog resolves a known name', () => {
    expect(catalog.resolve('calculator')).toBe(calculator)
  })

  it('toolCatalog throws INVALID_TOOL with the known names for an unknown name', () => {
    const resolve = (): unknown => catalog.resolve('serach')
    expect(resolve).toThrow("Unknown tool 'serach'. Available: [search, calculator]")
    expect(resolve).toThrow(TuttiError)
    expect(resolve).toThrow(expect.objectContaining({ code: 'INVALID_TOOL', retryable: false }))
  })

  it('toolCatalog rejects two tools with the same name', () => {
    expect(() => toolCatalog([search, calculator, named('search')])).toThrow(
      new TypeError('Cannot create tool catalog: two tools are named "search"'),
    )
  })

  it('toolCatalog does not change with the list that it was created from', () => {
    const tools = [search]
    const made = toolCatalog(tools)
    tools.push(calculator)
    expect(made.tools).toEqual([search])
  })
})
