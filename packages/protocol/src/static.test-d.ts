import Type from 'typebox'
import { expectTypeOf, it } from 'vitest'

import type * as api from './index.ts'
import type * as internal from './internal.ts'
import type { Static } from './static.ts'

type Protocol = typeof api & typeof internal

/** The names of the values that are schemas. */
type SchemaNames<Values> = {
  [Name in keyof Values]: Values[Name] extends { readonly '~kind': string } ? Name : never
}[keyof Values]

type Inferred<Schemas> = { [Name in SchemaNames<Schemas>]: Static<Schemas[Name]> }

type InferredByTypeBox<Schemas> = {
  [Name in SchemaNames<Schemas>]: Schemas[Name] extends Type.TSchema
    ? Type.Static<Schemas[Name]>
    : never
}

const Name = Type.String({ minLength: 1 })
const Point = Type.Object({ x: Type.Number(), y: Type.Optional(Type.Integer()) })
const Kinds = {
  any: Type.Any(),
  bigint: Type.BigInt(),
  boolean: Type.Boolean(),
  never: Type.Never(),
  null: Type.Null(),
  symbol: Type.Symbol(),
  undefined: Type.Undefined(),
  unknown: Type.Unknown(),
  void: Type.Void(),
  enum: Type.Enum(['red', 'green', 3]),
  literal: Type.Literal(true),
  template: Type.TemplateLiteral('on-${"start" | "end"}'),
  union: Type.Union([Type.Literal('a'), Type.Null(), Point]),
  intersection: Type.Intersect([Point, Type.Object({ z: Type.Number() })]),
  tuple: Type.Tuple([Type.String(), Type.Optional(Point)]),
  list: Type.Array(Type.Array(Point)),
  immutable: Type.Immutable(Type.Array(Point)),
  record: Type.Record(Type.String(), Point),
  numbered: Type.Record(Type.Integer(), Point),
  named: Type.Record(Type.Union([Type.Literal('a'), Type.Literal('b')]), Point),
  empty: Type.Object({}),
  optional: Type.Object({ name: Type.Optional(Name) }),
  readonly: Type.Object({
    id: Type.Readonly(Name),
    tag: Type.Readonly(Type.Optional(Name)),
    at: Name,
  }),
  nested: Type.Object({ point: Point, points: Type.Optional(Type.Array(Point)) }),
  tree: Type.Object({ name: Name, children: Type.Array(Type.This()) }),
  maybeTree: Type.Object({ next: Type.Optional(Type.Union([Type.This(), Type.Null()])) }),
  cyclic: Type.Cyclic({ Node: Type.Object({ next: Type.Optional(Type.Ref('Node')) }) }, 'Node'),
  inObject: Type.Object({
    node: Type.Cyclic({ Node: Type.Object({ next: Type.Array(Type.Ref('Node')) }) }, 'Node'),
  }),
  partial: Type.Partial(Point),
  picked: Type.Pick(Point, ['x']),
  refined: Type.Refine(Point, ({ x }) => x > 0),
  codec: Type.Codec(Type.String()).Decode(Number).Encode(String),
  unsafe: Type.Object({ date: Type.Unsafe<Date>(Type.String()) }),
}

it('Static infers the types that TypeBox infers, for every kind of schema', () => {
  expectTypeOf<Inferred<typeof Kinds>>().toEqualTypeOf<InferredByTypeBox<typeof Kinds>>()
})

it('Static infers the types that TypeBox infers, for every schema of the protocol', () => {
  expectTypeOf<Inferred<Protocol>>().toEqualTypeOf<InferredByTypeBox<Protocol>>()
})

it('Static infers the types that TypeBox infers from plain JSON Schema', () => {
  const schema = {
    type: 'object',
    properties: { name: { type: 'string' }, size: { enum: ['s', 'm'] } },
    required: ['name'],
  } as const
  expectTypeOf<Static<typeof schema>>().toEqualTypeOf<Type.Static<typeof schema>>()
  expectTypeOf<Static<typeof schema>>().toEqualTypeOf<{ name: string; size?: 's' | 'm' }>()
})

it('Static infers the types that TypeBox infers from schemas that are not known', () => {
  expectTypeOf<Static<Type.TSchema>>().toEqualTypeOf<Type.Static<Type.TSchema>>()
  expectTypeOf<Static<Type.TObject>>().toEqualTypeOf<Type.Static<Type.TObject>>()
})
