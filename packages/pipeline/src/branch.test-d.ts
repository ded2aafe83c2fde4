import { expectTypeOf, it } from 'vitest'

import { defineTool, Type, type ToolContext, type TypedTool } from '@tutti/core'
import { count, imported, list, read, save, search, shout } from '../test/typed-tools.ts'
import { branch, branchByType, pipeline } from './index.ts'

import type { Page } from '../test/typed-tools.ts'

interface Paper {
  type: 'paper'
  doi: string
}

interface Site {
  type: 'site'
  url: string
}

const cite = defineTool({
  name: 'cite',
  description: 'Cites a paper',
  input: Type.Object({ doi: Type.String() }),
  execute: () => 'cited',
})

const link = defineTool({
  name: 'link',
  description: 'Finds a link',
  input: Type.Object({}),
  output: Type.Object({ url: Type.String() }),
  execute: () => ({ url: '' }),
})

const find = defineTool({
  name: 'find',
  description: 'Finds a source',
  input: Type.Object({}),
  output: Type.Union([
    Type.Object({ type: Type.Literal('paper'), doi: Type.String() }),
    Type.Object({ type: Type.Literal('site'), url: Type.String() }),
  ]),
  execute: () => ({ type: 'site' as const, url: '' }),
})

it('A branch accepts what both tools accept, and returns the output of one of them', () => {
  const tool = branch(
    (input, context) => {
      expectTypeOf(input).toEqualTypeOf<{ url: string }>()
      expectTypeOf(context).toEqualTypeOf<ToolContext>()
      return input.url !== ''
    },
    { yes: read, no: save },
  )
  expectTypeOf(tool).toEqualTypeOf<TypedTool<{ url: string }, Page | string>>()
  branch(({ url, text }) => url === text, { yes: read, no: count })
})

it('A branch may return its input where `no` is missing', () => {
  expectTypeOf(branch(({ url }) => url !== '', { yes: read })).toEqualTypeOf<
    TypedTool<{ url: string }, Page | { url: string }>
  >()
  expectTypeOf(branch((text) => text.length > 9, { yes: shout })).toEqualTypeOf<TypedTool<string>>()
})

it('A branch allows a predicate that reads more than the tools accept, or is asynchronous', () => {
  const tool = branch(({ text }: Page) => Promise.resolve(text !== ''), { yes: save, no: save })
  expectTypeOf(tool).toEqualTypeOf<TypedTool<Page>>()
  pipeline(read, tool)
  pipeline(
    link,
    // @ts-expect-error a link has no text
    tool,
  )
  expectTypeOf(
    branch(({ text }: { text: string }) => text !== '', { yes: save, no: save }),
  ).toEqualTypeOf<TypedTool<{ text: string; url: string }>>()
})

it('A branch has the union of the outputs as its output', () => {
  const either = branch(({ url }) => url !== '', { yes: read, no: read })
  expectTypeOf(pipeline(either, count)).toEqualTypeOf<
    TypedTool<{ url: string }, { words: number }>
  >()
  pipeline(
    branch(({ url }) => url !== '', { yes: read, no: save }),
    // @ts-expect-error it may be text
    count,
  )
})

it('A branch passes each member of a union to its tool with a type guard', () => {
  const isPaper = (source: Paper | Site): source is Paper => source.type === 'paper'
  const tool = branchByType(isPaper, { yes: cite, no: read })
  expectTypeOf(tool).toEqualTypeOf<TypedTool<Paper | Site, string | Page>>()
  pipeline(find, tool)
  expectTypeOf(branchByType(isPaper, { yes: cite })).toEqualTypeOf<
    TypedTool<Paper | Site, string | Site>
  >()
  // @ts-expect-error a site has no doi
  branchByType(isPaper, { yes: cite, no: cite })
})

it('A branch rejects a branch whose tools do not accept the output before it', () => {
  pipeline(
    list,
    // @ts-expect-error a list has no url
    branch(({ url }) => url !== '', { yes: read, no: save }),
  )
})

it('A branch returns `unknown` where the output of a tool is not known', () => {
  expectTypeOf(branch(() => true, { yes: imported, no: search })).toEqualTypeOf<
    TypedTool<{ query: string }, unknown>
  >()
})

it('A branch checks the tools and the predicate', () => {
  // @ts-expect-error `yes` and `no` are missing
  branch(() => true, {})
  // @ts-expect-error a predicate must return a boolean
  branch(() => 'yes', { yes: read })
  // @ts-expect-error a function is not a tool
  branch(() => true, { yes: () => '' })
})
