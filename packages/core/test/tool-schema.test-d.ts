import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { expectTypeOf, it } from 'vitest'
import { z } from 'zod'

import { defineTool, Type, type ToolContext } from '../src/index.ts'
import type { SourceOf, ValueOf } from '../src/internal.ts'
import { toStandardSchema } from '../src/input/standard-schema.ts'

import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'

const about = { name: 'x', description: 'X' }

it('defineTool types the body by a TypeBox schema, for every type of the mapping table and others', () => {
  defineTool({
    ...about,
    input: Type.Object({
      text: Type.String({ minLength: 1 }),
      whole: Type.Integer({ minimum: 1, default: 1 }),
      number: Type.Number(),
      flag: Type.Boolean(),
      word: Type.Enum(['celsius', 'fahrenheit']),
      fixed: Type.Literal('on'),
      either: Type.Union([Type.String(), Type.Null()]),
      list: Type.Array(Type.Integer()),
      lists: Type.Array(Type.Array(Type.Object({ x: Type.Number() }))),
      nested: Type.Object({ deep: Type.Object({ a: Type.String() }) }),
      optional: Type.Optional(Type.Integer({ default: 3 })),
      map: Type.Record(Type.String(), Type.Number()),
      named: Type.Record(Type.Union([Type.Literal('a'), Type.Literal('b')]), Type.Boolean()),
      pair: Type.Tuple([Type.String(), Type.Integer()]),
      day: Type.String({ format: 'date' }),
      both: Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Number() })]),
      shape: Type.Union([
        Type.Object({ kind: Type.Literal('circle'), radius: Type.Number() }),
        Type.Object({ kind: Type.Literal('square'), side: Type.Number() }),
      ]),
      own: Type.Unsafe<`${number}px`>({ type: 'string', pattern: 'px$' }),
      any: Type.Unknown(),
    }),
    execute(input) {
      expectTypeOf(input.text).toEqualTypeOf<string>()
      expectTypeOf(input.whole).toEqualTypeOf<number>()
      expectTypeOf(input.number).toEqualTypeOf<number>()
      expectTypeOf(input.flag).toEqualTypeOf<boolean>()
      expectTypeOf(input.word).toEqualTypeOf<'celsius' | 'fahrenheit'>()
      expectTypeOf(input.fixed).toEqualTypeOf<'on'>()
      expectTypeOf(input.either).toEqualTypeOf<string | null>()
      expectTypeOf(input.list).toEqualTypeOf<number[]>()
      expectTypeOf(input.lists).toEqualTypeOf<{ x: number }[][]>()
      expectTypeOf(input.nested.deep.a).toEqualTypeOf<string>()
      expectTypeOf(input.optional).toEqualTypeOf<number | undefined>()
      expectTypeOf<{ optional?: number }>().toExtend<Pick<typeof input, 'optional'>>()
      expectTypeOf(input.map).toEqualTypeOf<Record<string, number>>()
      expectTypeOf(input.named).toEqualTypeOf<{ a: boolean; b: boolean }>()
      expectTypeOf(input.pair).toEqualTypeOf<[string, number]>()
      expectTypeOf(input.day).toEqualTypeOf<string>()
      expectTypeOf(input.both).toEqualTypeOf<{ a: string } & { b: number }>()
      expectTypeOf(input.own).toEqualTypeOf<`${number}px`>()
      expectTypeOf(input.any).toEqualTypeOf<unknown>()
      if (input.shape.kind === 'circle') expectTypeOf(input.shape.radius).toBeNumber()
      else expectTypeOf(input.shape.side).toBeNumber()
      // @ts-expect-error the field does not exist
      void input.nothing
      return input.text
    },
  })
})

it('defineTool types the body by a recursive TypeBox schema', () => {
  const List = Type.Cyclic(
    { List: Type.Object({ n: Type.Integer(), next: Type.Optional(Type.Ref('List')) }) },
    'List',
  )
  defineTool({
    ...about,
    input: List,
    execute({ n, next }) {
      expectTypeOf(n).toBeNumber()
      expectTypeOf(next?.next?.n).toEqualTypeOf<number | undefined>()
      return ''
    },
  })
})

