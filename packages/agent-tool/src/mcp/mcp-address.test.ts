import { describe, expect, it } from 'vitest'

import { parseMcpAddress } from './mcp-address.ts'

const files = { command: 'files' }
const servers = { files, 'my.server': { url: 'https://my.test/mcp' }, mcp: { command: 'mcp' } }

/** Parses an address; a URL of a server is returned as text. */
function parsePlace(text: string, allowHttp = false): unknown {
  const { server, tool, uri } = parseMcpAddress(text, { servers, allowHttp })
  return { server: 'url' in server ? String(server.url) : server, tool, uri }
}

describe('parseMcpAddress', () => {
  it.each([
    ['mcp+https://a.test/mcp#echo', 'https://a.test/mcp', 'echo', 'mcp+https://a.test/mcp#echo'],
    ['MCP+HTTPS://a.test/mcp', 'https://a.test/mcp', undefined, 'mcp+https://a.test/mcp'],
    ['mcp+https://a.test#a%2Fb', 'https://a.test/', 'a/b', 'mcp+https://a.test/#a/b'],
    [
      'mcp+https://u:p@a.test/m?key=k#echo',
      'https://u:p@a.test/m?key=k',
      'echo',
      'mcp+https://a.test/m#echo',
    ],
    ['mcp+http://127.0.0.1:81/m#e', 'http://127.0.0.1:81/m', 'e', 'mcp+http://127.0.0.1:81/m#e'],
    ['mcp://a.test/echo', 'https://a.test/mcp', 'echo', 'mcp+https://a.test/mcp#echo'],
    ['mcp://a.test:82/v1/echo', 'https://a.test:82/v1', 'echo', 'mcp+https://a.test:82/v1#echo'],
    ['mcp://a.test/v1#echo', 'https://a.test/v1', 'echo', 'mcp+https://a.test/v1#echo'],
    ['mcp://a.test', 'https://a.test/mcp', undefined, 'mcp+https://a.test/mcp'],
    ['mcp://files/read', files, 'read', 'mcp://files/read'],
    ['files:read', files, 'read', 'files:read'],
    ['files://read', files, 'read', 'files:read'],
    ['files:', files, undefined, 'files:'],
    ['my.server:a%20b', 'https://my.test/mcp', 'a b', 'my.server:a%20b'],
    [
      'mcp+stdio:npx?arg=-y&arg=%40a/b&arg=c+d&cwd=/tmp#echo',
      { command: 'npx', args: ['-y', '@a/b', 'c+d'], cwd: '/tmp' },
      'echo',
      'mcp+stdio:npx#echo',
    ],
    [
      'mcp+stdio:/opt/my%20server?arg=',
      { command: '/opt/my server', args: [''] },
      undefined,
      'mcp+stdio:/opt/my%20server',
    ],
  ])('[AGENT-D1][AGENT-D2][AGENT-D3] parseMcpAddress parses %s', (text, server, tool, uri) => {
    expect(parsePlace(text)).toEqual({ server, tool, uri })
  })

  it.each([
    ['echo', /must be mcp\+https:\/\/host\/path#tool, /],
    [
      'other:echo',
      /no MCP server is registered as "other" \(registered are files, my\.server, mcp\)/,
    ],
    ['mcp+https:a.test#echo', /must be mcp\+https:\/\/host\/path#tool/],
    ['mcp+stdio:', /must be mcp\+stdio:command/],
    ['mcp+stdio:npx?env=a&shell=b', /"env" is neither arg nor cwd; "shell" is neither/],
    ['mcp+stdio:npx#50%', /two hexadecimal digits/],
    ['mcp:echo', /must be mcp:\/\/host\/tool/],
    ['toString:echo', /no MCP server is registered/],
  ])('parseMcpAddress rejects %s with a message that shows the expected form', (text, message) => {
    expect(() => parsePlace(text)).toThrow(TypeError)
    expect(() => parsePlace(text)).toThrow(message)
  })

  it('parseMcpAddress allows http only for this machine or with allowHttp', () => {
    expect(() => parsePlace('mcp+http://a.test/mcp#echo')).toThrow(/allowHttp/)
    expect(parsePlace('mcp+http://a.test/mcp#echo', true)).toMatchObject({
      server: 'http://a.test/mcp',
    })
  })

  it('parseMcpAddress omits secrets from its error messages', () => {
    const refused = (): unknown => parsePlace('other://user:hunter2@a.test/x?key=hunter2#echo')
    expect(refused).toThrow(TypeError)
    expect(refused).not.toThrow(/hunter2/)
  })
})
