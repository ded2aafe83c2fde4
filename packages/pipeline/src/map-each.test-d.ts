import { expectTypeOf, it } from 'vitest'

import type { TypedTool } from '@tutti/core'
import { imported, list, read, search, shout } from '../test/typed-tools.ts'
import { mapEach, pipeline, pipelineBuilder, type PartFailure } from './index.ts'

import type { Page } from '../test/typed-tools.ts'

type Items<Item> = readonly Item[] | { readonly items: readonly Item[] }

it('mapEach accepts a list of inputs of the tool, and returns a list of its outputs', () => {
  expectTypeOf(mapEach(read)).toEqualTypeOf<TypedTool<Items<{ url: string }>, Page[]>>()
  expectTypeOf(mapEach(imported)).toEqualTypeOf<TypedTool<Items<unknown>, unknown[]>>()
})

it('mapEach accepts a list of any values for a text tool', () => {
  expectTypeOf(mapEach(shout)).toEqualTypeOf<TypedTool<Items<unknown>, string[]>>()
  pipeline([list, mapEach(shout)])
})

it('mapEach accepts only steps that return a list before it', () => {
  expectTypeOf(pipeline([list, mapEach(read), mapEach(read)])).toEqualTypeOf<
    TypedTool<{ query: string }, Page[]>
  >()
  pipeline([
    read,
    // @ts-expect-error a page is not a list
    mapEach(read),
  ])
  pipeline([
    list,
    // @ts-expect-error a list of pages is not a list of queries
    mapEach(search),
  ])
})

it('mapEach accepts the list that an adapter returns', () => {
  const tool = pipelineBuilder()
    .step(search)
    .adapter(({ structured }) => structured.pages)
    .step(mapEach(read))
    .build()
  expectTypeOf(tool).toEqualTypeOf<TypedTool<{ query: string }, Page[]>>()
})

it('mapEach returns failures in the list with CONTINUE_ON_FAILURE', () => {
  expectTypeOf(mapEach(read, { errorStrategy: 'CONTINUE_ON_FAILURE' })).toEqualTypeOf<
    TypedTool<Items<{ url: string }>, (Page | PartFailure)[]>
  >()
})

it('mapEach checks its options', () => {
  // @ts-expect-error `concurrency` is a number
  mapEach(read, { concurrency: '4' })
  // @ts-expect-error null is not a tool
  mapEach(null)
})
