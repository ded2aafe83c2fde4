import { defineTool, Type, type TypedTool } from '@tutti/core'
import { expectTypeOf, it } from 'vitest'
import { z } from 'zod'

import { branch, parallel, pipeline } from './index.ts'

const forecast = defineTool({
  name: 'forecast',
  description: 'Forecasts the weather',
  input: z.object({
    city: z.string(),
    days: z.number().default(3),
    from: z.string().transform(Number),
  }),
  output: Type.Object({ degrees: Type.Number() }),
  execute: ({ days, from }) => ({ degrees: days + from }),
})

const find = defineTool({
  name: 'find',
  description: 'Finds a city',
  input: Type.Object({ query: Type.String() }),
  output: Type.Object({ city: Type.String(), from: Type.String() }),
  execute: () => ({ city: 'Bonn', from: '7' }),
})

const findNumber = defineTool({
  name: 'find_number',
  description: 'Finds a city',
  input: Type.Object({ query: Type.String() }),
  output: Type.Object({ city: Type.String(), from: Type.Number() }),
  execute: () => ({ city: 'Bonn', from: 7 }),
})

interface Given {
  city: string
  days?: number | undefined
  from: string
}

it('A schema of a library makes a pipeline accept its input, not the output of its transform', () => {
  expectTypeOf(pipeline([find, forecast])).toEqualTypeOf<
    TypedTool<{ query: string }, { degrees: number }>
  >()
  // @ts-expect-error the schema accepts text and transforms it to a number
  pipeline([findNumber, forecast])
})

it('A pipeline has the input of the schema of its first step', () => {
  expectTypeOf(pipeline([forecast])).toEqualTypeOf<TypedTool<Given, { degrees: number }>>()
  expectTypeOf(parallel({ forecast })).toExtend<
    TypedTool<Given, { forecast: { degrees: number } }>
  >()
})

it('A pipeline passes to a predicate the value that the body gets', () => {
  branch({ when: ({ days, from }) => days > from, yes: forecast })
})
