import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'

import { createInputReader, createOutputReader } from './input-reader.ts'
import { isStandardSchema } from './standard-reader.ts'

import type { StandardToolSchema } from '../tool/tool-schema.ts'
import type { StandardSchemaV1 } from '@standard-schema/spec'

const inZod = z.object({
  city: z.string(),
  days: z.number().int().max(7).default(1),
  tags: z.array(z.string()).optional(),
  on: z.boolean().optional(),
  at: z
    .string()
    .transform((text) => new Date(text))
    .optional(),
})

const inValibot = toStandardJsonSchema(
  v.object({
    city: v.string(),
    days: v.optional(v.pipe(v.number(), v.integer(), v.maxValue(7)), 1),
    tags: v.optional(v.array(v.string())),
    on: v.optional(v.boolean()),
    at: v.optional(
      v.pipe(
        v.string(),
        v.transform((text) => new Date(text)),
      ),
    ),
  }),
)

const inArkType = type({
  city: 'string',
  days: 'number.integer <= 7 = 1',
  'tags?': 'string[]',
  'on?': 'boolean',
  'at?': type('string').pipe((text) => new Date(text)),
  '+': 'delete',
})

const libraries: readonly [string, StandardToolSchema][] = [
  ['zod', inZod],
  ['valibot', inValibot],
  ['arktype', inArkType],
]

const read = (schema: StandardToolSchema, value: unknown, coerce = true) =>
  createInputReader(schema, { toolName: 'x', coerce }).read(value)

/** Schema of a fake library. */
function made(
  validate: StandardSchemaV1.Props['validate'],
  jsonSchema: Record<string, unknown> = { type: 'object', properties: { n: { type: 'integer' } } },
): StandardToolSchema {
  const input = vi.fn<() => Record<string, unknown>>(() => jsonSchema)
  const standard = {
    version: 1,
    vendor: 'made',
    validate,
    jsonSchema: { input, output: input },
  } as const
  return { '~standard': standard }
}

const wantsNumber: StandardSchemaV1.Props['validate'] = (value) =>
  typeof value === 'object' && value !== null && 'n' in value && typeof value.n === 'number'
    ? { value }
    : { issues: [{ message: 'n is no number' }] }

