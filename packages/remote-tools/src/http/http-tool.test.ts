import { createToolMetrics, runTool, Type } from '@tutti/core'
import { scriptedReviewer } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { localServer, type Answer } from '../../../../tooling/test-kit/local-server.ts'
import { httpGetTool, httpPostTool, httpTool, type HttpTool } from './http-tool.ts'

import type { RunToolOptions } from '@tutti/core'

const ok: Answer = (response) => {
  response.end('fine')
}

async function call(tool: HttpTool<unknown, unknown>, input: unknown, options?: RunToolOptions) {
  const made = { id: 'call-1', name: tool.name, arguments: JSON.stringify(input) }
  const outcome = await runTool(tool, made, options)
  return outcome
}

describe('a text tool with GET', () => {
  it.each([
    ['/search', '/search?input=a+b%26c%3D%C3%A9'],
    ['/search?lang=en', '/search?lang=en&input=a+b%26c%3D%C3%A9'],
    ['/search?', '/search?input=a+b%26c%3D%C3%A9'],
    ['/search#top', '/search?input=a+b%26c%3D%C3%A9'],
  ])('A text tool with GET sends its input as a query parameter: %s', async (path, expected) => {
    const server = await localServer(ok)
    await using tool = httpGetTool('search', 'Searches', server.origin + path)
    const { result } = await call(tool, { input: 'a b&c=é' })
    expect(result.output).toBe('fine')
    expect(server.requests).toMatchObject([{ method: 'GET', url: expected, body: '' }])
    expect(server.requests[0]?.headers).not.toHaveProperty('content-type')
  })
})

describe('a text tool with another method', () => {
  it.each([
    ['{"a":1}', 'application/json'],
    [' [1, 2] ', 'application/json'],
    ['"text"', 'application/json'],
    ['123', 'application/json'],
    ['123 abc', 'text/plain; charset=UTF-8'],
    ['{"a":1} and more', 'text/plain; charset=UTF-8'],
    ['grüße', 'text/plain; charset=UTF-8'],
    ['', 'text/plain; charset=UTF-8'],
  ])(
    'A text tool with another method sends %j as the body with the content type %s',
    async (input, type) => {
      const server = await localServer(ok)
      await using tool = httpPostTool('classify', 'Sorts', `${server.origin}/classify`)
      await call(tool, { input })
      expect(server.requests).toMatchObject([
        { method: 'POST', url: '/classify', body: input, headers: { 'content-type': type } },
      ])
    },
  )

  it.each(['PUT', 'PATCH', 'DELETE', 'put'])(
    'A text tool with another method also sends the body with %s',
    async (method) => {
      const server = await localServer(ok)
      await using tool = httpTool({ name: 'a', description: 'A', url: server.origin, method })
      await call(tool, { input: 'text' })
      expect(server.requests).toMatchObject([
        { method: method.toUpperCase(), url: '/', body: 'text' },
      ])
    },
  )

  it('A text tool with another method prefers a configured content type in any case', async () => {
    const server = await localServer(ok)
    const headers = { 'cOnTeNt-TyPe': 'application/x-ndjson' }
    await using tool = httpTool({ name: 'a', description: 'A', url: server.origin, headers })
    await call(tool, { input: '{"a":1}' })
    expect(server.requests[0]?.headers['content-type']).toBe('application/x-ndjson')
  })
})

describe('the headers of a tool', () => {
  it('The headers of a tool can be created for each call from its context', async () => {
    const server = await localServer(ok)
    let count = 0
    await using tool = httpTool({
      name: 'a',
      description: 'A',
      url: server.origin,
      async headers({ callId, signal }) {
        count += 1
        await Promise.resolve(signal)
        return { Authorization: `Bearer ${count}`, 'X-Call': callId, 'Content-Type': 'text/x' }
      },
    })
    await call(tool, { input: 'x' })
    await call(tool, { input: 'x' })
    expect(server.requests).toMatchObject([
      { headers: { authorization: 'Bearer 1', 'x-call': 'call-1', 'content-type': 'text/x' } },
      { headers: { authorization: 'Bearer 2' } },
    ])
  })

  it('The headers of a tool are checked without quoting their values', async () => {
    await using tool = httpTool({
      name: 'a',
      description: 'A',
      url: 'http://127.0.0.1:9',
      headers: () => ({ authorization: 'secret\r\nx: y', 'content-length': '3' }),
    })
    const { result } = await call(tool, { input: 'x' })
    expect(result.errorMessage).toBe(
      'HTTP request failed: Cannot make a request: the value of the header "authorization" must be text without line breaks or control characters; the header "content-length" cannot be set: it is derived from the URL and the body',
    )
  })

  it('The headers of a tool carry the idempotency key of the call under the configured name', async () => {
    const server = await localServer(ok)
    const idempotencyKeyHeader = 'Idempotency-Key'
    const url = server.origin
    await using tool = httpTool({ name: 'a', description: 'A', url, idempotencyKeyHeader })
    await call(tool, { input: 'x' }, { idempotencyKey: 'run-1/pay' })
    expect(server.requests[0]?.headers['idempotency-key']).toBe('run-1/pay')
    expect(tool.idempotent).toBe(true)
  })
})

