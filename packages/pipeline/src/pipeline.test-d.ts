import { expectTypeOf, it } from 'vitest'

import { defineTool, Type, type AgentTool, type TypedTool } from '@tutti/core'
import { count, imported, list, read, save, search, shorten, shout } from '../test/typed-tools.ts'
import { pipeline } from './index.ts'
import type { Misfit } from './internal.ts'

import type { Page } from '../test/typed-tools.ts'
import type { Fit } from './step-types.ts'

const wordsToUrl = defineTool({
  name: 'words_to_url',
  description: 'Closes the circle',
  input: Type.Object({ words: Type.Integer() }),
  output: Type.Object({ url: Type.String() }),
  execute: () => ({ url: '' }),
})

it('A pipeline has the input of the first step and the output of the last', () => {
  expectTypeOf(pipeline([read])).toEqualTypeOf<TypedTool<{ url: string }, Page>>()
  expectTypeOf(pipeline([read, count])).toEqualTypeOf<
    TypedTool<{ url: string }, { words: number }>
  >()
  expectTypeOf(pipeline([read, shout])).toEqualTypeOf<TypedTool<{ url: string }>>()
  expectTypeOf(pipeline([shout, shout])).toEqualTypeOf<TypedTool<string>>()
  expectTypeOf(pipeline([read, count])).toExtend<AgentTool>()
})

it('A pipeline has the same type with options', () => {
  expectTypeOf(
    pipeline([read, count], { name: 'count_page', errorStrategy: 'FAIL_FAST' }),
  ).toEqualTypeOf<TypedTool<{ url: string }, { words: number }>>()
})

it('A pipeline is checked at every step of a long pipeline', () => {
  const long = pipeline([read, count, wordsToUrl, read, count, wordsToUrl, read, count, wordsToUrl])
  expectTypeOf(long).toEqualTypeOf<TypedTool<{ url: string }, { url: string }>>()
  pipeline([
    read,
    count,
    wordsToUrl,
    read,
    count,
    wordsToUrl,
    read,
    count,
    // @ts-expect-error the tenth step does not accept words
    read,
  ])
})

it('A pipeline rejects a step that does not accept the output before it, at that step', () => {
  pipeline([
    read,
    // @ts-expect-error a page is not a query
    search,
  ])
  pipeline(
    [
      read,
      // @ts-expect-error a page is not a query
      search,
    ],
    { name: 'wrong' },
  )
  pipeline([
    search,
    // @ts-expect-error a list of pages is not a page
    count,
  ])
  pipeline([
    shorten,
    // @ts-expect-error it may be text
    count,
  ])
  pipeline([
    shout,
    // @ts-expect-error a typed tool does not accept text without an adapter
    read,
  ])
  pipeline([
    save,
    // @ts-expect-error a typed tool without output returns text
    read,
  ])
})

it('A pipeline shows the output and the accepted type in the compile error', () => {
  expectTypeOf<Fit<{ a: string }, { b: string }>>().toEqualTypeOf<
    Misfit<{ a: string }, { b: string }>
  >()
  expectTypeOf<Fit<Page | string, Page>>().toEqualTypeOf<Misfit<Page | string, Page>>()
  expectTypeOf<Misfit<1, 2>>().toEqualTypeOf<{
    readonly 'this step does not accept the output of the previous step': {
      readonly output: 1
      readonly accepts: 2
    }
  }>()
})

it('A pipeline accepts any output for a text tool', () => {
  expectTypeOf(pipeline([search, shout, shout])).toEqualTypeOf<TypedTool<{ query: string }>>()
  expectTypeOf(pipeline([shorten, shout])).toEqualTypeOf<TypedTool<Page>>()
})

it('A pipeline accepts more fields than a step declares, and rejects fewer', () => {
  expectTypeOf(pipeline([read, save])).toEqualTypeOf<TypedTool<{ url: string }>>()
  pipeline([
    wordsToUrl,
    // @ts-expect-error the value has no text
    shorten,
  ])
})

it('A pipeline accepts an untyped tool before and after any step', () => {
  expectTypeOf(pipeline([imported, read])).toEqualTypeOf<TypedTool<unknown, Page>>()
  expectTypeOf(pipeline([read, imported])).toEqualTypeOf<TypedTool<{ url: string }, unknown>>()
  expectTypeOf(pipeline([read, imported, count])).toEqualTypeOf<
    TypedTool<{ url: string }, { words: number }>
  >()
  pipeline([
    imported,
    read,
    // @ts-expect-error the types on both sides are known
    search,
  ])
})

it('A pipeline accepts a list of tools of unknown length', () => {
  const tools: readonly AgentTool[] = [imported]
  expectTypeOf(pipeline(tools, { name: 'many' })).toExtend<AgentTool>()
  expectTypeOf(pipeline([...tools])).toEqualTypeOf<TypedTool<unknown, unknown>>()
  expectTypeOf(pipeline([read, ...tools])).toEqualTypeOf<TypedTool<{ url: string }, unknown>>()
})

it('A pipeline accepts steps from a variable', () => {
  const pair = [read, count] as const
  expectTypeOf(pipeline(pair)).toEqualTypeOf<TypedTool<{ url: string }, { words: number }>>()
  const wrong = [read, search] as const
  // @ts-expect-error a page is not a query
  pipeline(wrong)
})

it('A pipeline accepts a pipeline as a step', () => {
  const inner = pipeline([read, count])
  const outer = pipeline([
    pipeline([inner, wordsToUrl]),
    pipeline([inner], { name: 'inner' }),
    shout,
  ])
  expectTypeOf(outer).toEqualTypeOf<TypedTool<{ url: string }>>()
  pipeline([
    inner,
    // @ts-expect-error words are not a page
    inner,
  ])
})

it('A pipeline needs a step, and steps that are tools', () => {
  // @ts-expect-error no list of steps
  pipeline()
  // @ts-expect-error an empty list
  pipeline([])
  // @ts-expect-error options and no step
  pipeline([], { name: 'empty' })
  // @ts-expect-error a function is not a tool
  pipeline([read, () => ''])
  // @ts-expect-error null is not a tool
  pipeline([read, null])
  // @ts-expect-error the steps are one list
  pipeline(read, count)
})

it('A pipeline checks its options', () => {
  // @ts-expect-error no such strategy exists
  pipeline([read], { errorStrategy: 'RETRY' })
  // @ts-expect-error a name is text
  pipeline([read], { name: 7 })
  // @ts-expect-error a misspelled option
  pipeline([read], { nam: 'x' })
})

it('A pipeline types the input for the reviewer like that of the first step', () => {
  pipeline([read, count], {
    requireApproval: {
      describe(input) {
        expectTypeOf(input).toEqualTypeOf<{ url: string }>()
        return input.url
      },
    },
  })
  expectTypeOf(pipeline([read], { requireApproval: true })).toEqualTypeOf<
    TypedTool<{ url: string }, Page>
  >()
  // @ts-expect-error the value has no query
  pipeline([read], { requireApproval: { describe: ({ query }: { query: string }) => query } })
})

it('A pipeline accepts a list for a step that accepts lists', () => {
  pipeline([
    list,
    // @ts-expect-error a list is not a page
    count,
  ])
})
