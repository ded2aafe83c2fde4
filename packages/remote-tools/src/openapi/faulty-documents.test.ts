/** Tests documents with faults: an operation works, or is skipped with the reason. */
import { runTool } from '@tutti/core'
import { scriptedReviewer } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { localServer } from '../../../../tooling/test-kit/local-server.ts'
import { openApiTools, type OpenApiTools } from './open-api-tools.ts'

import type { OpenApiToolsOptions } from './options.ts'

interface Operation {
  readonly path: string
  readonly parameters?: readonly unknown[]
  readonly requestBody?: unknown
}

function documentOf(
  { path, parameters = [], requestBody }: Operation,
  servers: readonly object[],
): unknown {
  const method = requestBody === undefined ? 'get' : 'post'
  const operation = { operationId: 'op', parameters, requestBody, responses: {} }
  return { openapi: '3.0.3', servers, paths: { [path]: { [method]: operation } } }
}

async function call({ tools, skipped }: OpenApiTools, input: object): Promise<string> {
  const [tool] = tools
  if (tool === undefined) throw new Error(JSON.stringify(skipped))
  const { result } = await runTool(tool, { id: 'c', name: 'op', arguments: JSON.stringify(input) })
  return result.success ? result.output : `failed: ${result.errorMessage}`
}

/** Calls the operation and returns the URL that the server got. */
async function requestOf(
  operation: Operation,
  {
    input = {},
    server = '',
    ...options
  }: OpenApiToolsOptions & { input?: object; server?: string },
): Promise<string> {
  const { origin } = await localServer((response, { url }) => response.end(url))
  await using api = openApiTools(documentOf(operation, [{ url: `${origin}${server}` }]), options)
  return await call(api, input)
}

const query = (name: string, schema: object = { type: 'string' }) => ({ name, in: 'query', schema })
const inPath = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'string' } })

describe('a path', () => {
  it.each([
    ['/t/{id}', [], { id: 'a b' }, '/t/a%20b'],
    ['/t/{id}/{part}', [inPath('part')], { id: '1', part: '2' }, '/t/1/2'],
    ['/t/{id}', [query('id')], { path_id: '1', query_id: '2' }, '/t/1?id=2'],
    ['/t/{id}.{format}', [], { id: '1', format: 'json' }, '/t/1.json'],
    ['/t?mode=full', [query('q')], { q: 'z' }, '/t?mode=full&q=z'],
    ['/t?mode=full', [query('q')], {}, '/t?mode=full'],
    ['/t?mode={mode}', [inPath('mode'), query('q')], { mode: 'a&b', q: 'z' }, '/t?mode=a%26b&q=z'],
    ['/t?', [query('q')], { q: 'z' }, '/t?q=z'],
    ['/t?mode=full&', [query('q')], { q: 'z' }, '/t?mode=full&q=z'],
    ['/t#part', [query('q')], { q: 'z' }, '/t?q=z'],
    ['/t?a=/x/{id}', [inPath('id')], { id: '..' }, '/t?a=/x/..'],
  ])('%s sends a URL that works', async (path, parameters, input, url) => {
    expect(await requestOf({ path, parameters }, { input })).toBe(url)
  })

  it('A path with a parameter that is not declared has a field for it, and a warning', () => {
    const api = openApiTools(documentOf({ path: '/t/{id}' }, [{ url: 'https://a.example' }]))
    expect(api.tools[0]?.inputSchema).toMatchObject({
      properties: { id: { type: 'string' } },
      required: ['id'],
    })
    expect(api.warnings).toEqual(['op: path parameter "id" is not declared; it is text'])
  })
})