describe('an HTTP tool like every tool', () => {
  it('An HTTP tool shows the reviewer the request without its query, and accepts an edited input', async () => {
    const server = await localServer(ok)
    const reviewer = scriptedReviewer([{ action: 'EDIT', input: 'short' }, { action: 'REJECT' }])
    await using tool = httpTool({
      name: 'a',
      description: 'A',
      url: `${server.origin}/pay?key=secret`,
      requireApproval: true,
    })
    await call(tool, { input: 'x'.repeat(300) }, { reviewer })
    const rejected = await call(tool, { input: 'again' }, { reviewer })
    expect(reviewer.requests.map(({ description }) => description)).toEqual([
      `HTTP POST ${server.origin}/pay\nBody: ${'x'.repeat(200)}…`,
      `HTTP POST ${server.origin}/pay\nBody: again`,
    ])
    expect(server.requests.map(({ body }) => body)).toEqual(['short'])
    expect(rejected.result.success).toBe(false)
  })

  it('An HTTP tool fails with a configuration error when it needs approval without a reviewer', async () => {
    const url = 'http://127.0.0.1:9'
    await using tool = httpTool({ name: 'a', description: 'A', url, requireApproval: true })
    expect((await call(tool, { input: 'x' })).end).toBe('misconfigured')
  })

  it('An HTTP tool counts calls and limits concurrent ones', async () => {
    let running = 0
    let most = 0
    const server = await localServer(async (response) => {
      running += 1
      most = Math.max(most, running)
      while (running < 2 && server.requests.length < 6) {
        await new Promise((resolve) => setImmediate(resolve))
      }
      running -= 1
      response.statusCode = 418
      response.end()
    })
    const metrics = createToolMetrics()
    const url = server.origin
    await using tool = httpTool({ name: 'a', description: 'A', url, maxConcurrentCalls: 2 })
    await Promise.all(Array.from({ length: 6 }, () => call(tool, { input: 'x' }, { metrics })))
    expect(most).toBe(2)
    expect(metrics.snapshot()).toMatchObject([{ failure: 6 }])
  })

  it('An HTTP tool is idempotent according to its method, unless the author decides otherwise', () => {
    const of = (method: string, idempotent?: boolean): boolean =>
      httpTool({
        name: 'a',
        description: 'A',
        url: 'http://a.test',
        method,
        ...(idempotent === undefined ? {} : { idempotent }),
      }).idempotent
    expect(['GET', 'HEAD', 'PUT', 'DELETE'].map((method) => of(method))).toEqual(
      Array(4).fill(true),
    )
    expect(['POST', 'PATCH'].map((method) => of(method))).toEqual([false, false])
    expect([of('POST', true), of('GET', false)]).toEqual([true, false])
  })
})

describe('an invalid definition', () => {
  it('An invalid definition is rejected with every problem and no secret', () => {
    const define = (): unknown =>
      httpTool({
        name: 'a',
        description: 'A',
        url: 'ftp://me:secret@files.test/x?key=secret',
        method: 'CONNECT',
        headers: { 'bad name': 'x', Host: 'y', Authorization: 'sec\nret' },
        maxResponseBytes: 0,
        redirects: -1,
        retries: { max: 1.5, on: [200], firstDelayMs: -1, maxDelayMs: Number.NaN },
        idempotencyKeyHeader: 'a:b',
      })
    expect(define).toThrow(
      new TypeError(
        [
          'Cannot define HTTP tool "a": url must be an http or https URL, got "ftp://files.test/x"',
          'method must be an HTTP method, got "CONNECT"',
          '"bad name" is not a valid header name',
          'the header "Host" cannot be set: it is derived from the URL and the body',
          'the value of the header "Authorization" must be text without line breaks or control characters',
          '"a:b" is not a valid header name',
          'maxResponseBytes must be an integer >= 1, got 0',
          'redirects must be an integer >= 0, got -1',
          'retries.max must be an integer >= 0, got 1.5',
          "retries.on must be statuses from 400 to 599 or 'network', got 200",
          'retries.firstDelayMs must be >= 0, got -1',
          'retries.maxDelayMs must be >= 0, got NaN',
        ].join('; '),
      ),
    )
  })

  it('An invalid definition is rejected when its URL contains credentials', () => {
    const define = (): unknown => httpGetTool('a', 'A', 'https://me:secret@a.test/')
    expect(define).toThrow('url must not contain a user name or password: set a header')
  })

  it('An invalid definition is rejected when it would send a POST twice', () => {
    const options = { name: 'a', description: 'A', url: 'http://a.test', retries: { max: 1 } }
    expect(() => httpTool(options)).toThrow('retries would send a POST request twice')
    expect(() => httpTool({ ...options, idempotent: true })).not.toThrow()
    expect(() => httpTool({ ...options, method: 'PUT' })).not.toThrow()
  })

  it('An invalid definition is rejected when the model could choose the URL without a guard', () => {
    const input = Type.Object({ url: Type.String() })
    const options = { name: 'a', description: 'A', input }
    for (const url of ['{url}', 'https://{url}.a.test/', 'https://{url}/']) {
      expect(() => httpTool({ ...options, url })).toThrow('set guard')
      expect(() => httpTool({ ...options, url, guard: { allow: [] } })).not.toThrow()
    }
    expect(() => httpTool({ ...options, url: 'http://a.test:{url}', guard: {} })).toThrow(
      'url must be an http or https URL',
    )
  })
})
