import { runTool, Type } from '@tutti/core'
import { networkGuard } from '@tutti/net/internal'
import { describe, expect, it, onTestFinished } from 'vitest'

import { localServer } from '../../../../tooling/test-kit/local-server.ts'
import { httpTool } from './http-tool.ts'

import type { HttpTool } from './http-tool.ts'
import type { HttpOptions } from './options.ts'

function call<I, O>(tool: HttpTool<I, O>, input: object = { input: 'i' }) {
  return runTool(tool, { id: 'c', name: tool.name, arguments: JSON.stringify(input) })
}

function toolFor(url: string, options: Partial<HttpOptions> = {}): HttpTool<string> {
  const tool = httpTool({ name: 'x', description: 'X', url, ...options })
  onTestFinished(() => tool.close())
  return tool
}

describe('the connections of a tool', () => {
  it('The connections of a tool are opened by the first call and reused by the next', async () => {
    const server = await localServer((response) => response.end('fine'))
    const tool = toolFor(server.origin)
    expect(server.connections).toBe(0)
    for (let count = 0; count < 5; count += 1) {
      await call(tool)
    }
    expect(server.requests).toHaveLength(5)
    expect(server.connections).toBe(1)
  })

  it('The connections of a tool are closed with the tool: calls in flight and later calls fail', async () => {
    const arrived = Promise.withResolvers<void>()
    const server = await localServer(() => {
      arrived.resolve()
    })
    const tool = toolFor(server.origin)
    const calling = call(tool)
    await arrived.promise
    await tool[Symbol.asyncDispose]()
    const message = `HTTP request failed: the tool is closed (${server.origin})`
    expect((await calling).result.errorMessage).toBe(message)
    expect((await call(tool)).result.errorMessage).toBe(message)
    await server.allClosed()
    await tool.close()
  })

  it('The connections of a tool can be closed before the first call', async () => {
    const tool = toolFor('http://127.0.0.1:9')
    await tool.close()
    expect((await call(tool)).result.errorMessage).toMatch(/the tool is closed/)
  })
})

describe('the redirects of a tool', () => {
  async function chain() {
    const server = await localServer((response, { url }) => {
      const next = Number(url.slice(1)) - 1
      if (next < 0) response.end('there')
      else response.writeHead(307, { location: `/${next}` }).end()
    })
    return server
  }

  it('The redirects of a tool are followed as often as allowed, with method, body and headers', async () => {
    const server = await chain()
    const headers = { authorization: 'Bearer t' }
    const tool = toolFor(`${server.origin}/2`, { redirects: 2, headers })
    expect((await call(tool, { input: 'body' })).result.output).toBe('there')
    expect(server.requests.map(({ method, url, body }) => `${method} ${url} ${body}`)).toEqual([
      'POST /2 body',
      'POST /1 body',
      'POST /0 body',
    ])
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(
      Array(3).fill('Bearer t'),
    )
    const fewer = toolFor(`${server.origin}/2`, { redirects: 1 })
    expect((await call(fewer)).result.errorMessage).toMatch(/more than 1 redirects/)
  })

  it('The redirects of a tool are guarded even if the first request is trusted', async () => {
    const secret = await localServer((response) => response.end('secret'))
    const server = await localServer((response) => {
      response.writeHead(302, { location: `${secret.origin}/admin` }).end()
    })
    const tool = toolFor(server.origin, { redirects: 1 })
    const { result } = await call(tool)
    expect(result.errorMessage).toMatch(/^HTTP request failed: Refused to connect to port \d+/)
    expect(secret.requests).toEqual([])
  })
})

describe('the guard of a tool', () => {
  const input = Type.Object({ url: Type.String() })

  it('The guard of a tool checks the URL when the model chooses where the request goes', async () => {
    const server = await localServer((response) => response.end('fine'))
    await using open = httpTool({
      name: 'x',
      description: 'X',
      url: '{url}',
      method: 'GET',
      input,
      guard: { allow: [`127.0.0.1:${server.port}`] },
    })
    await using shut = httpTool({ name: 'x', description: 'X', url: '{url}', input, guard: {} })
    expect((await call(open, { url: `${server.origin}/a?b` })).result.output).toBe('fine')
    const refused = (await call(shut, { url: server.origin })).result
    expect(refused.errorMessage).toMatch(
      /^HTTP request failed: Refused to connect to "127\.0\.0\.1"/,
    )
    expect(server.requests).toHaveLength(1)
  })

  it('The guard of a tool resolves names itself, so a name cannot lead inside', async () => {
    const server = await localServer((response) => response.end('fine'))
    const guard = networkGuard({ resolve: () => Promise.resolve(['127.0.0.1']) })
    await using tool = httpTool({ name: 'x', description: 'X', url: '{url}', input, guard })
    const url = `http://inside.test:${server.port}/`
    const { result } = await call(tool, { url })
    expect(result.errorMessage).toMatch(/it resolves to 127\.0\.0\.1/)
    expect(server.connections).toBe(0)
  })

  it('The guard of a tool also checks a fixed URL when it is configured', async () => {
    const server = await localServer((response) => response.end('fine'))
    const tool = toolFor(server.origin, { guard: {} })
    expect((await call(tool)).result.errorMessage).toMatch(/Refused to connect/)
  })

  it('The guard of a tool allows the URL of the author by default', async () => {
    const server = await localServer((response) => response.end('fine'))
    const tool = toolFor(`http://localhost:${server.port}`)
    expect((await call(tool)).result.output).toBe('fine')
  })
})
