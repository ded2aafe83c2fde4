/** Tests lists of tools in which entries, schemas or cursors are wrong: the rest stays usable, and the wrong part is named. */
import { runTool } from '@tutti/core'
import { describe, expect, it, onTestFinished } from 'vitest'

import { scriptedHttpServer, type McpScript } from '../../test/servers/scripted-mcp.ts'
import { mcpTools, type McpTools } from './mcp-tools.ts'

const object = { type: 'object' }
const good = { name: 'good', inputSchema: object }

const result = (value: unknown): string =>
  `{"jsonrpc":"2.0","id":$ID,"result":${JSON.stringify(value)}}`

async function importFrom(script: McpScript): Promise<McpTools> {
  const server = await scriptedHttpServer(script)
  const imported = await mcpTools({ url: server.url })
  onTestFinished(async () => {
    await imported.close()
    await server[Symbol.asyncDispose]()
  })
  return imported
}

const importList = (tools: unknown): Promise<McpTools> =>
  importFrom({ 'tools/list': result({ tools }) })

const namesOf = ({ tools }: McpTools): readonly string[] => tools.map(({ name }) => name)

describe('an entry of a list of tools', () => {
  it.each([
    ['a schema without a type', { name: 'bad', inputSchema: {} }, 'the type "object", got none'],
    ['no schema', { name: 'bad' }, 'inputSchema must be an object, got undefined'],
    ['a schema that is null', { name: 'bad', inputSchema: null }, 'must be an object, got null'],
    ['a schema that is true', { name: 'bad', inputSchema: true }, 'must be an object, got true'],
    ['a schema that is text', { name: 'bad', inputSchema: '{}' }, 'must be an object, got {}'],
    ['a schema that is a list', { name: 'bad', inputSchema: [] }, 'must be an object, got []'],
    [
      'a list of types',
      { name: 'bad', inputSchema: { type: ['object', 'null'] } },
      'the type "object", got ["object","null"]',
    ],
    [
      'the schema of a text',
      { name: 'bad', inputSchema: { type: 'string' } },
      'the type "object", got string',
    ],
    [
      'properties that are null',
      { name: 'bad', inputSchema: { type: 'object', properties: null } },
      'properties that are an object, got null',
    ],
    [
      'properties that are a list',
      { name: 'bad', inputSchema: { type: 'object', properties: [] } },
      'properties that are an object, got []',
    ],
    [
      'a reference without a target',
      {
        name: 'bad',
        inputSchema: { type: 'object', properties: { a: { $ref: '#/$defs/missing' } } },
      },
      '/properties/a/$ref must lead to a schema',
    ],
    [
      'a very long schema',
      { name: 'bad', inputSchema: { type: 'object', description: 'x'.repeat(300_000) } },
      'inputSchema has 300034 characters; at most 200000',
    ],
    [
      'a task as its only form',
      { name: 'bad', inputSchema: object, execution: { taskSupport: 'required' } },
      'it can be called only as a task',
    ],
  ])('An entry of a list of tools with %s is skipped and named', async (_, bad, reason) => {
    const imported = await importList([bad, good])
    expect(namesOf(imported)).toEqual(['good'])
    expect(imported.skipped).toEqual([{ name: 'bad', reason: expect.stringContaining(reason) }])
  })

  it.each([
    ['null', null, 'it must be an object, got null'],
    ['text', 'bad', 'it must be an object, got bad'],
    ['a list', [], 'it must be an object, got []'],
    ['without a name', { inputSchema: object }, 'its name must be text, got undefined'],
    ['with an empty name', { name: '', inputSchema: object }, 'its name must be text, got '],
    ['with a number as its name', { name: 5, inputSchema: object }, 'its name must be text, got 5'],
  ])(
    'An entry of a list of tools that is %s is skipped by its position',
    async (_, bad, reason) => {
      const imported = await importList([good, bad])
      expect(namesOf(imported)).toEqual(['good'])
      expect(imported.skipped).toEqual([{ name: 'tool 2', reason }])
    },
  )

  it.each([
    ['a description that is a number', { description: 5 }, 'its description must be text, got 5'],
    ['a title that is a list', { title: [] }, 'its title must be text, got []'],
    ['annotations that are text', { annotations: 'x' }, 'its annotations must be an object, got x'],
    ['an execution that is true', { execution: true }, 'its execution must be an object, got true'],
    ['an output schema that is text', { outputSchema: 'x' }, 'its outputSchema must be an object'],
    [
      'an output schema with a broken reference',
      { outputSchema: { $ref: '#/$defs/a' } },
      'its outputSchema was dropped',
    ],
  ])('An entry of a list of tools with %s is used without it', async (_, more, warning) => {
    const imported = await importList([{ ...good, ...more }])
    expect(namesOf(imported)).toEqual(['good'])
    expect(imported.skipped).toEqual([])
    expect(imported.warnings).toEqual([expect.stringContaining(`good: ${warning}`)])
  })

  it.each([
    ['fields that are null', { title: null, description: null, annotations: null, _meta: null }],
    ['an output schema that is null', { outputSchema: null }],
    ['hints that are text', { annotations: { readOnlyHint: 'yes', title: 5 } }],
    ['icons that are wrong', { icons: [{ src: 5 }] }],
    ['unknown fields', { cost: 5, nested: { a: [] } }],
    ['a blank title and description', { title: ' ', description: '\n' }],
    [
      'the older form of a schema',
      { inputSchema: { ...object, $schema: 'http://json-schema.org/draft-07/schema#' } },
    ],
  ])('An entry of a list of tools with %s is used', async (_, more) => {
    const imported = await importList([{ ...good, ...more }])
    expect(namesOf(imported)).toEqual(['good'])
    expect([imported.skipped, imported.warnings]).toEqual([[], []])
    expect(imported.tools[0]?.description).toBe('good')
  })

  it('An entry of a list of tools that repeats a name is dropped with a warning', async () => {
    const imported = await importList([{ ...good, description: 'first' }, good, good])
    expect(imported.tools.map(({ description }) => description)).toEqual(['first'])
    expect(imported.warnings).toEqual([
      'good: the server lists it more than once; the first one is used',
    ])
  })

  it('An entry of a list of tools that is skipped is left out of `skipped` when it was not chosen', async () => {
    const server = await scriptedHttpServer({
      'tools/list': result({ tools: [{ name: 'bad' }, good] }),
    })
    const imported = await mcpTools({ url: server.url }, { exclude: ['bad'] })
    expect(imported.skipped).toEqual([])
    await imported.close()
    await server[Symbol.asyncDispose]()
  })
})

