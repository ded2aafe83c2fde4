import { defineTool, runTool, ToolResult, Type } from '@tutti/core'
import { expect, it } from 'vitest'
import { z } from 'zod'

import { branch, pipeline } from './index.ts'

const forecast = defineTool({
  name: 'forecast',
  description: 'Forecasts the weather',
  input: z.object({ days: z.number().default(3), from: z.string().transform(Number) }),
  output: Type.Object({ degrees: Type.Number() }),
  execute: ({ days, from }) => ({ degrees: days + from }),
})

const find = defineTool({
  name: 'find',
  description: 'Finds a day',
  input: Type.Object({ query: Type.String() }),
  output: Type.Object({ from: Type.String() }),
  execute: () => ({ from: '7' }),
})

it('A pipeline transforms the input once, in the first step and in a later one', async () => {
  const later = { id: 'c', name: 'x', arguments: '{"query":"may"}' }
  expect((await runTool(pipeline([find, forecast]), later)).result).toEqual(
    ToolResult.success('{"degrees":10}', { degrees: 10 }),
  )
  const first = { id: 'c', name: 'x', arguments: '{"from":"20"}' }
  expect((await runTool(pipeline([forecast]), first)).result).toEqual(
    ToolResult.success('{"degrees":23}', { degrees: 23 }),
  )
})

it('A pipeline passes the transformed input to a predicate', async () => {
  const seen: unknown[] = []
  const tool = branch({
    when: ({ days, from }) => {
      seen.push([days, from])
      return from > days
    },
    yes: forecast,
  })
  const { result } = await runTool(tool, { id: 'c', name: 'x', arguments: '{"from":"4"}' })
  expect(seen).toEqual([[3, 4]])
  expect(result.structured).toEqual({ degrees: 7 })
})
