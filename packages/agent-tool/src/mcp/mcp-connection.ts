/**
 * The connection to one MCP server. It is opened at the first call and shared by all.
 *
 * M1 A server that has ended is connected to anew by the next call; while that is under way, other calls wait
 *    for it. Connecting ends when nobody waits for it any more.
 * M2 An HTTP server that has forgotten the session has not run the call: it is made again, once, in a new
 *    session. No other call is made twice.
 * M3 A call that was under way when the server ended is a failure, with how it ended.
 */
import { AgentError } from '@tutti/agent-call'

import { mcpFailure } from './mcp-failure.ts'
import { StartFailure } from './open-program.ts'
import { openServer } from './open-server.ts'

import type { Tool } from '@modelcontextprotocol/client'
import type { OpenServer } from './connect-client.ts'
import type { ResolvedMcpServer } from './mcp-server.ts'

/** How a connection is kept. */
export interface McpConnectionOptions {
  /** Time until the server is there, and for it to say its tools. */
  readonly connectTimeoutMs: number
  readonly maxMessageBytes: number
}

interface Opening {
  readonly server: Promise<OpenServer>
  readonly nobodyWaits: AbortController
  waiting: number
  isOpen: boolean
}

/** A connection that opens itself. */
export class McpConnection {
  readonly #server: ResolvedMcpServer
  readonly #options: McpConnectionOptions
  #opening: Opening | undefined
  #isClosed = false

  constructor(server: ResolvedMcpServer, options: McpConnectionOptions) {
    this.#server = server
    this.#options = options
  }

  /** What the server is called in messages. */
  get name(): string {
    return this.#server.name
  }

  /**
   * A tool of the server, by name, or its only one.
   *
   * @throws {AgentError} when there is none, and when the server cannot be asked.
   */
  async tool(name: string | undefined, signal: AbortSignal): Promise<Tool> {
    return this.use(signal, async (open) => {
      const known = await untilAborted(this.#toolsOf(open), signal)
      const found = toolNamed(known, name)
      if (found !== undefined) return this.#callable(found)
      // Its tools may have changed, which not every server says.
      open.tools = undefined
      const tools = await untilAborted(this.#toolsOf(open), signal)
      return this.#callable(toolNamed(tools, name) ?? this.#noSuchTool(tools, name))
    })
  }

  /** Does something over the connection; what goes wrong is an `AgentError` that names the server. */
  async use<T>(signal: AbortSignal, work: (open: OpenServer) => Promise<T>): Promise<T> {
    const open = await this.#open(signal)
    try {
      return await work(open)
    } catch (error) {
      if (!isForgotten(error, open)) throw this.#failureOf(error, open)
      this.#forget(open)
    }
    const anew = await this.#open(signal)
    try {
      return await work(anew)
    } catch (error) {
      throw this.#failureOf(error, anew)
    }
  }

  /** Ends the connection, and a server that is a program. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true
    const opening = this.#opening
    this.#opening = undefined
    opening?.nobodyWaits.abort()
    const open = await opening?.server.catch(() => undefined)
    await open?.close()
  }

  async #open(signal: AbortSignal): Promise<OpenServer> {
    signal.throwIfAborted()
    if (this.#isClosed) {
      throw new AgentError(`MCP server ${this.name} was closed`, {
        failureType: 'configuration',
        retryable: false,
      })
    }
    const opening = (this.#opening ??= this.#connect())
    opening.waiting += 1
    try {
      return await untilAborted(opening.server, signal)
    } catch (error) {
      signal.throwIfAborted()
      const fate = error instanceof StartFailure ? error.fate : undefined
      const cause = error instanceof StartFailure ? error.cause : error
      throw mcpFailure(cause, { name: this.name, phase: 'connect', fate })
    } finally {
      opening.waiting -= 1
      if (opening.waiting === 0 && !opening.isOpen) this.#giveUp(opening)
    }
  }

  #connect(): Opening {
    const nobodyWaits = new AbortController()
    const { connectTimeoutMs: timeoutMs, maxMessageBytes } = this.#options
    const options = { timeoutMs, maxMessageBytes, signal: nobodyWaits.signal }
    const opening: Opening = {
      server: openServer(this.#server, options),
      nobodyWaits,
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

  #watch(open: OpenServer, opening: Opening): void {
    if (opening.nobodyWaits.signal.aborted) void open.close()
    if (this.#server.kind === 'client') return
    const { client } = open
    const onClose = client.onclose?.bind(client)
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client has no other way
    client.onclose = () => {
      onClose?.()
      if (this.#opening === opening) this.#opening = undefined
    }
  }

  #giveUp(opening: Opening): void {
    if (this.#opening === opening) this.#opening = undefined
    opening.nobodyWaits.abort()
  }

  #forget(open: OpenServer): void {
    this.#opening = undefined
    void open.close()
  }

  #toolsOf(open: OpenServer): Promise<readonly Tool[]> {
    if (open.tools !== undefined) return open.tools
    const listing = listTools(open, this.#options.connectTimeoutMs)
    open.tools = listing
    listing.catch(() => {
      if (open.tools === listing) open.tools = undefined
    })
    return listing
  }

  /** @throws {AgentError} for a tool that can only be called as a task of the protocol. */
  #callable(tool: Tool): Tool {
    if (tool.execution?.taskSupport !== 'required') return tool
    const message = `MCP tool "${tool.name}" of server ${this.name} can only be called as a task (taskSupport: required), which is not supported`
    throw new AgentError(message, { failureType: 'configuration', retryable: false })
  }

  #noSuchTool(tools: readonly Tool[], name: string | undefined): never {
    const names = tools.map((tool) => tool.name)
    const has = names.length === 0 ? 'none' : names.join(', ')
    const message =
      name === undefined
        ? `Cannot choose a tool of MCP server ${this.name}: its address must end in #tool, as it does not have exactly one; it has ${has}`
        : `MCP server ${this.name} has no tool "${name}"; it has ${has}`
    throw new AgentError(message, { failureType: 'configuration', retryable: false })
  }

  #failureOf(error: unknown, open: OpenServer): Error {
    return mcpFailure(error, { name: this.name, phase: 'call', fate: open.fate() })
  }
}

async function listTools({ client }: OpenServer, timeout: number): Promise<readonly Tool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return []
  const { tools } = await client.listTools(undefined, { timeout })
  return tools
}

function toolNamed(tools: readonly Tool[], name: string | undefined): Tool | undefined {
  if (name !== undefined) return tools.find((tool) => tool.name === name)
  return tools.length === 1 ? tools[0] : undefined
}

/** Whether an HTTP server does not know the session, by status 404, or by 400 with words to that effect. */
function isForgotten(error: unknown, open: OpenServer): boolean {
  if (!open.hasSession() || !(error instanceof Error && 'status' in error)) return false
  return error.status === 404 || (error.status === 400 && /session/i.test(error.message))
}

/** What a promise gives, unless the signal aborts before; rejects with its reason then. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      reject(signal.reason)
    }
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', leave)
    })
  })
}