describe('a list of tools', () => {
  const page = (name: string, nextCursor?: unknown): string =>
    result({ tools: [{ name, inputSchema: object }], nextCursor })

  it.each([
    ['missing', undefined, []],
    ['null', null, []],
    ['empty', '', []],
    ['a number', 5, ['the list ends after page 1: its cursor must be text, got 5']],
    ['false', false, ['the list ends after page 1: its cursor must be text, got false']],
    ['an object', {}, ['the list ends after page 1: its cursor must be text, got {}']],
  ])('A list of tools ends at a cursor that is %s', async (_, cursor, warnings) => {
    const imported = await importFrom({ 'tools/list': [page('a', cursor), page('b')] })
    expect(namesOf(imported)).toEqual(['a'])
    expect(imported.warnings).toEqual(warnings)
  })

  it.each([
    ['the same cursor', ['n', 'n'], ['a', 'b'], 'after page 2: the server repeated the cursor n'],
    ['two cursors in turn', ['x', 'y', 'x'], ['a', 'b', 'c'], 'after page 3: the server repeated'],
  ])('A list of tools ends when the server repeats %s', async (_, cursors, names, warning) => {
    const pages = [...'abcdef'].map((name, index) => page(name, cursors[index] ?? 'more'))
    const imported = await importFrom({ 'tools/list': pages })
    expect(namesOf(imported)).toEqual(names)
    expect(imported.warnings).toEqual([expect.stringContaining(warning)])
  })

  it('A list of tools has a tool once when every page is the same', async () => {
    const imported = await importFrom({ 'tools/list': page('p', 'next') })
    expect(namesOf(imported)).toEqual(['p'])
  })

  it('A list of tools is read over several pages', async () => {
    const imported = await importFrom({ 'tools/list': [page('a', '1'), page('b', '2'), page('c')] })
    expect(namesOf(imported)).toEqual(['a', 'b', 'c'])
    expect(imported.warnings).toEqual([])
  })

  it('A list of tools is cut after 100 pages with a warning', async () => {
    const pages = Array.from({ length: 110 }, (_, index) => page(`t${index}`, `c${index}`))
    const imported = await importFrom({ 'tools/list': pages })
    expect(imported.tools).toHaveLength(100)
    expect(imported.warnings).toEqual(['the list was cut after 100 pages'])
  })

  it('A list of tools is cut after 5000 tools with a warning', { timeout: 60_000 }, async () => {
    const tools = Array.from({ length: 5_010 }, (_, index) => ({
      name: `t${index}`,
      inputSchema: object,
    }))
    const imported = await importList(tools)
    expect(imported.tools).toHaveLength(5_000)
    expect(imported.warnings).toEqual(['the list was cut after 5000 tools'])
  })

  it.each([
    ['an error', '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32603,"message":"broken"}}', 'broken'],
    ['a batch', '[{"jsonrpc":"2.0","id":$ID,"result":{"tools":[]}}]', 'is in a batch'],
    ['no list', result({ tools: null }), 'its list of tools must be a list, got null'],
  ])(
    'A list of tools keeps its first page when the second one is %s',
    async (_, second, reason) => {
      const imported = await importFrom({ 'tools/list': [page('a', 'next'), second] })
      expect(namesOf(imported)).toEqual(['a'])
      expect(imported.warnings).toEqual([expect.stringContaining(reason)])
    },
  )

  it.each([
    ['an error', '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32603,"message":"broken"}}', 'broken'],
    ['a batch', '[{"jsonrpc":"2.0","id":$ID,"result":{"tools":[]}}]', 'is in a batch'],
    ['null', result({ tools: null }), 'its list of tools must be a list, got null'],
    ['missing', result({}), 'its list of tools must be a list, got undefined'],
    ['an object', result({ tools: {} }), 'its list of tools must be a list, got {}'],
  ])('A list of tools that is %s fails the import with the reason', async (_, first, reason) => {
    await expect(importFrom({ 'tools/list': first })).rejects.toThrow(reason)
  })
})

