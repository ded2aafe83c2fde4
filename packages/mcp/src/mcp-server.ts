/** Descriptions of MCP servers: a child process, an HTTP endpoint or a connected client. */
import { assertKnownOptions, definitionError, type OptionNames } from '@tutti/core/internal'
import {
  findHeaderProblems,
  findProcessProblems,
  guardAround,
  networkGuard,
  PROCESS_OPTION_NAMES,
  resolveProcessOptions,
  separateLogin,
  type NetworkGuard,
  type NetworkGuardOptions,
  type ProcessOptions,
  type ResolvedProcessOptions,
} from '@tutti/net/internal'

import type { AuthProvider, Client, OAuthClientProvider } from '@modelcontextprotocol/client'

/** A server that is a child process, reached over its stdin and stdout. Started without a shell. */
export type McpProgram = Omit<ProcessOptions, 'clock'>

/** A server that is reached over streamable HTTP, or over SSE if it supports only that. */
export interface McpEndpoint {
  readonly url: string | URL
  /** Headers of each request to the origin of `url`, or a function that returns them for each request. */
  readonly headers?: McpHeaders | (() => McpHeaders | Promise<McpHeaders>)
  /**
   * Authorizes requests: OAuth with an `OAuthClientProvider` of `@modelcontextprotocol/client`, or your own tokens with
   * its `AuthProvider`. OAuth needs `guard` if the authorization server has another origin than `url`.
   */
  readonly authProvider?: OAuthClientProvider | AuthProvider
  /**
   * Restricts requests to the public internet and to the hosts that it allows. @default the origin of `url` is trusted,
   * and requests to other origins are refused
   */
  readonly guard?: NetworkGuard | NetworkGuardOptions
}

/** Headers by name. */
export type McpHeaders = Readonly<Record<string, string>>

/** A client that the caller connects and closes. It answers questions of the server itself. */
export interface McpClient {
  readonly client: Client
}

/** An MCP server: a child process, an HTTP endpoint or a connected client. */
export type McpServer = McpProgram | McpEndpoint | McpClient

/** An {@link McpEndpoint} with its defaults. */
export interface ResolvedMcpEndpoint {
  readonly kind: 'endpoint'
  /** Name of the server in messages; contains no secrets. */
  readonly name: string
  /** URL without user name and password. */
  readonly url: URL
  readonly headers: NonNullable<McpEndpoint['headers']>
  readonly authProvider: McpEndpoint['authProvider']
  readonly guard: NetworkGuard
  /** Whether authorization may use other origins that the guard allows. */
  readonly mayLeaveOrigin: boolean
}

/** A valid {@link McpServer} with its defaults. */
export type ResolvedMcpServer =
  | ResolvedMcpEndpoint
  | { readonly kind: 'program'; readonly name: string; readonly program: ResolvedProcessOptions }
  | { readonly kind: 'client'; readonly name: string; readonly client: Client }

const { clock: _, ...PROGRAM_NAMES } = PROCESS_OPTION_NAMES

const ENDPOINT_NAMES = {
  url: true,
  headers: true,
  authProvider: true,
  guard: true,
} as const satisfies OptionNames<McpEndpoint>

const SUBJECT = 'Cannot use MCP server:'

/**
 * Checks the options of a server and fills in their defaults.
 *
 * @param network - hosts that are allowed in addition to the host of an endpoint without a `guard`
 * @throws {TypeError} naming every problem.
 */
export function resolveMcpServer(
  server: McpServer,
  network: NetworkGuardOptions = {},
): ResolvedMcpServer {
  if ('client' in server) return { kind: 'client', name: 'of this client', client: server.client }
  if ('url' in server) return resolveEndpoint(server, network)
  assertKnownOptions(SUBJECT, server, PROGRAM_NAMES)
  const problems = findProcessProblems(server)
  if (problems.length > 0) throw definitionError(`${SUBJECT} ${problems.join('; ')}`)
  const name = JSON.stringify(nameProgram(server))
  return { kind: 'program', name, program: resolveProcessOptions(server) }
}

/**
 * Returns the name of a program in messages: its file name, and that of its first argument unless it is a flag, because
 * the program may be `node`. Paths of this machine and later arguments, which may be secret, are omitted.
 */
function nameProgram({ command, args: [first] = [] }: McpProgram): string {
  const isNamed = first !== undefined && first !== '' && !first.startsWith('-')
  return isNamed ? `${basename(command)} ${basename(first)}` : basename(command)
}

function basename(path: string): string {
  return path.split(/[/\\]/).findLast((part) => part !== '') ?? path
}

function resolveEndpoint(server: McpEndpoint, network: NetworkGuardOptions): ResolvedMcpEndpoint {
  assertKnownOptions(SUBJECT, server, ENDPOINT_NAMES)
  const { headers = {}, authProvider } = server
  const given = URL.parse(String(server.url))
  if (given === null || !/^https?:$/.test(given.protocol)) {
    throw definitionError(`${SUBJECT} url must be an http or https URL`)
  }
  const problems = typeof headers === 'function' ? [] : findHeaderProblems(headers)
  if (problems.length > 0) throw definitionError(`${SUBJECT} ${problems.join('; ')}`)
  const { url, login } = separateLogin(given)
  return {
    kind: 'endpoint',
    name: url.origin,
    url,
    headers: login === undefined ? headers : withHeader(headers, login),
    authProvider,
    guard: resolveGuard(server.guard) ?? guardAround(url, network),
    mayLeaveOrigin: authProvider !== undefined && server.guard !== undefined,
  }
}

function withHeader(
  source: NonNullable<McpEndpoint['headers']>,
  authorization: string,
): NonNullable<McpEndpoint['headers']> {
  if (typeof source !== 'function') return { authorization, ...source }
  return async () => ({ authorization, ...(await source()) })
}

function resolveGuard(guard: McpEndpoint['guard']): NetworkGuard | undefined {
  return guard === undefined || 'assertUrl' in guard ? guard : networkGuard(guard)
}