it('defineTool types the body by an inline JSON Schema where TypeBox supports it', () => {
  defineTool({
    ...about,
    input: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        days: { type: 'integer' },
        unit: { enum: ['c', 'f'] },
      },
      required: ['city', 'unit'],
    },
    execute(input) {
      expectTypeOf(input.city).toEqualTypeOf<string>()
      expectTypeOf(input.days).toEqualTypeOf<number | undefined>()
      expectTypeOf(input.unit).toEqualTypeOf<'c' | 'f'>()
      return input.city
    },
  })
})

it('defineTool types the body by the output of a Zod schema, and the return value by its input', () => {
  const Amount = z.object({
    n: z.string().transform((text) => text.length),
    days: z.number().default(1),
    note: z.string().optional(),
  })
  const tool = defineTool({
    ...about,
    input: Amount,
    output: Amount,
    execute(input, context) {
      expectTypeOf(input).toEqualTypeOf<{ n: number; days: number; note?: string | undefined }>()
      expectTypeOf(context).toEqualTypeOf<
        ToolContext<{ n: number; days: number; note?: string | undefined }>
      >()
      return { n: 'four' }
    },
  })
  expectTypeOf(tool.execute).parameter(0).toEqualTypeOf<z.output<typeof Amount>>()
  expectTypeOf<SourceOf<typeof Amount>>().toEqualTypeOf<z.input<typeof Amount>>()
  expectTypeOf<ValueOf<typeof Amount>>().toEqualTypeOf<z.output<typeof Amount>>()
  // @ts-expect-error the return value has the input type of the schema
  defineTool({ ...about, input: Amount, output: Amount, execute: () => ({ n: 4 }) })
})

it('defineTool types the body by a Zod union', () => {
  const Shape = z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('circle'), radius: z.number() }),
    z.object({ kind: z.literal('square'), side: z.number() }),
  ])
  defineTool({
    ...about,
    input: Shape,
    execute(input) {
      if (input.kind === 'square') expectTypeOf(input.side).toBeNumber()
      return input.kind
    },
  })
})

it('defineTool types the body by the output of a Valibot schema', () => {
  const Amount = toStandardJsonSchema(
    v.object({
      n: v.pipe(
        v.string(),
        v.transform((text) => text.length),
      ),
      days: v.optional(v.number(), 1),
    }),
  )
  defineTool({
    ...about,
    input: Amount,
    execute(input) {
      expectTypeOf(input).toEqualTypeOf<{ n: number; days: number }>()
      return ''
    },
  })
  expectTypeOf<SourceOf<typeof Amount>>().toEqualTypeOf<{ n: string; days?: number | undefined }>()
})

it('defineTool types the body by the output of an ArkType schema', () => {
  const Amount = type({ n: 'string.integer.parse', days: 'number = 1', 'note?': 'string' })
  defineTool({
    ...about,
    input: Amount,
    execute(input) {
      expectTypeOf(input).toEqualTypeOf<{ n: number; days: number; note?: string }>()
      return ''
    },
  })
  expectTypeOf<SourceOf<typeof Amount>>().toEqualTypeOf<{
    n: string
    days?: number
    note?: string
  }>()
})

it('toStandardSchema keeps the types of a schema', () => {
  const Amount = toStandardSchema(
    Type.Object({ n: Type.Integer(), d: Type.Optional(Type.String()) }),
  )
  interface Value {
    n: number
    d?: string
  }
  expectTypeOf(Amount).toExtend<StandardSchemaV1<Value>>()
  expectTypeOf(Amount).toExtend<StandardJSONSchemaV1<Value>>()
  expectTypeOf<StandardSchemaV1.InferInput<typeof Amount>>().toEqualTypeOf<Value>()
  expectTypeOf<StandardSchemaV1.InferOutput<typeof Amount>>().toEqualTypeOf<Value>()
  defineTool({
    ...about,
    input: Amount,
    execute(input) {
      expectTypeOf(input).toEqualTypeOf<Value>()
      return ''
    },
  })
})