describe.each(libraries)('a schema of %s', (_, schema) => {
  it('A schema of a library validates and transforms: defaults, unknown fields, transforms', () => {
    expect(read(schema, { city: 'Bonn', at: '2025-03-15', z: 0 })).toEqual({
      ok: true,
      value: { city: 'Bonn', days: 1, at: new Date('2025-03-15') },
    })
  })

  it('A schema of a library has values coerced, and validates once more', () => {
    const value = { city: 'Bonn', days: '3', tags: 'a', on: 'true', at: null }
    expect(read(schema, value)).toEqual({
      ok: true,
      value: { city: 'Bonn', days: 3, tags: ['a'], on: true },
    })
    expect(read(schema, JSON.stringify(value))).toMatchObject({ ok: true, value: { days: 3 } })
    expect(read(schema, value, false)).toMatchObject({ ok: false })
  })

  it('A schema of a library reports all its problems with the given value, each with its path', () => {
    const decoded = read(schema, { city: 5, days: '9', tags: ['a', 7], on: 'true' })
    const problems = decoded instanceof Promise || decoded.ok ? [] : decoded.problems
    expect(problems.map(({ path }) => path).toSorted()).toEqual([
      '/city',
      '/days',
      '/on',
      '/tags/1',
    ])
    expect(problems.find(({ path }) => path === '/days')).toMatchObject({ received: '9' })
    expect(problems.every(({ message }) => message.length > 5)).toBe(true)
  })

  it('A schema of a library provides the JSON Schema of its input', () => {
    const { jsonSchema } = createInputReader(schema, { toolName: 'x' })
    expect(jsonSchema).toEqual(schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' }))
    expect(jsonSchema).toMatchObject({
      type: 'object',
      required: ['city'],
      properties: { city: { type: 'string' }, on: { type: 'boolean' } },
    })
  })

  it('A schema of a library validates an output without coercion', () => {
    const reader = createOutputReader(schema, { toolName: 'x' })
    expect(reader.read({ city: 'Bonn' })).toMatchObject({ ok: true })
    expect(reader.read({ city: 'Bonn', days: '3' })).toMatchObject({ ok: false })
  })
})

describe('a library', () => {
  it('A schema library provides its JSON Schema once, in draft 2020-12', () => {
    const schema = made(wantsNumber)
    const reader = createInputReader(schema, { toolName: 'x' })
    void [reader.read({}), reader.read({ n: '1' })]
    expect(schema['~standard'].jsonSchema.input).toHaveBeenCalledExactlyOnceWith({
      target: 'draft-2020-12',
    })
  })

  it('A schema library can answer asynchronously', async () => {
    const schema = made(async (value) => wantsNumber(value))
    await expect(read(schema, { n: 1 })).resolves.toEqual({ ok: true, value: { n: 1 } })
    await expect(read(schema, { n: '1' })).resolves.toEqual({ ok: true, value: { n: 1 } })
    await expect(read(schema, { n: 'x' })).resolves.toEqual({
      ok: false,
      problems: [{ path: '', message: 'n is no number', received: '{"n":"x"}' }],
    })
    await expect(read(schema, { n: '1' }, false)).resolves.toMatchObject({ ok: false })
  })

  it('A schema library can answer with its own kind of promise', async () => {
    const thenable = {
      // oxlint-disable-next-line unicorn/no-thenable -- the test needs it
      then: (settle: (result: unknown) => void) => {
        settle({ issues: [{ message: 'no' }] })
      },
    }
    const schema = made(() => thenable as never)
    await expect(read(schema, { n: 1 })).resolves.toMatchObject({ ok: false })
  })

  it('A schema library can answer synchronously first and asynchronously the second time', async () => {
    const schema = made((value) => {
      const result = wantsNumber(value)
      return 'issues' in result ? result : Promise.resolve(result)
    })
    await expect(read(schema, { n: '1' })).resolves.toEqual({ ok: true, value: { n: 1 } })
  })

  it('A schema library reports the problems of its first answer when the second one also fails', () => {
    const answers: StandardSchemaV1.Result<unknown>[] = [
      { issues: [{ message: 'first' }] },
      { issues: [{ message: 'second' }] },
    ]
    const schema = made(() => answers.shift() ?? { value: 0 })
    expect(read(schema, { n: '1' })).toMatchObject({ problems: [{ message: 'first' }] })
  })

  it('A schema library reports the problems of its first answer also when both are asynchronous', async () => {
    const answers = ['first', 'second']
    const schema = made(async () => ({ issues: [{ message: answers.shift() ?? 'third' }] }))
    await expect(read(schema, { n: '1' })).resolves.toMatchObject({
      problems: [{ message: 'first' }],
    })
  })

  it('A schema library handles defaults and unknown fields alone', () => {
    const properties = {
      n: { type: 'integer' },
      d: { default: 1 },
      e: { type: 'integer', default: 2 },
    }
    const schema = made(wantsNumber, { type: 'object', properties, additionalProperties: false })
    expect(read(schema, { n: '1', e: null, z: 0 })).toEqual({ ok: true, value: { n: 1, z: 0 } })
  })

  it('A schema library does not validate a valid value again', () => {
    const validate = vi.fn<(value: unknown) => StandardSchemaV1.SuccessResult<unknown>>(
      (value) => ({ value }),
    )
    expect(read(made(validate), { n: '1' })).toEqual({ ok: true, value: { n: '1' } })
    expect(validate).toHaveBeenCalledOnce()
  })

  it('A schema library does not validate a value again without coercions', () => {
    const validate = vi.fn<() => StandardSchemaV1.FailureResult>(() => ({
      issues: [{ message: 'no' }],
    }))
    expect(read(made(validate), { n: 1, z: 0 })).toMatchObject({ ok: false })
    expect(validate).toHaveBeenCalledOnce()
  })

  it('A schema library that throws or rejects causes a problem', async () => {
    const problem = { ok: false, problems: [{ path: '', message: 'cannot be checked: no' }] }
    const fail = (): never => {
      throw new Error('no')
    }
    expect(read(made(fail), { n: 1 })).toEqual(problem)
    await expect(
      read(
        made(async () => fail()),
        { n: 1 },
      ),
    ).resolves.toEqual(problem)
  })

  it('A schema library that rejects without a reason causes a problem', () => {
    expect(
      read(
        made(() => ({ issues: [] })),
        {},
      ),
    ).toEqual({
      ok: false,
      problems: [{ path: '', message: 'does not match its schema' }],
    })
  })

  it('A schema library can give paths as keys or segments, with any kind of key', () => {
    const path = ['a/b', { key: 0 }, Symbol('s')]
    const schema = made(() => ({ issues: [{ message: 'no', path }] }))
    expect(read(schema, {})).toEqual({
      ok: false,
      problems: [{ path: '/a~1b/0/Symbol(s)', message: 'no' }],
    })
  })

  it('A schema library with an unusable JSON Schema gets no coerced values', () => {
    const properties = { n: { type: 'integer' }, m: { pattern: '(' } }
    const broken = { type: 'object', properties }
    expect(read(made(wantsNumber, broken), { n: '1' })).toMatchObject({ ok: false })
    expect(read(made(wantsNumber, broken), { n: 1 })).toMatchObject({ ok: true })
  })

  it('A schema library decides on a value that is cyclic or too deep, without an error', async () => {
    interface Tree {
      next?: Tree | undefined
    }
    const tree: z.ZodType<Tree> = z.object({ next: z.lazy(() => tree).optional() })
    const schema = z.object({ tree, n: z.number() })
    const cyclic: Tree = {}
    cyclic.next = cyclic
    expect(read(schema, { tree: cyclic, n: '1' })).toHaveProperty('ok')
    let deep: Tree = {}
    for (let level = 0; level < 100_000; level++) deep = { next: deep }
    await expect(read(schema, { tree: deep, n: '1' })).resolves.toMatchObject({
      problems: [{ message: expect.stringMatching(/^cannot be checked: ./) }],
    })
  })

  it('A schema library does not modify the given value', () => {
    const value = Object.freeze({ city: 'Bonn', days: '3' })
    expect(read(inZod, value)).toMatchObject({ ok: true, value: { days: 3 } })
  })
})

describe('a schema is rejected at definition', () => {
  const define = (schema: unknown) => () =>
    createInputReader(schema as StandardToolSchema, { toolName: 'x' })

  it('A schema without JSON Schema is rejected at definition, with a remedy', () => {
    expect(define(v.object({}))).toThrow(
      new TypeError(
        'Cannot define tool "x": input is a schema of "valibot" without JSON Schema: wrap it with toStandardJsonSchema of @valibot/to-json-schema',
      ),
    )
    const other = { '~standard': { version: 1, vendor: 'other', validate: wantsNumber } }
    expect(define(other)).toThrow(
      /of "other" without JSON Schema: use a version of the library that/,
    )
  })

  it('A schema is rejected at definition when its library cannot convert it to JSON Schema, with the reason', () => {
    expect(define(z.object({ at: z.date() }))).toThrow(
      new TypeError(
        'Cannot define tool "x": input cannot be converted to JSON Schema: Date cannot be represented in JSON Schema',
      ),
    )
    expect(define(toStandardJsonSchema(v.object({ at: v.date() })))).toThrow(/"date" schema cannot/)
  })

  it('A schema is rejected at definition when it does not describe an object', () => {
    expect(define(z.string())).toThrow(/input must be a schema of an object such as Type\.Object/)
    expect(() => createOutputReader(z.string(), { toolName: 'x' })).not.toThrow()
    expect(
      define(z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])),
    ).not.toThrow()
  })
})

describe('isStandardSchema', () => {
  it('isStandardSchema distinguishes a Standard Schema from a JSON Schema', () => {
    expect([inZod, inValibot, inArkType].map(isStandardSchema)).toEqual([true, true, true])
    expect([{ type: 'object' }, null, undefined, 5, () => 1].some(isStandardSchema)).toBe(false)
  })
})
