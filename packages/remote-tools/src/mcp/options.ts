/** Which MCP server tools come from, and what is made of them. */
import { findChoiceProblems, findUnknownOptions, type OptionNames } from '@tutti/core'

import { resolveProgramOptions, type ResolvedProgramOptions } from '../process/options.ts'

import { networkGuard, type NetworkGuard, type NetworkGuardOptions } from '@tutti/net'

import type { Limiter, OutputCheck } from '@tutti/core'
import type { AuthProvider, Client, OAuthClientProvider } from '@modelcontextprotocol/client'
import type { ProgramOptions } from '../process/options.ts'

/** A server that is a program, spoken to over its stdin and stdout. */
export type McpProgram = Pick<
  ProgramOptions,
  'command' | 'args' | 'cwd' | 'env' | 'inheritEnv' | 'killGraceMs'
>

/** A server that is reached over streamable HTTP, or over SSE where it knows that only. */
export interface McpEndpoint {
  readonly url: string | URL
  /** Sent with each request, or a function that gives them for each. */
  readonly headers?: McpHeaders | (() => McpHeaders | Promise<McpHeaders>)
  /**
   * Authorizes requests: OAuth with an `OAuthClientProvider` of `@modelcontextprotocol/client`, or tokens of your
   * own with its `AuthProvider`. OAuth needs `guard` if the authorization server has another origin than `url`.
   */
  readonly authProvider?: OAuthClientProvider | AuthProvider
  /**
   * Keeps every request on the public internet, and on what it allows besides. @default the origin of `url` is
   * trusted; no request goes to another one
   */
  readonly guard?: NetworkGuard | NetworkGuardOptions
}

/** Headers by name. */
export type McpHeaders = Readonly<Record<string, string>>

/** A connection that its owner has made, and closes. */
export interface McpClient {
  readonly client: Client
}

/** Where the tools come from. */
export type McpServer = McpProgram | McpEndpoint | McpClient

/** What a server says of one of its tools, as far as it is asked for here. */
export interface McpToolFacts {
  readonly name: string
  /** What the server claims; a server that is not trusted may claim anything. */
  readonly annotations: {
    readonly readOnlyHint?: boolean | undefined
    readonly destructiveHint?: boolean | undefined
    readonly idempotentHint?: boolean | undefined
    readonly openWorldHint?: boolean | undefined
  }
}

/** What is made of the tools of a server. */
export interface McpToolsOptions {
  /** Put before each name, such as `github_`. @default nothing */
  readonly prefix?: string
  /** Tools that are taken, by the server's names. @default all */
  readonly include?: readonly string[]
  /** Tools that are left out, by the server's names. @default none */
  readonly exclude?: readonly string[]
  /**
   * Tools that need approval: all, those that do not claim to be harmless, or those that a function
   * says. @default none
   */
  readonly approve?: 'all' | 'destructive' | 'none' | ((tool: McpToolFacts) => boolean)
  /** Limit of one call in milliseconds. @default 30000 */
  readonly timeoutMs?: number
  /** Bounds the calls of all tools of the server together. */
  readonly limiter?: Limiter
  /** What a value that does not match the output schema of its tool means. @default warn */
  readonly outputCheck?: OutputCheck
  /** Time until the server is there and has said its tools, in milliseconds. @default 30000 */
  readonly connectTimeoutMs?: number
  /** Bytes of one message of a server over HTTP, at most; a longer one ends the connection. @default 10485760 */
  readonly maxMessageBytes?: number
  /** Told when the server says that its tools have changed; `refresh` gets them. */
  readonly onChange?: () => void
}

const TOOLS_OPTION_NAMES = {
  prefix: true,
  include: true,
  exclude: true,
  approve: true,
  timeoutMs: true,
  limiter: true,
  outputCheck: true,
  connectTimeoutMs: true,
  maxMessageBytes: true,
  onChange: true,
} as const satisfies OptionNames<McpToolsOptions>

const PROGRAM_NAMES = {
  command: true,
  args: true,
  cwd: true,
  env: true,
  inheritEnv: true,
  killGraceMs: true,
} as const satisfies OptionNames<McpProgram>

const ENDPOINT_NAMES = {
  url: true,
  headers: true,
  authProvider: true,
  guard: true,
} as const satisfies OptionNames<McpEndpoint>

/**
 * Checks the options of an import.
 *
 * @throws {TypeError} naming everything that does not fit.
 */
export function assertToolsOptions(options: McpToolsOptions): void {
  const { approve } = options
  const problems = [
    ...findUnknownOptions(options, TOOLS_OPTION_NAMES),
    ...(typeof approve === 'function'
      ? []
      : findChoiceProblems('approve', approve, ['all', 'destructive', 'none'])),
  ]
  if (problems.length === 0) return
  throw new TypeError(`Cannot import MCP tools: ${problems.join('; ')}`)
}

/** The place of a server, checked. */
export type ResolvedServer =
  | { readonly kind: 'program'; readonly program: ResolvedProgramOptions }
  | {
      readonly kind: 'endpoint'
      readonly url: URL
      readonly headers: McpEndpoint['headers']
      readonly authProvider: McpEndpoint['authProvider']
      readonly guard: NetworkGuard
    }
  | { readonly kind: 'client'; readonly client: Client }

/** Enough for a server that is fetched and compiled as it starts. */
export const DEFAULT_CONNECT_TIMEOUT_MS = 30_000

/** The limit that the protocol's own library has for programs. */
export const DEFAULT_MAX_MESSAGE_BYTES = 10_485_760

/** Reads where a server is. @throws {TypeError} naming everything that does not fit. */
export function resolveServer(server: McpServer): ResolvedServer {
  if ('client' in server) return { kind: 'client', client: server.client }
  if ('url' in server) {
    const unknown = findUnknownOptions(server, ENDPOINT_NAMES)
    if (unknown.length > 0) throw new TypeError(`Cannot import MCP tools: ${unknown.join('; ')}`)
    const url = URL.parse(String(server.url))
    if (url !== null && /^https?:$/.test(url.protocol)) {
      const { headers, authProvider } = server
      return { kind: 'endpoint', url, headers, authProvider, guard: guardOf(url, server) }
    }
    throw new TypeError('Cannot import MCP tools: url must be an http or https URL')
  }
  return {
    kind: 'program',
    program: resolveProgramOptions(
      { ...server, name: 'MCP server' },
      { ...PROGRAM_NAMES, name: true },
    ),
  }
}

/** The guard that was given, or one that trusts the origin that the author wrote. */
function guardOf({ hostname, port, protocol }: URL, { guard }: McpEndpoint): NetworkGuard {
  if (guard !== undefined) return 'assertUrl' in guard ? guard : networkGuard(guard)
  const known = port === '' ? (protocol === 'https:' ? '443' : '80') : port
  return networkGuard({ allow: [`${hostname}:${known}`] })
}

/** What a server is called in messages: the program, or the origin, which holds no secret. */
export function serverName(server: ResolvedServer): string {
  if (server.kind === 'program') return `"${server.program.command}"`
  return server.kind === 'endpoint' ? server.url.origin : 'of this client'
}
