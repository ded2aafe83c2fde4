import { expectTypeOf, it } from 'vitest'

import type { TypedTool } from '@tutti/core'
import { count, imported, read, save, search, shout } from '../test/typed-tools.ts'
import { parallel, pipeline, type PartFailure } from './index.ts'

import type { PipelineErrorStrategy } from './internal.ts'
import type { Page } from '../test/typed-tools.ts'

it('A parallel tool returns the results by name', () => {
  expectTypeOf(parallel({ page: read, receipt: save })).toEqualTypeOf<
    TypedTool<{ url: string }, { page: Page; receipt: string }>
  >()
})

it('A parallel tool accepts what all branches accept', () => {
  expectTypeOf(parallel({ page: read, words: count })).toEqualTypeOf<
    TypedTool<
      { url: string; text: string; limit?: number },
      { page: Page; words: { words: number } }
    >
  >()
  pipeline([read, parallel({ page: read, words: count })])
  pipeline([
    search,
    // @ts-expect-error there is neither url nor text
    parallel({ page: read, words: count }),
  ])
})

it('A parallel tool has the input of the other tools for text tools, and text where all are text tools', () => {
  expectTypeOf(parallel({ page: read, loud: shout })).toEqualTypeOf<
    TypedTool<{ url: string }, { page: Page; loud: string }>
  >()
  expectTypeOf(parallel({ a: shout, b: shout })).toEqualTypeOf<
    TypedTool<string, { a: string; b: string }>
  >()
  pipeline([read, parallel({ a: shout, b: shout })])
})

it('A parallel tool returns `unknown` for a tool whose output is not known', () => {
  expectTypeOf(parallel({ a: imported })).toEqualTypeOf<TypedTool<unknown, { a: unknown }>>()
  expectTypeOf(parallel({ a: imported, b: read })).toEqualTypeOf<
    TypedTool<{ url: string }, { a: unknown; b: Page }>
  >()
})

it('A parallel tool returns the failures of branches with CONTINUE_ON_FAILURE', () => {
  expectTypeOf(
    parallel({ page: read, receipt: save }, { errorStrategy: 'CONTINUE_ON_FAILURE' }),
  ).toEqualTypeOf<
    TypedTool<{ url: string }, { page: Page | PartFailure; receipt: string | PartFailure }>
  >()
  const errorStrategy: PipelineErrorStrategy = JSON.parse('"FAIL_FAST"')
  expectTypeOf(parallel({ page: read }, { errorStrategy })).toEqualTypeOf<
    TypedTool<{ url: string }, { page: Page | PartFailure }>
  >()
  pipeline([
    parallel({ url: shout }, { errorStrategy: 'CONTINUE_ON_FAILURE' }),
    // @ts-expect-error the url may be a failure
    read,
  ])
  pipeline([parallel({ url: shout }), read])
})

it('A parallel tool checks its options, and types the input for the reviewer', () => {
  // @ts-expect-error no such strategy exists
  parallel({ page: read }, { errorStrategy: 'RETRY' })
  // @ts-expect-error `concurrency` is a number
  parallel({ page: read }, { concurrency: 'all' })
  // @ts-expect-error a function is not a tool
  parallel({ page: () => '' })
  parallel({ page: read, loud: shout }, { requireApproval: { describe: ({ url }) => url } })
})
