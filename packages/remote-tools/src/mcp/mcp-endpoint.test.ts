/** Tests redirects and message limits of an untrusted server over HTTP. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

import { runTool } from '@tutti/core'
import { describe, expect, it, onTestFinished } from 'vitest'

import { onBody } from '../../../../tooling/test-kit/on-body.ts'
import { mcpTools } from './mcp-tools.ts'

import type { AddressInfo } from 'node:net'
import type { McpEndpoint } from '@tutti/mcp/internal'
import type { McpToolsOptions } from './options.ts'

interface Asked {
  readonly id?: number
  readonly method: string
}

/** Response of a server to the call of its tool. */
type Answer = (asked: Asked, response: ServerResponse, request: IncomingMessage) => void

interface TestServer {
  readonly url: string
  readonly origin: string
  /** Requests with every method. */
  readonly requests: readonly IncomingMessage[]
}

/** Starts a server with one tool, `work`, on a free port. */
async function serverThat(answer: Answer): Promise<TestServer> {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    onBody(request, (body) => {
      if (request.method !== 'POST') return response.writeHead(405).end()
      const asked = JSON.parse(body) as Asked
      if (asked.id === undefined) return response.writeHead(202).end()
      if (asked.method === 'tools/call') return answer(asked, response, request)
      return json(response, { jsonrpc: '2.0', id: asked.id, ...answerTo(asked.method) })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  // NOTE: the address of a TCP server has this type.
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { origin, url: `${origin}/mcp`, requests }
}

function answerTo(method: string): object {
  if (method === 'tools/list') {
    return { result: { tools: [{ name: 'work', inputSchema: { type: 'object' } }] } }
  }
  if (method !== 'initialize') return { error: { code: -32_601, message: 'Method not found' } }
  const serverInfo = { name: 'test', version: '1' }
  return {
    result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo },
  }
}

function json(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function worked({ id }: Asked, said: string): object {
  return { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: said }] } }
}

/** Calls `work` and returns the outcome. */
async function work(
  server: McpEndpoint,
  options: McpToolsOptions = {},
): Promise<{ readonly output: string; again(): Promise<string> }> {
  const imported = await mcpTools(server, options)
  onTestFinished(() => imported.close())
  const [tool] = imported.tools
  if (tool === undefined) throw new Error('The server has no tool')
  const again = async (): Promise<string> => {
    const { result } = await runTool(tool, { id: 'c', name: 'work', arguments: '{}' })
    return result.success ? result.output : String(result.errorMessage)
  }
  return { output: await again(), again }
}

describe('a message of a server over HTTP', () => {
  it('A message of a server over HTTP is refused when it is longer than the limit, and the next call connects again', async () => {
    let calls = 0
    const { url, origin } = await serverThat((asked, response) => {
      calls += 1
      json(response, worked(asked, calls === 1 ? 'x'.repeat(5_000) : 'short'))
    })
    const { output, again } = await work({ url }, { maxMessageBytes: 2_000 })
    expect(output).toBe(
      `MCP call failed: MCP server ${origin} sent a message longer than 2000 bytes`,
    )
    expect(await again()).toBe('short')
  })

  it.each(['application/json', 'text/event-stream'])(
    'A message of a server over HTTP is not read beyond the limit when it never ends (%s)',
    async (contentType) => {
      const closed = Promise.withResolvers<number>()
      const { url } = await serverThat((_asked, response) => {
        let sent = 0
        response.writeHead(200, { 'content-type': contentType })
        response.write('data: "')
        const more = (): void => {
          do sent += 65_536
          while (response.write('x'.repeat(65_536)))
        }
        response.on('drain', more).on('close', () => closed.resolve(sent))
        more()
      })
      const { output } = await work({ url }, { maxMessageBytes: 1_000_000 })
      expect(output).toContain('sent a message longer than 1000000 bytes')
      expect(await closed.promise).toBeLessThan(20_000_000)
    },
  )

  it('A message of a server over HTTP is limited per event in a stream, which may be longer in total', async () => {
    const { url } = await serverThat((asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const params = { level: 'info', data: 'x'.repeat(500) }
      const note = { jsonrpc: '2.0', method: 'notifications/message', params }
      for (let n = 0; n < 50; n += 1) response.write(`data: ${JSON.stringify(note)}\n\n`)
      response.end(`data: ${JSON.stringify(worked(asked, 'done'))}\n\n`)
    })
    expect((await work({ url }, { maxMessageBytes: 1_000 })).output).toBe('done')
  })

  it('A message of a server over HTTP requires a positive limit', async () => {
    await expect(mcpTools({ url: 'http://127.0.0.1:1' }, { maxMessageBytes: 0 })).rejects.toThrow(
      'maxMessageBytes must be > 0, got 0',
    )
  })
})

describe('a redirect of a server over HTTP', () => {
  it('A redirect of a server over HTTP is followed within its origin, with the body and the headers', async () => {
    const { url, requests } = await serverThat((asked, response, request) => {
      if (request.url === '/mcp') response.writeHead(307, { location: '/moved' }).end()
      else json(response, worked(asked, `${request.url} ${String(request.headers['x-key'])}`))
    })
    expect((await work({ url, headers: { 'x-key': 'secret' } })).output).toBe('/moved secret')
    expect(requests.at(-1)?.headers['content-type']).toBe('application/json')
  })

  it('A redirect of a server over HTTP is refused to another port of its host', async () => {
    const inside = await serverThat((asked, response) => json(response, worked(asked, 'inside')))
    const { url, origin } = await serverThat((_asked, response) => {
      response.writeHead(307, { location: inside.url }).end()
    })
    const { output } = await work({ url, headers: { 'x-key': 'secret' } })
    expect(output).toContain(
      `Refused a redirect from ${origin}/mcp to another origin (${inside.origin})`,
    )
    expect(inside.requests).toEqual([])
  })

  it('A redirect of a server over HTTP is followed at most 5 times', async () => {
    let calls = 0
    const { url, origin } = await serverThat((_asked, response) => {
      calls += 1
      response.writeHead(308, { location: '/mcp' }).end()
    })
    expect((await work({ url })).output).toContain(
      `MCP server ${origin} sent an invalid response: more than 5 redirects`,
    )
    expect(calls).toBe(6)
  })
})

describe('the guard of a server over HTTP', () => {
  it('The guard of a server over HTTP refuses an address of this machine unless it is allowed', async () => {
    const { url, requests } = await serverThat((asked, response) =>
      json(response, worked(asked, 'inside')),
    )
    const named = url.replace('127.0.0.1', 'tools.example')
    const resolve = async (): Promise<readonly string[]> => ['127.0.0.1']
    for (const server of [
      { url, guard: {} },
      { url: named, guard: { resolve } },
    ]) {
      await expect(mcpTools(server)).rejects.toThrow(/Refused to connect/)
    }
    expect(requests).toEqual([])
    const guard = { resolve, allow: ['127.0.0.1'] }
    expect((await work({ url: named, guard })).output).toBe('inside')
  })
})
