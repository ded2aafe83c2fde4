import { expectTypeOf, it } from 'vitest'

import {
  defineTextTool,
  defineTool,
  Type,
  type AgentTool,
  type ToolContext,
  type ToolResult,
} from '../src/index.ts'

import type { StandardSchemaV1 } from '@standard-schema/spec'

const Input = Type.Object({
  city: Type.String(),
  days: Type.Optional(Type.Integer({ default: 1 })),
  unit: Type.Enum(['celsius', 'fahrenheit']),
  stops: Type.Array(Type.Object({ name: Type.String() })),
})

interface ExpectedInput {
  city: string
  days?: number
  unit: 'celsius' | 'fahrenheit'
  stops: { name: string }[]
}

it('defineTool infers the input of the body from the schema', () => {
  const tool = defineTool({
    name: 'forecast',
    description: 'Forecasts the weather',
    input: Input,
    execute(input, context) {
      expectTypeOf(input).toEqualTypeOf<ExpectedInput>()
      expectTypeOf(context).toEqualTypeOf<ToolContext<ExpectedInput>>()
      expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>()
      return input.city
    },
  })
  expectTypeOf(tool).toExtend<AgentTool>()
})

it('defineTool types execute by the schemas of input and output', () => {
  const tool = defineTool({
    name: 'forecast',
    description: 'Forecasts the weather',
    input: Input,
    output: Type.Object({ degrees: Type.Number() }),
    execute: () => ({ degrees: 21 }),
  })
  expectTypeOf(tool.execute).parameter(0).toEqualTypeOf<ExpectedInput>()
  expectTypeOf(tool.execute).returns.resolves.toEqualTypeOf<
    string | ToolResult | { degrees: number }
  >()
  // @ts-expect-error a required field is missing
  void tool.execute({ city: 'Bonn', stops: [] }, context())
  // @ts-expect-error a field has the wrong type
  void tool.execute({ city: 'Bonn', unit: 'kelvin', stops: [] }, context())
})

it('defineTool lets a tool without an output schema return text or a result', () => {
  const tool = defineTool({
    name: 'now',
    description: 'Tells the time',
    input: Type.Object({}),
    execute: () => Promise.resolve('noon'),
  })
  expectTypeOf(tool.execute).returns.resolves.toEqualTypeOf<string | ToolResult>()
})

it('defineTool rejects a return value that the output schema does not have', () => {
  defineTool({
    name: 'forecast',
    description: 'Forecasts the weather',
    input: Input,
    output: Type.Object({ degrees: Type.Number() }),
    // @ts-expect-error degrees is a number
    execute: () => ({ degrees: 'warm' }),
  })
  defineTool({
    name: 'forecast',
    description: 'Forecasts the weather',
    input: Input,
    // @ts-expect-error a value needs an output schema
    execute: () => ({ degrees: 21 }),
  })
})

it('defineTextTool types a text tool with one string as input, and text or a result as output', () => {
  const tool = defineTextTool({
    name: 'shout',
    description: 'Shouts',
    execute(input) {
      expectTypeOf(input).toBeString()
      return input.toUpperCase()
    },
  })
  expectTypeOf(tool).toExtend<AgentTool>()
  expectTypeOf(tool.execute).parameter(0).toEqualTypeOf<string>()
  expectTypeOf(tool.execute).returns.resolves.toEqualTypeOf<string | ToolResult>()
})

it('A list of tools mixes typed and text tools', () => {
  const tools = [
    defineTool({ name: 'a', description: 'A', input: Input, execute: ({ city }) => city }),
    defineTextTool({ name: 'b', description: 'B', execute: (text) => text }),
  ]
  expectTypeOf(tools).toExtend<readonly AgentTool[]>()
})

it('defineTool types a tool as a Standard Schema of its input', () => {
  const tool = defineTool({ name: 'a', description: 'A', input: Input, execute: () => 'x' })
  expectTypeOf<StandardSchemaV1.InferOutput<typeof tool>>().toEqualTypeOf<ExpectedInput>()
  defineTool({
    name: 'b',
    description: 'B',
    input: tool,
    execute(input) {
      expectTypeOf(input).toEqualTypeOf<ExpectedInput>()
      return input.city
    },
  })
})

declare function context(): ToolContext<never>
