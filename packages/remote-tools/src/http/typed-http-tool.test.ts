import { runTool, Type } from '@tutti/core'
import { describe, expect, it, onTestFinished } from 'vitest'

import { localServer, type Answer } from '../../../../tooling/test-kit/local-server.ts'
import { httpTool } from './http-tool.ts'

import type { HttpTool } from './http-tool.ts'
import type { HttpOptions } from './options.ts'
import type { RequestParts } from './request-parts.ts'

const input = Type.Object({
  id: Type.String(),
  tags: Type.Optional(Type.Array(Type.String())),
  note: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  filter: Type.Optional(Type.Object({ min: Type.Number() })),
})

const echo: Answer = (response, request) => {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(request))
}

async function sent(path: string, value: object, options: Partial<HttpOptions> = {}) {
  const server = await localServer(echo)
  const url = server.origin + path
  const tool = httpTool({ name: 'x', description: 'X', url, input, ...options })
  onTestFinished(() => tool.close())
  const { result } = await call(tool, value)
  return { result, request: server.requests[0] }
}

async function call<I, O>(tool: HttpTool<I, O>, value: unknown) {
  return runTool(tool, { id: 'c', name: tool.name, arguments: JSON.stringify(value) })
}

describe('the fields of a typed input', () => {
  it.each(['GET', 'HEAD', 'DELETE'])(
    'The fields of a typed input fill the path and the query of %s',
    async (method) => {
      const value = { id: 'a/b', tags: ['x y', 'z&'], note: null, filter: { min: 1 } }
      const { request } = await sent('/users/{id}?v=2', value, { method })
      expect(request).toMatchObject({
        method,
        url: '/users/a%2Fb?v=2&tags=x%20y&tags=z%26&filter=%7B%22min%22%3A1%7D',
        body: '',
      })
    },
  )

  it.each(['POST', 'PUT', 'PATCH'])(
    'The fields of a typed input fill the path and the JSON body of %s',
    async (method) => {
      const value = { id: '7', tags: ['x'], note: null }
      const { request } = await sent('/users/{id}', value, { method })
      expect(request).toMatchObject({
        method,
        url: '/users/7',
        headers: { 'content-type': 'application/json' },
      })
      expect(JSON.parse(request?.body ?? '')).toEqual({ tags: ['x'], note: null })
    },
  )

  it('The fields of a typed input are not sent when they are invalid', async () => {
    const wrong = await sent('/users/{id}', { tags: 'x' })
    expect(wrong.result.errorMessage).toMatch(/^Invalid input for "x": \/id is required/)
    const dots = await sent('/users/{id}', { id: '..' })
    expect(dots.result.errorMessage).toBe(
      'Invalid input for "x": id must not make the path segment ".."',
    )
    expect([wrong.request, dots.request]).toEqual([undefined, undefined])
  })
})

describe('a placeholder of the URL', () => {
  it('A placeholder of the URL must be a field of the input', () => {
    const options = { name: 'x', description: 'X', input }
    expect(() => httpTool({ ...options, url: 'http://a.test/{ids}/{tags}' })).toThrow(
      new TypeError(
        'Cannot define HTTP tool "x": url has the placeholder {ids}, but the input has no such field (did you mean {id}?)',
      ),
    )
    const open = Type.Object({}, { additionalProperties: true })
    expect(() => httpTool({ ...options, input: open, url: 'http://a.test/{ids}' })).not.toThrow()
  })

  it('A placeholder of the URL requires an input schema', () => {
    expect(() => httpTool({ name: 'x', description: 'X', url: 'http://a.test/{id}' })).toThrow(
      'url has placeholders ({id}), but the tool has no input schema',
    )
  })
})

it('An HTTP tool rejects unknown options together with every other problem', () => {
  const options = { name: 'x', description: 'X', url: 'http://a.test', redirect: 1, input }
  const retries = { max: -1, delayMs: 5 }
  expect(() => httpTool({ ...options, retries })).toThrow(
    'Cannot define HTTP tool "x": unknown option "redirect" (did you mean "redirects"?); ' +
      'unknown option "delayMs" of retries (known options: max, on, firstDelayMs, maxDelayMs); ' +
      'retries.max must be an integer >= 0, got -1',
  )
})

