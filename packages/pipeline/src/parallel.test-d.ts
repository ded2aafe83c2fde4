import { expectTypeOf, it } from 'vitest'

import type { TypedTool } from '@tutti/core'
import { count, imported, read, save, search, shout } from '../test/typed-tools.ts'
import { parallel, pipeline, type PartFailure } from './index.ts'

import type { PipelineErrorStrategy } from './index.ts'
import type { Page } from '../test/typed-tools.ts'

it('returns the results by name', () => {
  expectTypeOf(parallel({ page: read, receipt: save })).toEqualTypeOf<
    TypedTool<{ url: string }, { page: Page; receipt: string }>
  >()
})

it('accepts what all branches accept', () => {
  expectTypeOf(parallel({ page: read, words: count })).toEqualTypeOf<
    TypedTool<
      { url: string; text: string; limit?: number },
      { page: Page; words: { words: number } }
    >
  >()
  pipeline(read, parallel({ page: read, words: count }))
  pipeline(
    search,
    // @ts-expect-error there is neither url nor text
    parallel({ page: read, words: count }),
  )
})

it('text tools take what the others take, and text where all are text tools', () => {
  expectTypeOf(parallel({ page: read, loud: shout })).toEqualTypeOf<
    TypedTool<{ url: string }, { page: Page; loud: string }>
  >()
  expectTypeOf(parallel({ a: shout, b: shout })).toEqualTypeOf<
    TypedTool<string, { a: string; b: string }>
  >()
  pipeline(read, parallel({ a: shout, b: shout }))
})

it('what the compiler does not know stays unknown', () => {
  expectTypeOf(parallel({ a: imported })).toEqualTypeOf<TypedTool<unknown, { a: unknown }>>()
  expectTypeOf(parallel({ a: imported, b: read })).toEqualTypeOf<
    TypedTool<{ url: string }, { a: unknown; b: Page }>
  >()
})

it('a branch may fail where failures do not stop the others', () => {
  expectTypeOf(
    parallel({ page: read, receipt: save }, { errorStrategy: 'CONTINUE_ON_FAILURE' }),
  ).toEqualTypeOf<
    TypedTool<{ url: string }, { page: Page | PartFailure; receipt: string | PartFailure }>
  >()
  const errorStrategy: PipelineErrorStrategy = JSON.parse('"FAIL_FAST"')
  expectTypeOf(parallel({ page: read }, { errorStrategy })).toEqualTypeOf<
    TypedTool<{ url: string }, { page: Page | PartFailure }>
  >()
  pipeline(
    parallel({ url: shout }, { errorStrategy: 'CONTINUE_ON_FAILURE' }),
    // @ts-expect-error the url may be a failure
    read,
  )
  pipeline(parallel({ url: shout }), read)
})

it('options are checked, and know the input', () => {
  // @ts-expect-error there is not a such strategy
  parallel({ page: read }, { errorStrategy: 'RETRY' })
  // @ts-expect-error a number of branches
  parallel({ page: read }, { concurrency: 'all' })
  // @ts-expect-error a function is not a tool
  parallel({ page: () => '' })
  parallel({ page: read, loud: shout }, { requireApproval: { describe: ({ url }) => url } })
})
