/** Which MCP server an agent is a tool of. */
import { readAgentUrl, shownUrl } from '../http/agent-url.ts'

import type { Client } from '@modelcontextprotocol/client'
import type { AgentHttpOptions } from '../http/agent-fetch.ts'

/** A server that is a program, spoken to over its stdin and stdout. It is started without a shell. */
export interface McpProgram {
  /** The program; found in PATH when it is no path. */
  readonly command: string
  readonly args?: readonly string[]
  /** Added to the few harmless variables that it gets of this process, such as PATH and HOME. */
  readonly env?: Readonly<Record<string, string>>
  /** @default the directory of this process */
  readonly cwd?: string
}

/** A server that is reached over streamable HTTP, or over SSE where it knows that only. */
export interface McpEndpoint {
  readonly url: string | URL
  /** Sent with each request, or a function that gives them for each. */
  readonly headers?: AgentHttpOptions['headers']
}

/** A connection that its owner has made, and closes; it answers questions of the server by itself. */
export interface McpClient {
  readonly client: Client
}

/** Where the tool is. */
export type McpServer = McpProgram | McpEndpoint | McpClient

/** The place of a server, checked. */
export type ResolvedMcpServer =
  | { readonly kind: 'program'; readonly program: McpProgram; readonly name: string }
  | {
      readonly kind: 'endpoint'
      readonly url: URL
      readonly http: AgentHttpOptions
      readonly name: string
    }
  | { readonly kind: 'client'; readonly client: Client; readonly name: string }

/**
 * Reads where a server is; `name` of the result is what it is called in messages, without secrets.
 *
 * @throws {TypeError} naming everything that does not fit.
 */
export function resolveMcpServer(
  server: McpServer,
  http: Omit<AgentHttpOptions, 'headers'> = {},
): ResolvedMcpServer {
  if ('client' in server) return { kind: 'client', client: server.client, name: 'of its client' }
  if ('url' in server) {
    const url = readAgentUrl(server.url, http)
    const { headers } = server
    const options = { ...http, ...(headers === undefined ? {} : { headers }) }
    return { kind: 'endpoint', url, http: options, name: shownUrl(url) }
  }
  const problems = programProblems(server)
  if (problems.length === 0) return { kind: 'program', program: server, name: server.command }
  throw new TypeError(`Cannot use MCP server: ${problems.join('; ')}`)
}

function programProblems(server: McpProgram): readonly string[] {
  const { command, args = [], cwd, env = {} } = server
  const texts: readonly (readonly [string, unknown])[] = [
    ...(cwd === undefined ? [] : [['cwd', cwd] as const]),
    ...args.map((arg, index) => [`args[${index}]`, arg] as const),
    ...Object.entries(env).map(([name, value]) => [`env.${name}`, value] as const),
  ]
  // Neither a path nor an argument nor a variable can hold it: the system would cut the text there.
  return [
    ...(typeof command === 'string' && command !== '' && !command.includes('\0')
      ? []
      : [`command must be the name or path of a program, got ${JSON.stringify(command)}`]),
    ...texts.flatMap(([name, text]) =>
      typeof text === 'string' && !text.includes('\0')
        ? []
        : [`${name} must be a text without NUL, got a ${typeof text}`],
    ),
  ]
}
