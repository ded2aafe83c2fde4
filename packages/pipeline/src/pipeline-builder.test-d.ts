import { expectTypeOf, it } from 'vitest'

import type { ToolContext, ToolResult, TypedTool } from '@tutti/core'
import { count, imported, read, search, shorten, shout } from '../test/typed-tools.ts'
import { pipelineBuilder } from './index.ts'
import type { StepResult } from './internal.ts'

import type { Page } from '../test/typed-tools.ts'

it('A built pipeline has the input of the first step and the output of the last', () => {
  const tool = pipelineBuilder({ name: 'count_page' }).step(read).step(count).build()
  expectTypeOf(tool).toEqualTypeOf<TypedTool<{ url: string }, { words: number }>>()
})

it('A pipelineBuilder rejects a step that does not accept the output before it, at that step', () => {
  // @ts-expect-error a page is not a query
  pipelineBuilder().step(read).step(search)
  // @ts-expect-error a typed tool does not accept text
  pipelineBuilder().step(shout).step(read)
  pipelineBuilder().step(read).step(shout).step(shout)
  pipelineBuilder().step(imported).step(read)
})

it('A pipelineBuilder passes the value that the step declares to an adapter', () => {
  pipelineBuilder()
    .step(search)
    .adapter((result, context) => {
      expectTypeOf(result.structured).toEqualTypeOf<{ pages: Page[] }>()
      expectTypeOf(result.output).toBeString()
      expectTypeOf(context).toEqualTypeOf<ToolContext>()
      return ''
    })
  pipelineBuilder()
    .step(shout)
    .adapter((result) => {
      expectTypeOf(result.structured).toBeUnknown()
      return result.output
    })
  pipelineBuilder()
    .step(shorten)
    .adapter((result) => {
      expectTypeOf(result.structured).toEqualTypeOf<Page | string>()
      return result.output
    })
  expectTypeOf<StepResult<unknown>>().toExtend<ToolResult>()
  expectTypeOf<StepResult<Page>>().toExtend<ToolResult>()
  expectTypeOf<StepResult<Page | null>['structured']>().toEqualTypeOf<Page | null>()
})

it('A pipelineBuilder requires that an adapter returns what the next step accepts', () => {
  const tool = pipelineBuilder()
    .step(search)
    .adapter(({ structured }) => ({ url: structured.pages[0]?.url ?? '' }))
    .step(read)
    .build()
  expectTypeOf(tool).toEqualTypeOf<TypedTool<{ query: string }, Page>>()
  pipelineBuilder()
    .step(search)
    .adapter(({ structured }) => ({ link: structured.pages[0]?.url ?? '' }))
    // @ts-expect-error the value has no url
    .step(read)
  pipelineBuilder()
    .step(search)
    .adapter(() => 7)
    // @ts-expect-error a text step accepts only text
    .step(shout)
})

it('A pipelineBuilder allows an adapter that may return undefined for a text step, is asynchronous, or precedes an untyped tool', () => {
  const found = (result: StepResult<{ pages: Page[] }>): string | undefined =>
    result.structured.pages[0]?.url
  pipelineBuilder().step(search).adapter(found).step(shout)
  pipelineBuilder()
    .step(search)
    .adapter(async () => Promise.resolve({ url: '' }))
    .step(read)
  pipelineBuilder()
    .step(search)
    .adapter(() => 7)
    .step(imported)
})

it('A pipelineBuilder passes the result of the step to a second adapter, and uses the return value of that adapter', () => {
  pipelineBuilder()
    .step(search)
    .adapter(() => 7)
    .adapter(({ structured }) => ({ url: String(structured.pages.length) }))
    .step(read)
})

it('A built pipeline has the same type with an adapter after the last step', () => {
  const tool = pipelineBuilder()
    .step(read)
    .adapter(() => 7)
    .build()
  expectTypeOf(tool).toEqualTypeOf<TypedTool<{ url: string }, Page>>()
})

it('A pipelineBuilder requires a step first', () => {
  // @ts-expect-error an adapter must follow a step
  pipelineBuilder().adapter(() => '')
  // @ts-expect-error a pipeline without steps cannot be built
  pipelineBuilder().build()
})