describe('the URL of a server', () => {
  it.each([
    ['/v1?key=k', '/t', { q: 'z' }, '/v1/t?key=k&q=z'],
    ['/v1/?key=k', '/t', {}, '/v1/t?key=k'],
    ['?key=k', '/t?mode=full', { q: 'z' }, '/t?key=k&mode=full&q=z'],
    ['/v1#part', '/t', { q: 'z' }, '/v1/t?q=z'],
    ['/v1?', '/t', {}, '/v1/t'],
  ])('%s keeps its query', async (server, path, input, url) => {
    expect(await requestOf({ path, parameters: [query('q')] }, { input, server })).toBe(url)
  })

  it('The URL of a server keeps the query of `baseUrl`', async () => {
    const { origin } = await localServer((response, { url }) => response.end(url))
    const document = documentOf({ path: '/t', parameters: [query('q')] }, [])
    await using api = openApiTools(document, { baseUrl: `${origin}/v2?key=k` })
    expect(await call(api, { q: 'z' })).toBe('/v2/t?key=k&q=z')
  })

  it('The URL of a server does not show its query to a reviewer', async () => {
    const document = documentOf({ path: '/t' }, [{ url: 'https://a.example/v1?key=secret' }])
    const [tool] = openApiTools(document, { approve: 'all' }).tools
    if (tool === undefined) throw new Error('No tool')
    const reviewer = scriptedReviewer(['REJECT'])
    await runTool(tool, { id: 'c', name: 'op', arguments: '{}' }, { reviewer })
    expect(reviewer.requests[0]?.description).toBe('HTTP GET https://a.example/v1/t\nInput: {}')
  })
})

describe('a schema of a parameter', () => {
  it.each([
    [{ type: 'string', enum: [1, 2] }, '1', 'input/properties/q/enum'],
    [{ type: 'integer', enum: ['1', '2'] }, 1, 'input/properties/q/enum'],
    [{ type: 'string', pattern: '(?i)^x$' }, '1', 'input/properties/q/pattern'],
    [{ type: 'string', minLength: '5' }, '1', 'input/properties/q/minLength'],
    [{ type: 'integer', maximum: null }, 1, 'input/properties/q/maximum'],
    [{ type: 'string', enum: [] }, '1', 'input/properties/q/enum'],
    [{ anyOf: [] }, '1', 'input/properties/q/anyOf'],
    [{ type: 'string', required: true }, '1', 'input/properties/q/required'],
  ])('A parameter with the schema %j can be called, with a warning', async (schema, q, warning) => {
    const { origin } = await localServer((response, { url }) => response.end(url))
    const document = documentOf({ path: '/t', parameters: [query('q', schema)] }, [{ url: origin }])
    await using api = openApiTools(document)
    expect(await call(api, { q })).toBe('/t?q=1')
    expect(api.warnings).toEqual([expect.stringContaining(`op: ${warning} `)])
  })
})

describe('a version that is not supported', () => {
  it.each([
    [{ swagger: '2.0', paths: {} }, 'its version must be 3.0 or 3.1, got Swagger 2.0'],
    [{ openapi: '3.2.0', paths: {} }, 'its version must be 3.0 or 3.1, got "3.2.0"'],
    [{ openapi: '4.0', paths: {} }, 'its version must be 3.0 or 3.1, got "4.0"'],
    [{}, 'its version must be 3.0 or 3.1, got undefined'],
  ])('A version that is not supported is refused: %j', (document, message) => {
    expect(() => openApiTools(document)).toThrow(message)
  })
})

describe('an operation that cannot be used', () => {
  it.each([
    ['a parameter without a name', [{ in: 'query', schema: {} }], 'a parameter has no name'],
    [
      'a parameter at no place',
      [{ name: 'q', in: 'body' }],
      'must be in path, query, header or cookie',
    ],
    ['a missing reference', [{ $ref: '#/components/parameters/q' }], 'is not in the document'],
    [
      'a schema that is elsewhere',
      [query('q', { $ref: 'other.json#/a' })],
      'is in another document',
    ],
  ])('An operation that cannot be used because of %s is skipped alone', (_, parameters, reason) => {
    const paths = {
      '/bad': { get: { operationId: 'bad', parameters, responses: {} } },
      '/good': { get: { operationId: 'good', responses: {} } },
    }
    const api = openApiTools({ openapi: '3.1.0', servers: [{ url: 'https://a.example' }], paths })
    expect(api.tools.map(({ name }) => name)).toEqual(['good'])
    expect(api.skipped).toEqual([{ operation: 'bad', reason: expect.stringContaining(reason) }])
  })

  it.each([
    ['null', null],
    ['text', 'x'],
    ['a list', []],
  ])('An operation that cannot be used that is %s does not affect others', (_, bad) => {
    const paths = { '/bad': { get: bad }, '/worse': bad, '/good': { get: { operationId: 'good' } } }
    const api = openApiTools({ openapi: '3.1.0', servers: [{ url: 'https://a.example' }], paths })
    expect(api.tools.map(({ name }) => name)).toContain('good')
  })
})
