import { toStandardSchema, Type } from '@tutti/core'
import type { ToolSchema } from '@tutti/core/internal'
import { describe, expect, it } from 'vitest'

import {
  createCorrectionRequest,
  findJsonFault,
  renderOutputInstructions,
  compileOutputReader,
  type OutputReading,
} from './structured-output.ts'

const Report = Type.Object(
  {
    title: Type.String(),
    pages: Type.Integer({ minimum: 1, default: 1 }),
    tags: Type.Optional(Type.Array(Type.String())),
  },
  { title: 'Weather Report, 2nd' },
)

function read(schema: ToolSchema, text: string): Promise<OutputReading<unknown>> {
  return compileOutputReader(schema).read(text)
}

async function readProblem(schema: ToolSchema, text: string): Promise<string> {
  const reading = await read(schema, text)
  return reading.ok ? `none: ${JSON.stringify(reading.value)}` : reading.problem
}

/** Returns a Standard Schema that converts values with `transform`. */
function transformed(transform: (value: unknown) => unknown): ToolSchema {
  const input = (): Record<string, unknown> => ({ type: 'object' })
  return {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => Promise.resolve({ value: transform(value) }),
      jsonSchema: { input, output: input },
    },
  }
}

describe('the reader of an answer', () => {
  it('[ENS-O1] The reader of an answer parses it like the input of a tool', async () => {
    expect(await read(Report, '{"title":"a","pages":"2","tags":"x","z":0}')).toEqual({
      ok: true,
      value: { title: 'a', pages: 2, tags: ['x'] },
    })
    expect(await read(Report, '{"title":"a"}')).toEqual({
      ok: true,
      value: { title: 'a', pages: 1 },
    })
  })

  it('[ENS-O1] The reader of an answer reports every problem with its path, the expected value and the actual one', async () => {
    expect(await readProblem(Report, '{"pages":0,"tags":[1,{}]}')).toBe(
      'Answer does not match its schema: /title is required; /pages must be >= 1, got 0; ' +
        '/tags/0 must be a string, got 1; /tags/1 must be a string, got {}',
    )
    expect(await readProblem(Report, '[1]')).toBe(
      'Answer does not match its schema: answer must be an object, got [1]',
    )
  })

  it('[ENS-O1] The reader of an answer accepts schemas of libraries that implement Standard Schema', async () => {
    const schema = toStandardSchema(Report)
    expect(await read(schema, 'So: {"title":"a","pages":"3"}')).toEqual({
      ok: true,
      value: { title: 'a', pages: 3 },
    })
    expect(await readProblem(schema, '{}')).toMatch('/title')
  })

  it('[ENS-O2] The reader of an answer uses the first piece of JSON that matches', async () => {
    const text = 'As [1] says, with {"pages":5}: {"title":"a"} or {"title":"b"}'
    expect(await read(Report, text)).toMatchObject({ ok: true, value: { title: 'a' } })
    const fences = '```\n{"title":"a"}\n```\n```\n{"title":"b"}\n```\n```\n{"pages":3}\n```'
    expect(await read(Report, fences)).toMatchObject({ ok: true, value: { title: 'b' } })
  })

  it('[ENS-O3] The reader of an answer reports malformed JSON and uses no part of it', async () => {
    const List = Type.Array(Type.Object({ id: Type.Integer() }))
    for (const text of [
      '[{"id":1,},{"id":2}]',
      '```json\n[{"id":1},{"id":2',
      '[{"id":1},{"id":2}',
    ]) {
      expect(await readProblem(List, text)).toMatch(/^Answer is not JSON: .*JSON/)
    }
  })

  it('The reader of an answer reports an answer without JSON, with its start', async () => {
    expect(await readProblem(Report, '\n I cannot do that.')).toBe(
      'Answer has no JSON, got "I cannot do that."',
    )
    expect((await readProblem(Report, 'no '.repeat(10_000))).length).toBeLessThan(200)
    expect(await readProblem(Report, '')).toBe('Answer has no JSON, got ""')
  })

  it.each<[ToolSchema, string, unknown]>([
    [Type.String(), ' Paris\n', 'Paris'],
    [Type.String(), '"Paris"', 'Paris'],
    [Type.String(), '42', '42'],
    [Type.String(), 'See [1] and {"a":1}', 'See [1] and {"a":1}'],
    [Type.Union([Type.Literal('yes'), Type.Literal('no')]), 'yes', 'yes'],
    [Type.Integer(), '42', 42],
    [Type.Integer(), '"42"', 42],
    [Type.Boolean(), 'true', true],
    [Type.Union([Report, Type.Null()]), 'null', null],
    [Type.Integer(), 'It is\n```\n42\n```', 42],
  ])(
    '[ENS-O4] The reader of an answer uses the whole answer as a scalar (%#)',
    async (schema, text, value) => {
      expect(await read(schema, text)).toEqual({ ok: true, value })
    },
  )

  it('[ENS-O4] The reader of an answer does not use prose as a list of one text or as an unknown value', async () => {
    expect(await readProblem(Type.Array(Type.String()), 'Sorry')).toMatch('Answer has no JSON, got')
    expect(await readProblem(Type.Unknown(), 'Sorry')).toMatch('Answer has no JSON, got')
    expect(await readProblem(Type.Integer(), 'It is 42')).toBe(
      'Answer does not match its schema: answer must be an integer, got "It is 42"',
    )
  })

  it('[ENS-O5] The reader of an answer reports the problem of the longest of several pieces that do not match', async () => {
    const text = 'As [1] says: {"title":"a","pages":"many"}, or {"pages":2}'
    expect(await readProblem(Report, text)).toMatch('/pages must be an integer, got "many"')
    expect(await readProblem(Report, 'As [1] says: {"title":"a",}')).toMatch('is not JSON')
    expect(await readProblem(Report, 'As [1,] says: {"title":5,"pages":0}')).toMatch('/pages')
  })

  it('[ENS-O6] The reader of an answer throws CONFIG_INVALID if the schema converts the value to something other than JSON', async () => {
    const dated = transformed(() => ({ when: new Date(0) }))
    await expect(read(dated, '{}')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'Cannot use output schema "output": it must produce JSON, but /when is a Date',
    })
    expect(
      await read(
        transformed(() => [1]),
        '{}',
      ),
    ).toEqual({ ok: true, value: [1] })
  })

  it('The reader of an answer reads or rejects an answer of any depth without throwing', async () => {
    const depth = 200_000
    const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`
    for (const schema of [Type.Unknown(), Report, Type.String(), transformed((value) => value)]) {
      expect(typeof (await read(schema, deep)).ok).toBe('boolean')
    }
    expect(await readProblem(Type.Unknown(), deep)).toMatch(
      'JSON must be nested at most 1000 deep, got 200000',
    )
  })
})

describe('readValue', () => {
  it('readValue parses a value in the same way', async () => {
    const { readValue } = compileOutputReader(Report)
    expect(await readValue({ title: 'a', pages: '2', z: 0 })).toEqual({
      ok: true,
      value: { title: 'a', pages: 2 },
    })
    expect(await readValue({ title: 5 })).toMatchObject({
      ok: false,
      problem: 'Answer does not match its schema: /title must be a string, got 5',
    })
    await expect(compileOutputReader(transformed(() => 1n)).readValue({})).rejects.toThrow(
      'is a bigint',
    )
  })
})

describe('compileOutputReader', () => {
  it("compileOutputReader has the author's own schema and a name that providers accept", () => {
    expect(compileOutputReader(Report)).toMatchObject({ name: 'weather_report_2nd' })
    expect(compileOutputReader(Report).schema).toBe(Report)
    expect(compileOutputReader(Type.Object({})).name).toBe('output')
    expect(compileOutputReader(Type.Object({}, { title: 'Zürich – ü' })).name).toBe('z_rich')
    expect(compileOutputReader(Type.Object({}, { title: '…' })).name).toBe('output')
    expect(compileOutputReader(Type.Object({}, { title: 'a'.repeat(100) })).name).toHaveLength(64)
  })

  it('compileOutputReader rejects an invalid schema with all its problems', () => {
    const broken = Type.Object({
      a: Type.Integer({ default: 'x' }),
      b: Type.String({ default: 1 }),
    })
    expect(() => compileOutputReader(broken)).toThrow(TypeError)
    expect(() => compileOutputReader(broken)).toThrow(
      /^Cannot use output schema: \/properties\/a\/default .*; \/properties\/b\/default /,
    )
  })
})

describe('[ENS-O7] the model receives', () => {
  it('The model receives the schema in one line, without the name of its dialect', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { $schema: { type: 'string' } },
    }
    const lines = renderOutputInstructions(schema).split('\n')
    expect(lines.at(-1)).toBe('{"type":"object","properties":{"$schema":{"type":"string"}}}')
    expect(lines.join('\n')).toMatch(/one JSON value only.*no code fence/)
    expect(renderOutputInstructions(Report)).toContain(JSON.stringify(Report))
    expect(renderOutputInstructions(Report)).not.toContain('~')
  })

  it('The model receives the problem of its answer, and the number of the correction', () => {
    const problem = 'Answer does not match its schema: /a is required'
    const first = createCorrectionRequest(problem, { attempt: 1, maxAttempts: 3 })
    expect(first).toContain(`${problem}.\n`)
    expect(first).toMatch(/one JSON value only.*no code fence/)
    expect(first).toContain('This is correction 1 of 3.')
    expect(createCorrectionRequest(problem, { attempt: 3, maxAttempts: 3 })).toContain(
      'This is the last of 3 corrections.',
    )
  })
})

describe('findJsonFault', () => {
  it.each([
    [null],
    ['x'],
    [0],
    [false],
    [[1, [null]]],
    [{ a: { b: [{}] }, c: undefined }],
    [Object.assign(Object.create(null), { a: 1 })],
    [JSON.parse('{"__proto__":{"a":1}}')],
  ])('findJsonFault returns undefined for JSON: %j', (value) => {
    expect(findJsonFault(value)).toBeUndefined()
  })

  it.each<[unknown, string]>([
    [undefined, 'the value is undefined'],
    [NaN, 'the value is NaN'],
    [{ a: [1, Infinity] }, '/a/1 is Infinity'],
    [[undefined], '/0 is undefined'],
    [{ when: new Date(0) }, '/when is a Date'],
    [{ a: { b: new Map() } }, '/a/b is a Map'],
    [5n, 'the value is a bigint'],
    [{ f: () => 1 }, '/f is a function'],
    [{ u: new URL('http://a') }, '/u is a URL'],
    [
      new (class Report {
        readonly title = 'x'
      })(),
      'the value is an object of a class',
    ],
  ])(
    'findJsonFault returns the path and the kind of a value that is not JSON (%#)',
    (value, fault) => {
      expect(findJsonFault(value)).toBe(fault)
    },
  )

  it('findJsonFault throws a RangeError for a value that contains itself', () => {
    const value: Record<string, unknown> = {}
    value['self'] = value
    expect(() => findJsonFault(value)).toThrow(RangeError)
  })
})