describe('the request function of the author', () => {
  it('The request function of the author fails the call when a part is unknown or a value has no placeholder', async () => {
    const request = (() => ({ path: { idd: 'a' }, quer: 'x' })) as () => RequestParts
    const tool = httpTool({
      name: 'x',
      description: 'X',
      url: 'http://a.test/{id}',
      input,
      request,
    })
    onTestFinished(() => tool.close())
    const { result } = await call(tool, { id: 'a' })
    expect(result.errorMessage).toBe(
      'Invalid input for "x": unknown option "quer" of the request (did you mean "query"?); ' +
        'unknown option "idd" of the path (did you mean "id"?)',
    )
  })

  async function made(parts: RequestParts, options: Partial<HttpOptions> = {}) {
    const server = await localServer(echo)
    const url = `${server.origin}/{id}`
    const tool = httpTool({
      name: 'x',
      description: 'X',
      url,
      input,
      request: ({ id }) => ({ path: { id }, ...parts }),
      ...options,
    })
    onTestFinished(() => tool.close())
    await call(tool, { id: 'a', note: 'left out' })
    return server.requests[0]
  }

  it("The author's request function determines the parts of the request", async () => {
    const request = await made({ query: { q: [1, true] }, headers: { 'X-Trace': 't' }, body: [1] })
    expect(request).toMatchObject({
      url: '/a?q=1&q=true',
      headers: { 'x-trace': 't', 'content-type': 'application/json' },
      body: '[1]',
    })
  })

  it('The request function of the author can return a complete query and body', async () => {
    const headers = { 'Content-Type': 'application/xml' }
    expect(await made({ query: 'a=%31', headers, body: '<a/>' })).toMatchObject({
      url: '/a?a=%31',
      headers: { 'content-type': 'application/xml' },
      body: '<a/>',
    })
    expect(await made({ body: new Uint8Array([65]) })).toMatchObject({
      headers: { 'content-type': 'application/octet-stream' },
      body: 'A',
    })
  })

  it("[REMOTE-C1] The author's request function cannot replace a header of the tool", async () => {
    const request = await made(
      { headers: { AUTHORIZATION: 'mine' } },
      { headers: { Authorization: 'Bearer t' } },
    )
    expect(request?.headers.authorization).toBe('Bearer t')
  })
})

describe('the output schema of a tool', () => {
  const output = Type.Object({ n: Type.Number() })

  async function answered(body: string, options: object = {}, type = 'application/json') {
    const server = await localServer((response) => {
      response.setHeader('content-type', type).end(body)
    })
    const url = server.origin
    const tool = httpTool({ name: 'x', description: 'X', url, input, output, ...options })
    onTestFinished(() => tool.close())
    return (await call(tool, { id: 'a' })).result
  }

  it('The output schema of a tool makes the JSON of the response the structured result', async () => {
    expect(await answered('{"n":1}')).toEqual({
      success: true,
      output: '{"n":1}',
      structured: { n: 1 },
    })
  })

  it('The output schema of a tool logs a warning for JSON that does not match, or fails the call', async () => {
    expect(await answered('{"n":null}')).toMatchObject({ success: true, structured: { n: null } })
    const strict = await answered('{"n":null}', { outputCheck: 'strict' })
    expect(strict.errorMessage).toMatch(/^Invalid output for "x": \/n/)
  })

  it('The output schema of a tool accepts a response that is not JSON as text, or fails the call', async () => {
    expect(await answered('hello', {}, 'text/plain')).toEqual({ success: true, output: 'hello' })
    const strict = await answered('hello', { outputCheck: 'strict' }, 'text/plain')
    expect(strict.errorMessage).toBe('HTTP 200: expected a JSON response, got text/plain')
    const long = await answered('[1,2,3]', { outputCheck: 'strict', maxResponseBytes: 3 })
    expect(long.errorMessage).toBe('HTTP 200: expected a JSON response, got over 3 bytes')
  })

  it('The output schema of a tool accepts the unchanged body when it is text', async () => {
    const result = await answered('hello', { output: Type.String() }, 'text/plain')
    expect(result).toEqual({ success: true, output: 'hello', structured: 'hello' })
  })
})
