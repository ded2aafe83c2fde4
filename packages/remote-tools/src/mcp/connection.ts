/**
 * The connection to one MCP server. It is opened once and shared by all tools of the server.
 *
 * M1 A server that has ended is connected to anew by the next call, once; while that is under way,
 *    other calls wait for it. A call that was under way when the server ended is a failure.
 * M2 An HTTP server that has forgotten the session has not run the call: it is made again, once, in a
 *    new session.
 * M3 A server that is a program keeps the process alive only while a call is under way.
 */
import { errorMessage } from '@tutti/core'

import { McpElicitations } from './elicitation.ts'
import { openClient, type OpenClient } from './open-client.ts'
import { serverName, type ResolvedServer } from './options.ts'

import type { Client } from '@modelcontextprotocol/client'

/** How a connection is kept. */
export interface McpConnectionOptions {
  readonly connectTimeoutMs: number
  readonly maxMessageBytes: number
  readonly onChange: () => void
}

/** A connection that opens itself. */
export class McpConnection implements AsyncDisposable {
  /** The calls under way, for the questions of the server. */
  readonly elicitations = new McpElicitations()
  readonly #server: ResolvedServer
  readonly #options: McpConnectionOptions
  #opening: Promise<OpenClient> | undefined
  #open: OpenClient | undefined
  #underWay = 0
  #closed = false

  constructor(server: ResolvedServer, options: McpConnectionOptions) {
    this.#server = server
    this.#options = options
  }

  /** Does something over the connection; rejects with an error that names the server. */
  async use<T>(work: (client: Client) => Promise<T>): Promise<T> {
    this.#underWay += 1
    try {
      return await this.#useOnce(work).catch(async (error: unknown) => {
        if (!isForgotten(error)) throw error
        this.#forget()
        return this.#useOnce(work)
      })
    } finally {
      this.#underWay -= 1
      if (this.#underWay === 0) this.#hold(false)
    }
  }

  /** Ends the connection, and the server when it is a program of this connection. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#server.kind === 'client') return
    const open = await this.#opening?.catch(() => undefined)
    this.#forget()
    try {
      await endSession(open?.client)
      await open?.client.close()
      await open?.link?.close()
    } catch {
      // What cannot be closed is gone.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #useOnce<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const open = await this.#connect()
    this.#hold(true)
    try {
      return await work(open.client)
    } catch (error) {
      const ended = await fateOf(open, error)
      if (ended === undefined) throw error
      throw new Error(`MCP server ${serverName(this.#server)} ended: ${ended}`, { cause: error })
    }
  }

  async #connect(): Promise<OpenClient> {
    const server = this.#server
    if (this.#closed) throw new Error(`MCP server ${serverName(server)} was closed`)
    if (server.kind === 'client') return { client: server.client }
    this.#opening ??= openClient(server, {
      timeoutMs: this.#options.connectTimeoutMs,
      maxMessageBytes: this.#options.maxMessageBytes,
      onChange: this.#options.onChange,
      elicitations: this.elicitations,
    })
    const opening = this.#opening
    try {
      const open = await opening
      this.#open = open
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client has no other way
      open.client.onclose = () => {
        if (this.#opening === opening) this.#forget()
      }
      return open
    } catch (error) {
      if (this.#opening === opening) this.#forget()
      const message = `Cannot connect to MCP server ${serverName(server)}: ${errorMessage(error)}`
      throw new Error(message, { cause: error })
    }
  }

  #forget(): void {
    this.#opening = undefined
    this.#open = undefined
  }

  #hold(holds: boolean): void {
    const transport = this.#open?.transport
    if (transport !== undefined) transport.holdsProcess = holds
  }
}

/** Whether an HTTP server does not know the session, by status 404, or by 400 with words to that effect. */
function isForgotten(error: unknown): boolean {
  if (!(error instanceof Error && 'status' in error)) return false
  return error.status === 404 || (error.status === 400 && /session/i.test(error.message))
}

/** Why the server has ended, if that is why the call failed. */
async function fateOf(
  { transport, link }: OpenClient,
  error: unknown,
): Promise<string | undefined> {
  const isClosed = error instanceof Error && 'code' in error && error.code === 'CONNECTION_CLOSED'
  const fate = transport?.fate ?? link?.fate
  if (fate !== undefined) return fate
  return isClosed ? 'the connection was closed' : undefined
}

/** Tells an HTTP server that its session is over, so that it need not keep it. */
async function endSession(client: Client | undefined): Promise<void> {
  const transport = client?.transport
  if (transport !== undefined && 'terminateSession' in transport) {
    // NOTE: of the transports, streamable HTTP alone has sessions and this method.
    await (transport as { terminateSession(): Promise<void> }).terminateSession()
  }
}
