/**
 * The connection to one MCP server. It is opened by the first call and shared by all.
 *
 * M1 The next call connects again to a server that has ended; other calls wait for that connection. Connecting ends
 *    when no call waits for it.
 * M2 An HTTP server that has forgotten the session has not run the call, so the call is repeated once in a new
 *    session. No other call is repeated.
 * M3 A call that was in flight when the server ended fails with how the server ended.
 * M4 A server that is a child process keeps this process alive only while calls are in flight.
 */
import { McpError, toMcpError } from './mcp-error.ts'
import {
  openMcpServer,
  StartFailure,
  type McpOpenOptions,
  type OpenMcpServer,
} from './open-server.ts'
import { raceAbort } from './race-abort.ts'

import type { Client, Tool } from '@modelcontextprotocol/client'
import type { ResolvedMcpServer } from './mcp-server.ts'

/** Default time until a server is ready, in milliseconds: enough for one that is fetched and compiled as it starts. */
export const DEFAULT_MCP_CONNECT_TIMEOUT_MS = 30_000

/** Default maximum of bytes of one message, which is that of the SDK for child processes. */
export const DEFAULT_MAX_MCP_MESSAGE_BYTES = 10_485_760

/** Maximum number of pages of tools, as a server may never end its list. */
const MAX_PAGES = 100

interface Opening {
  readonly server: Promise<OpenMcpServer>
  readonly abandoned: AbortController
  waiting: number
  isOpen: boolean
}

/** A connection that opens itself. */
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
   * Lists the tools of the server; with `refresh` also when they are known and have not changed.
   *
   * @throws {McpError} when the server does not answer.
   */
  listTools({
    signal,
    refresh = false,
  }: { readonly signal?: AbortSignal; readonly refresh?: boolean } = {}): Promise<readonly Tool[]> {
    return this.use(signal, (open) => {
      if (refresh) open.tools = undefined
      return raceAbort(this.#toolsOf(open), signal)
    })
  }

  /**
   * Does something over the connection.
   *
   * @throws {McpError} that names the server.
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
      if (!isForgotten(error, first)) throw this.#failureOf(error, first)
      this.#forget(first)
    }
    const second = await this.#open(signal)
    try {
      return await work(second)
    } catch (error) {
      signal?.throwIfAborted()
      throw this.#failureOf(error, second)
    }
  }

  /** Ends the connection, and a server that is a child process. Never rejects. */
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
    if (this.#isClosed) throw new McpError('configuration', `MCP server ${this.name} was closed`)
    const opening = (this.#opening ??= this.#connect())
    opening.waiting += 1
    try {
      return await raceAbort(opening.server, signal)
    } catch (error) {
      signal?.throwIfAborted()
      const isStart = error instanceof StartFailure
      const place = {
        name: this.name,
        phase: 'connect',
        fate: isStart ? error.fate : undefined,
      } as const
      throw toMcpError(isStart ? error.cause : error, place)
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
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client has no other way
    client.onclose = () => {
      onClose?.()
      if (this.#opening === opening) this.#opening = undefined
    }
  }

  #abandon(opening: Opening): void {
    if (this.#opening === opening) this.#opening = undefined
    opening.abandoned.abort()
  }

  #forget(open: OpenMcpServer): void {
    this.#opening = undefined
    void open.close()
  }

  #toolsOf(open: OpenMcpServer): Promise<readonly Tool[]> {
    if (open.tools !== undefined) return open.tools
    const listing = listAllTools(open.client, this.#options.connectTimeoutMs)
    open.tools = listing
    listing.catch(() => {
      if (open.tools === listing) open.tools = undefined
    })
    return listing
  }

  #failureOf(error: unknown, open: OpenMcpServer): Error {
    return toMcpError(error, { name: this.name, phase: 'call', fate: open.fate() })
  }
}

async function listAllTools(client: Client, timeout: number): Promise<readonly Tool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return []
  const tools: Tool[] = []
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor }
    // A plain request: the client's own method would later reject results that do not match the output schema.
    const listed = await client.request({ method: 'tools/list', params }, { timeout })
    tools.push(...listed.tools)
    cursor = listed.nextCursor
    if (cursor === undefined) break
  }
  return tools
}

/** Whether an HTTP server does not know the session: status 404, or 400 with a text that says so. */
function isForgotten(error: unknown, open: OpenMcpServer): boolean {
  if (!open.hasSession() || !(error instanceof Error && 'status' in error)) return false
  return error.status === 404 || (error.status === 400 && /session/i.test(error.message))
}
