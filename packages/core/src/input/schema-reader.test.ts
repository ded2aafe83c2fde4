import Type from 'typebox'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

import { schemaReader } from './schema-reader.ts'

import type { ToolSchema } from '../tool/tool-schema.ts'

const USE = { action: 'Cannot create task "x": output' }

const Report = Type.Object({
  title: Type.String(),
  pages: Type.Integer({ default: 1 }),
})

describe('schemaReader', () => {
  it('schemaReader exposes the author’s schema', () => {
    expect(schemaReader(Report, USE).jsonSchema).toBe(Report)
  })

  it('schemaReader coerces values, fills in defaults and drops unknown fields', async () => {
    const { read } = schemaReader(Report, USE)
    expect(await read({ title: 'a', pages: '2', z: 0 })).toEqual({
      ok: true,
      value: { title: 'a', pages: 2 },
    })
    expect(await read({ title: 'a' })).toEqual({ ok: true, value: { title: 'a', pages: 1 } })
  })

  it('schemaReader reports every problem', async () => {
    const decoded = await schemaReader(Report, USE).read({ pages: 'many' })
    expect(decoded.ok ? [] : decoded.problems.map(({ path }) => path)).toEqual(['/title', '/pages'])
  })

  it('schemaReader reads values of any type', async () => {
    expect(await schemaReader(Type.Integer(), USE).read('5')).toEqual({ ok: true, value: 5 })
    const list = schemaReader(Type.Array(Type.Integer()), USE)
    expect(await list.read(['1', 2])).toEqual({ ok: true, value: [1, 2] })
  })

  it('schemaReader reads with a library that implements Standard Schema, also asynchronously', async () => {
    const later = z.object({ n: z.number().refine((n) => Promise.resolve(n > 1)) })
    const reader = schemaReader(later, USE)
    expect(reader.jsonSchema).toMatchObject({ type: 'object' })
    expect(await reader.read({ n: '2' })).toEqual({ ok: true, value: { n: 2 } })
    expect(await reader.read({ n: 1 })).toMatchObject({ ok: false, problems: [{ path: '/n' }] })
  })

  it.each<[boolean, ToolSchema]>([
    [true, Type.String()],
    [true, Type.Union([Type.Literal('a'), Type.Literal('b')])],
    [true, Type.Union([Report, Type.Null()])],
    [true, { enum: [1, 2] }],
    [true, z.boolean()],
    [false, Report],
    [false, Type.Array(Type.String())],
    [false, z.object({})],
  ])('schemaReader returns %s for takesScalar (%#)', (scalar, schema) => {
    expect(schemaReader(schema, USE).takesScalar).toBe(scalar)
  })

  it('schemaReader does not expect a scalar for a schema without types', () => {
    expect(schemaReader({}, USE).takesScalar).toBe(false)
    expect(schemaReader(Type.Unknown(), USE).takesScalar).toBe(false)
  })

  it('schemaReader reads with a library whose JSON Schema is unusable', async () => {
    const { '~standard': standard } = z.string()
    const input = (): Record<string, unknown> => ({ type: 'string', $ref: '#/$defs/none' })
    const schema = { '~standard': { ...standard, jsonSchema: { input, output: input } } }
    const reader = schemaReader(schema, USE)
    expect(reader.takesScalar).toBe(false)
    expect(await reader.read('a')).toEqual({ ok: true, value: 'a' })
  })

  it('schemaReader rejects an unusable schema with all its faults', () => {
    const broken = Type.Object({ a: Type.Integer({ default: 'x' }) })
    expect(() => schemaReader(broken, USE)).toThrow(TypeError)
    expect(() => schemaReader(broken, USE)).toThrow(
      'Cannot create task "x": output /properties/a/default must match its schema, got "x"',
    )
    expect(() => schemaReader(z.bigint(), USE)).toThrow(
      'Cannot create task "x": output cannot be converted to JSON Schema',
    )
  })
})
