import { expectTypeOf, it } from 'vitest'

import { defineTool, Type, type AgentTool, type ToolContext, type TypedTool } from '@tutti/core'
import { count, imported, list, read, save, search, shout } from '../test/typed-tools.ts'
import { branch, pipeline } from './index.ts'

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
  const tool = branch({
    when: (input, context) => {
      expectTypeOf(input).toEqualTypeOf<{ url: string }>()
      expectTypeOf(context).toEqualTypeOf<ToolContext>()
      return input.url !== ''
    },
    yes: read,
    no: save,
  })
  expectTypeOf(tool).toEqualTypeOf<TypedTool<{ url: string }, Page | string>>()
  branch({ when: ({ url, text }) => url === text, yes: read, no: count })
})

it('A branch may return its input where `no` is missing', () => {
  expectTypeOf(branch({ when: ({ url }) => url !== '', yes: read })).toEqualTypeOf<
    TypedTool<{ url: string }, Page | { url: string }>
  >()
  expectTypeOf(branch({ when: (text) => text.length > 9, yes: shout })).toEqualTypeOf<
    TypedTool<string>
  >()
})

it('A branch allows a predicate that reads more than the tools accept, or is asynchronous', () => {
  const tool = branch({
    when: ({ text }: Page) => Promise.resolve(text !== ''),
    yes: save,
    no: save,
  })
  expectTypeOf(tool).toEqualTypeOf<TypedTool<Page>>()
  pipeline([read, tool])
  pipeline([
    link,
    // @ts-expect-error a link has no text
    tool,
  ])
  expectTypeOf(
    branch({ when: ({ text }: { text: string }) => text !== '', yes: save, no: save }),
  ).toEqualTypeOf<TypedTool<{ text: string; url: string }>>()
})

it('A branch has the union of the outputs as its output', () => {
  const either = branch({ when: ({ url }) => url !== '', yes: read, no: read })
  expectTypeOf(pipeline([either, count])).toEqualTypeOf<
    TypedTool<{ url: string }, { words: number }>
  >()
  pipeline([
    branch({ when: ({ url }) => url !== '', yes: read, no: save }),
    // @ts-expect-error it may be text
    count,
  ])
})

it('A branch passes each member of a union to its tool with a type guard', () => {
  const isPaper = (source: Paper | Site): source is Paper => source.type === 'paper'
  const tool = branch({ when: isPaper, yes: cite, no: read })
  expectTypeOf(tool).toEqualTypeOf<TypedTool<Paper | Site, string | Page>>()
  pipeline([find, tool])
  expectTypeOf(branch({ when: isPaper, yes: cite })).toEqualTypeOf<
    TypedTool<Paper | Site, string | Site>
  >()
  // @ts-expect-error a site has no doi
  branch({ when: isPaper, yes: cite, no: cite })
  // @ts-expect-error a paper has no url
  branch({ when: isPaper, yes: read })
  branch({ when: isPaper, yes: imported, no: shout })
})

it('A branch uses a type guard that the compiler infers', () => {
  expectTypeOf(
    branch({ when: (source: Paper | Site) => source.type === 'paper', yes: cite, no: read }),
  ).toEqualTypeOf<TypedTool<Paper | Site, string | Page>>()
})

it('A branch has the output of `no` and its input where `no` may be missing', () => {
  const isPaper = (source: Paper | Site): source is Paper => source.type === 'paper'
  const maybe = <Tool extends AgentTool>(tool: Tool): Tool | undefined => tool
  expectTypeOf(branch({ when: isPaper, yes: cite, no: maybe(read) })).toEqualTypeOf<
    TypedTool<Paper | Site, string | Page | Site>
  >()
  expectTypeOf(branch({ when: ({ url }) => url !== '', yes: save, no: maybe(read) })).toEqualTypeOf<
    TypedTool<{ url: string }, string | Page | { url: string }>
  >()
  // @ts-expect-error a site has no doi
  branch({ when: isPaper, yes: cite, no: maybe(cite) })
})

it('A branch rejects a branch whose tools do not accept the output before it', () => {
  pipeline([
    list,
    // @ts-expect-error a list has no url
    branch({ when: ({ url }) => url !== '', yes: read, no: save }),
  ])
})

it('A branch returns `unknown` where the output of a tool is not known', () => {
  expectTypeOf(branch({ when: () => true, yes: imported, no: search })).toEqualTypeOf<
    TypedTool<{ query: string }, unknown>
  >()
})

it('A branch checks the tools and the predicate', () => {
  // @ts-expect-error `yes` is missing
  branch({ when: () => true })
  // @ts-expect-error a predicate must return a boolean
  branch({ when: () => 'yes', yes: read })
  // @ts-expect-error a function is not a tool
  branch({ when: () => true, yes: () => '' })
  // @ts-expect-error `when` is missing
  branch({ yes: read })
  // @ts-expect-error the predicate is `when`
  branch(() => true, { yes: read })
  // @ts-expect-error a misspelled tool
  branch({ when: () => true, yes: read, on: save })
  // @ts-expect-error a name is an option
  branch({ when: () => true, yes: read, name: 'x' })
  // @ts-expect-error a misspelled option
  branch({ when: () => true, yes: read }, { nam: 'x' })
})

it('A branch types the input for the reviewer like that of the predicate', () => {
  const describe = ({ url }: { url: string }): string => url
  branch({ when: ({ text }: Page) => text !== '', yes: save }, { requireApproval: { describe } })
  branch(
    { when: (source: Paper | Site): source is Paper => source.type === 'paper', yes: cite },
    {
      requireApproval: {
        describe(input) {
          expectTypeOf(input).toEqualTypeOf<Paper | Site>()
          return input.type
        },
      },
    },
  )
})
