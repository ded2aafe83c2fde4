import { describe, expect, it } from 'vitest'

import { localServer } from '../../../tooling/test-kit/local-server.ts'
import { EndpointLink } from './endpoint-link.ts'
import { IncomingMessages } from './incoming/incoming-messages.ts'
import { resolveMcpServer, type McpEndpoint } from './mcp-server.ts'
import { OpenCalls } from './open-calls.ts'

const authProvider = { token: () => Promise.resolve('t') }

function linkTo(endpoint: McpEndpoint): EndpointLink {
  const server = resolveMcpServer(endpoint)
  if (server.kind !== 'endpoint') throw new Error('not an endpoint')
  return new EndpointLink(server, {
    calls: new OpenCalls(),
    incoming: new IncomingMessages(() => true),
    maxMessageBytes: 1_000,
    alwaysListens: false,
  })
}

describe('[MCP-T6] a request to another origin', () => {
  it.each([
    ['without authorization', { guard: { allow: ['127.0.0.1'] } }],
    ['with authorization but no guard', { authProvider }],
  ])('A request to another origin is refused %s', async (_, more) => {
    const other = await localServer((response) => response.end())
    const link = linkTo({ url: 'http://127.0.0.1:9/mcp', ...more })
    await expect(link.fetch(other.origin)).rejects.toMatchObject({
      kind: 'configuration',
      message: expect.stringContaining(
        'Refused to send a request for http://127.0.0.1:9 to another',
      ),
    })
  })

  it('A request to another origin is sent for authorization if the guard allows it, without the headers of the author', async () => {
    const seen: unknown[] = []
    const other = await localServer((response, request) => {
      seen.push(request.headers['x-key'])
      response.end('metadata')
    })
    const endpoint = { url: 'http://127.0.0.1:9/mcp', headers: { 'x-key': 'secret' }, authProvider }
    const link = linkTo({ ...endpoint, guard: { allow: ['127.0.0.1'] } })
    expect(await (await link.fetch(other.origin)).text()).toBe('metadata')
    await expect(linkTo({ ...endpoint, guard: {} }).fetch(other.origin)).rejects.toThrow('Refused')
    expect(seen).toEqual([undefined])
  })
})

describe('the headers of an endpoint', () => {
  it('The headers of an endpoint contain the user name and password of its URL', async () => {
    const server = await localServer((response, request) =>
      response.end(request.headers.authorization),
    )
    const link = linkTo({ url: server.origin.replace('http://', 'http://ada:l%40ve@') })
    const response = await link.fetch(server.origin)
    expect(await response.text()).toBe(`Basic ${Buffer.from('ada:l@ve').toString('base64')}`)
  })

  it('The headers of an endpoint are refused without quoting an invalid value', () => {
    expect(() => linkTo({ url: 'http://a.test', headers: { 'x-key': 'top\nsecret' } })).toThrow(
      new TypeError(
        'Cannot use MCP server: the value of the header "x-key" must be text without line breaks or control characters',
      ),
    )
  })
})
