/**
 * The connection to one MCP server. The first call opens it, and all calls share it.
 *
 * MCP-M1 The first call after the server has ended connects again; other calls wait for that connection. Connecting
 *    stops when no call waits for it.
 * MCP-M2 An HTTP server that no longer knows the session has not run the call, so the call is repeated once in a new
 *    session. No other call is repeated.
 * MCP-M3 A call that is in flight when the server ends fails with the way in which the server ended.
 * MCP-M4 A server that is a child process keeps this process alive only while calls are in flight.
 */
import { McpError, toMcpError } from './mcp-error.ts'
import {
  openMcpServer,
  StartFailure,
  type McpOpenOptions,
  type OpenMcpServer,
} from './open-server.ts'
import { raceAbort } from './race-abort.ts'
import { readToolList, type McpToolList } from './tool-list.ts'

import type { ResolvedMcpServer } from './mcp-server.ts'

/** Default maximum time until a server is ready, in milliseconds; enough to download and compile it at the start. */
export const DEFAULT_MCP_CONNECT_TIMEOUT_MS = 30_000

/** Default maximum size of one message, in bytes; the SDK has the same limit for child processes. */
export const DEFAULT_MAX_MCP_MESSAGE_BYTES = 10_485_760

interface Opening {
  readonly server: Promise<OpenMcpServer>
  readonly abandoned: AbortController
  waiting: number
  isOpen: boolean
}

/** A connection that opens with its first call. */
export class McpConnection implements AsyncDisposable {
  readonly #server: ResolvedMcpServer
  readonly #options: McpOpenOptions
  #opening: Opening | undefined
  #isClosed = false

  constructor(server: ResolvedMcpServer, options: McpOpenOptions) {
    this.#server = server
    this.#options = options
  }

  /** Name of the server in messages. */
  get name(): string {
    return this.#server.name
  }

  /**
   * Lists the tools of the server. The list is cached until the server reports a change; `refresh` reads it again.
   *
   * @throws {McpError} when the server does not respond.
   */
  listTools({
    signal,
    refresh = false,
  }: { readonly signal?: AbortSignal; readonly refresh?: boolean } = {}): Promise<McpToolList> {
    return this.use(signal, (open) => {
      if (refresh) open.tools = undefined
      return raceAbort(this.#toolsOf(open), signal)
    })
  }

  /**
   * Runs `work` with an open connection, which is opened if necessary.
   *
   * @throws {McpError} naming the server.
   * @throws the reason of `signal` when it aborts.
   */
  async use<T>(
    signal: AbortSignal | undefined,
    work: (open: OpenMcpServer) => Promise<T>,
  ): Promise<T> {
    const first = await this.#open(signal)
    try {
      return await work(first)
    } catch (error) {
      signal?.throwIfAborted()
      if (!isSessionLost(error, first)) throw this.#toFailure(error, first)
      this.#drop(first)
    }
    const second = await this.#open(signal)
    try {
      return await work(second)
    } catch (error) {
      signal?.throwIfAborted()
      throw this.#toFailure(error, second)
    }
  }

  /** Closes the connection, and ends a server that is a child process. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true
    const opening = this.#opening
    this.#opening = undefined
    opening?.abandoned.abort()
    const open = await opening?.server.catch(() => undefined)
    await open?.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #open(signal: AbortSignal | undefined): Promise<OpenMcpServer> {
    signal?.throwIfAborted()
    if (this.#isClosed)
      throw new McpError('configuration', `The connection to MCP server ${this.name} is closed`)
    const opening = (this.#opening ??= this.#connect())
    opening.waiting += 1
    try {
      return await raceAbort(opening.server, signal)
    } catch (error) {
      signal?.throwIfAborted()
      const isStart = error instanceof StartFailure
      const origin = {
        name: this.name,
        phase: 'connect',
        fate: isStart ? error.fate : undefined,
      } as const
      throw toMcpError(isStart ? error.cause : error, origin)
    } finally {
      opening.waiting -= 1
      if (opening.waiting === 0 && !opening.isOpen) this.#abandon(opening)
    }
  }

  #connect(): Opening {
    const abandoned = new AbortController()
    const opening: Opening = {
      server: openMcpServer(this.#server, { ...this.#options, signal: abandoned.signal }),
      abandoned,
      waiting: 0,
      isOpen: false,
    }
    opening.server.then(
      (open) => {
        opening.isOpen = true
        this.#watch(open, opening)
      },
      () => {
        if (this.#opening === opening) this.#opening = undefined
      },
    )
    return opening
  }

  #watch(open: OpenMcpServer, opening: Opening): void {
    if (opening.abandoned.signal.aborted) void open.close()
    if (this.#server.kind === 'client') return
    const { client } = open
    const onClose = client.onclose?.bind(client)
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client has no other API
    client.onclose = () => {
      onClose?.()
      if (this.#opening === opening) this.#opening = undefined
    }
  }

  #abandon(opening: Opening): void {
    if (this.#opening === opening) this.#opening = undefined
    opening.abandoned.abort()
  }

  #drop(open: OpenMcpServer): void {
    this.#opening = undefined
    void open.close()
  }

  #toolsOf(open: OpenMcpServer): Promise<McpToolList> {
    if (open.tools !== undefined) return open.tools
    const listing = readToolList({
      client: open.client,
      name: this.name,
      timeoutMs: this.#options.connectTimeoutMs,
    })
    open.tools = listing
    listing.catch(() => {
      if (open.tools === listing) open.tools = undefined
    })
    return listing
  }

  #toFailure(error: unknown, open: OpenMcpServer): Error {
    return toMcpError(error, { name: this.name, phase: 'call', fate: open.fate() })
  }
}

/** Returns whether an HTTP server does not know the session: status 404, or 400 with a message about the session. */
function isSessionLost(error: unknown, open: OpenMcpServer): boolean {
  if (!open.hasSession() || !(error instanceof Error && 'status' in error)) return false
  return error.status === 404 || (error.status === 400 && /session/i.test(error.message))
}