describe('a schema of a tool', () => {
  it.each([
    ['an escaped slash', { type: 'string', pattern: '^https:\\/\\/' }, 'https://a', 'http://a'],
    ['an escaped colon', { type: 'string', pattern: '^https\\:\\/\\/' }, 'https://a', 'ftp'],
    ['an escaped underscore', { type: 'string', pattern: '^a\\_b$' }, 'a_b', 'ab'],
    ['a hyphen next to a set', { type: 'string', pattern: '^[\\w-\\.]+$' }, 'a-b.c', 'a b'],
    ['a literal brace', { type: 'string', pattern: '^{a}$' }, '{a}', 'a'],
  ])(
    'A schema of a tool with the expression of %s is read with it',
    async (_, schema, valid, invalid) => {
      const imported = await importList([
        { name: 'a', inputSchema: { type: 'object', properties: { x: schema }, required: ['x'] } },
      ])
      expect(imported.skipped).toEqual([])
      expect(imported.warnings).toEqual([])
      expect(await accepts(imported, valid)).toBe(true)
      expect(await accepts(imported, invalid)).toBe(false)
    },
  )

  it.each([
    ['an expression of Go', { type: 'string', pattern: '(?i)^x$' }, '/properties/x/pattern'],
    ['an expression of Python', { type: 'string', pattern: '^a\\Z' }, '/properties/x/pattern'],
    ['an expression that is not closed', { type: 'string', pattern: '[' }, '/properties/x/pattern'],
    ['an expression that is a number', { type: 'string', pattern: 5 }, '/properties/x/pattern'],
    ['a default that is null', { type: 'integer', default: null }, '/properties/x/default'],
    ['a default outside its enum', { enum: ['a', 'b'], default: 'c' }, '/properties/x/default'],
    ['a default of another type', { type: 'boolean', default: 'maybe' }, '/properties/x/default'],
    [
      'a default below its minimum',
      { type: 'integer', minimum: 1, default: 0 },
      '/properties/x/default',
    ],
    ['a length that is text', { type: 'string', minLength: '5' }, '/properties/x/minLength'],
    ['a limit that is null', { type: 'integer', maximum: null }, '/properties/x/maximum'],
    [
      'a boolean exclusive limit',
      { type: 'integer', exclusiveMinimum: true },
      '/properties/x/exclusiveMinimum',
    ],
    ['required that is true', { type: 'string', required: true }, '/properties/x/required'],
    ['an enum that is an object', { enum: { a: 1 } }, '/properties/x/enum'],
    ['an empty enum', { type: 'string', enum: [] }, '/properties/x/enum'],
    ['an empty union', { anyOf: [] }, '/properties/x/anyOf'],
    ['an enum of another type', { type: 'integer', enum: ['a', 'b'] }, '/properties/x/enum'],
    ['an unknown type', { type: 'str' }, '/properties/x/type'],
    ['a type that is null', { type: null }, '/properties/x/type'],
    ['items that are text', { type: 'array', items: 'string' }, '/properties/x/items'],
    ['a part that is text', 'string', '/properties/x'],
    [
      'nested properties that are null',
      { type: 'object', properties: null },
      '/properties/x/properties',
    ],
    ['a format that is a number', { type: 'string', format: 5 }, '/properties/x/format'],
    ['a union that is an object', { anyOf: {} }, '/properties/x/anyOf'],
    [
      'a name that is no expression',
      { type: 'object', patternProperties: { '[': { type: 'string' } } },
      '/properties/x/patternProperties/[',
    ],
  ])(
    'A schema of a tool with %s is used without it, with a warning that names the path',
    async (_, schema, path) => {
      const imported = await importList([
        { name: 'a', inputSchema: { type: 'object', properties: { x: schema } } },
      ])
      expect(namesOf(imported)).toEqual(['a'])
      expect(imported.warnings).toEqual([expect.stringContaining(`a: inputSchema${path} `)])
    },
  )

  it.each([
    ['numbers for text', { type: 'string', enum: [1, 2] }, '1', 3],
    ['text for numbers', { type: 'integer', enum: ['1', '2'] }, 1, 3],
    ['one value of another type', { type: 'string', enum: ['a', null] }, 'a', 'b'],
  ])(
    'A schema of a tool with an enum that has %s is read with the type of the schema',
    async (_, schema, valid, invalid) => {
      const imported = await importList([
        { name: 'a', inputSchema: { type: 'object', properties: { x: schema }, required: ['x'] } },
      ])
      expect(imported.warnings).toEqual([expect.stringContaining('/properties/x/enum')])
      expect(await accepts(imported, valid)).toBe(true)
      expect(await accepts(imported, invalid)).toBe(false)
    },
  )
})

/** Returns whether the first tool accepts a value for `x`; the server refuses the call itself. */
async function accepts({ tools }: McpTools, x: unknown): Promise<boolean> {
  const [tool] = tools
  if (tool === undefined) throw new Error('No tool')
  const { result: got } = await runTool(tool, {
    id: 'c',
    name: 'a',
    arguments: JSON.stringify({ x }),
  })
  return got.errorMessage?.includes('Method not found') === true
}
