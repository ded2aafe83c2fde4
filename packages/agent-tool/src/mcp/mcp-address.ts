/**
 * Parses addresses of MCP tools. Pure.
 *
 *   mcp+https://host/path#tool            a tool of a server at https://host/path
 *   mcp+http://127.0.0.1:8080/mcp#tool    the same without encryption, for this machine
 *   mcp+stdio:command?arg=a&arg=b#tool    of a child process, started without a shell; also `cwd=`
 *   mcp://host/path/tool                  short for mcp+https://host/path#tool; the path defaults to `/mcp`
 *   name:tool  name://tool                of a server that is registered by name
 *
 * AGENT-D1 The tool may be omitted, with its `#`, if the server has exactly one.
 * AGENT-D2 Commands, arguments and tool names are percent-encoded; `+` is a plus.
 * AGENT-D3 A registered name takes precedence over `mcp://`, and cannot be one of the other schemes.
 */
import { readAgentUrl, formatShownUrl } from '../http/agent-url.ts'

import type { McpServer } from '@tutti/mcp/internal'

/** A parsed address. */
export interface McpAddress {
  readonly server: McpServer
  /** The server's name of the tool; undefined for its only tool. */
  readonly tool: string | undefined
  /** The address without user, password, query and arguments. */
  readonly uri: string
}

/** Restrictions of addresses. */
export interface McpAddressOptions {
  /** Registered servers by name. @default none */
  readonly servers?: Readonly<Record<string, McpServer>>
  /** Whether `mcp+http:` may lead to another machine. @default false */
  readonly allowHttp?: boolean
}

/** Valid forms of addresses, for messages. */
const FORMS =
  'mcp+https://host/path#tool, mcp+stdio:command?arg=value#tool, mcp://host/tool or name:tool with a registered server'

/** Default path of servers. */
const DEFAULT_PATH = '/mcp'

/** @throws {TypeError} with the valid forms. */
export function parseMcpAddress(text: string, options: McpAddressOptions = {}): McpAddress {
  const scheme = /^([^:/?#]+):/.exec(text)?.[1]
  if (scheme === undefined) throw createAddressError(text, `must be ${FORMS}`)
  const rest = text.slice(scheme.length + 1)
  const address: Address = { text, rest, options }
  switch (scheme.toLowerCase()) {
    case 'mcp+https':
      return endpoint(address, 'https')
    case 'mcp+http':
      return endpoint(address, 'http')
    case 'mcp+stdio':
      return program(address)
    case 'mcp':
      return parseShortAddress(address)
    default:
      return parseRegisteredAddress(address, scheme)
  }
}

interface Address {
  readonly text: string
  /** Parses the part after the scheme and its colon. */
  readonly rest: string
  readonly options: McpAddressOptions
}

function endpoint({ text, rest, options }: Address, protocol: 'http' | 'https'): McpAddress {
  const [target, fragment] = splitOnce(rest, '#')
  if (!target.startsWith('//'))
    throw createAddressError(text, `must be mcp+${protocol}://host/path#tool`)
  const url = readAgentUrl(`${protocol}:${target}`, options)
  const tool = decodePart(text, fragment)
  return { server: { url }, tool, uri: `mcp+${formatShownUrl(url)}${hash(tool)}` }
}

function program({ text, rest }: Address): McpAddress {
  const [before, fragment] = splitOnce(rest, '#')
  const [target, query = ''] = splitOnce(before, '?')
  const command = decodePart(text, target) ?? ''
  if (command === '') throw createAddressError(text, 'must be mcp+stdio:command?arg=value#tool')
  const args: string[] = []
  const problems: string[] = []
  let cwd: string | undefined
  for (const pair of query.split('&').filter((part) => part !== '')) {
    const [name, value = ''] = splitOnce(pair, '=')
    if (name === 'arg') args.push(decodePart(text, value) ?? '')
    else if (name === 'cwd') cwd = decodePart(text, value)
    else problems.push(`"${name}" is neither arg nor cwd`)
  }
  if (problems.length > 0) throw createAddressError(text, problems.join('; '))
  const tool = decodePart(text, fragment)
  const server = { command, args, ...(cwd === undefined ? {} : { cwd }) }
  return { server, tool, uri: `mcp+stdio:${encodeURI(command)}${hash(tool)}` }
}

/** Parses `mcp://name/tool` of a registered server, else `mcp://host/path/tool`. */
function parseShortAddress(address: Address): McpAddress {
  const { text, rest, options } = address
  const [target, fragment] = splitOnce(rest, '#')
  const url = target.startsWith('//') ? URL.parse(`https:${target}`) : null
  if (url === null) throw createAddressError(text, 'must be mcp://host/tool')
  const cutAt = url.pathname.lastIndexOf('/')
  const last = url.pathname.slice(cutAt + 1)
  const server = findServer(url.hostname, options)
  if (server !== undefined && cutAt === 0 && url.port === '') {
    const tool = decodePart(text, fragment ?? last)
    return { server, tool, uri: `mcp://${url.hostname}/${encodeTool(tool)}` }
  }
  if (fragment !== undefined) {
    return endpoint({ ...address, rest }, 'https')
  }
  const tool = decodePart(text, last)
  const path = url.pathname.slice(0, cutAt)
  url.pathname = path === '' ? DEFAULT_PATH : path
  return { server: { url }, tool, uri: `mcp+${formatShownUrl(url)}${hash(tool)}` }
}

function parseRegisteredAddress({ text, rest, options }: Address, name: string): McpAddress {
  const server = findServer(name, options)
  if (server === undefined) {
    const known = Object.keys(options.servers ?? {})
    const registered = known.length === 0 ? 'none is' : `registered are ${known.join(', ')}`
    throw createAddressError(
      text,
      `no MCP server is registered as "${name}" (${registered}); must be ${FORMS}`,
    )
  }
  const tool = decodePart(text, rest.replace(/^\/\//, '').replace(/^#/, ''))
  return { server, tool, uri: `${name}:${encodeTool(tool)}` }
}

function findServer(name: string, { servers = {} }: McpAddressOptions): McpServer | undefined {
  return Object.hasOwn(servers, name) ? servers[name] : undefined
}

/** Splits a text at the first separator; the second part is undefined without one. */
function splitOnce(text: string, mark: string): readonly [string, string | undefined] {
  const at = text.indexOf(mark)
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

function decodePart(text: string, part: string | undefined): string | undefined {
  if (part === undefined || part === '') return undefined
  try {
    return decodeURIComponent(part)
  } catch {
    throw createAddressError(text, 'a % must be followed by two hexadecimal digits')
  }
}

function hash(tool: string | undefined): string {
  return tool === undefined ? '' : `#${encodeTool(tool)}`
}

function encodeTool(tool = ''): string {
  return encodeURIComponent(tool).replaceAll('%2F', '/')
}

/** Query and user are not shown, because they may be secret. */
function createAddressError(text: string, why: string): TypeError {
  const shown = text.replace(/\?[^#]*/, '').replace(/\/\/[^/@]*@/, '//')
  return new TypeError(`Cannot use MCP address ${JSON.stringify(shown.slice(0, 200))}: ${why}`)
}
