/** Opening a connection to an MCP server that is a program. */
import { connect, forgetTools, newClient, noteCancels } from './connect-client.ts'
import { takeInTurn } from './in-turn.ts'
import { OpenCalls } from './open-calls.ts'

import type { VersionNegotiationMode } from '@modelcontextprotocol/client'
import type { OpenOptions, OpenServer } from './connect-client.ts'
import type { McpProgram } from './mcp-server.ts'

/** A program that ends when it is asked for its era is one of the older, and is started again. */
export async function openProgram(program: McpProgram, options: OpenOptions): Promise<OpenServer> {
  try {
    return await startProgram(program, { ...options, mode: 'auto' })
  } catch (error) {
    const isProbe = error instanceof StartFailure && error.isProbe && !options.signal.aborted
    if (isProbe) return await startProgram(program, { ...options, mode: 'legacy' })
    throw error
  }
}

/** A program did not become a server. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure'
  /** How the program ended, if it has. */
  readonly fate: string | undefined
  /** Whether it ended at the question for its era. */
  readonly isProbe: boolean

  constructor(cause: unknown, fate: string | undefined) {
    super('The program is no server', { cause })
    this.fate = fate
    this.isProbe = cause instanceof Error && /server\/discover probe/.test(cause.message)
  }
}

async function startProgram(
  program: McpProgram,
  options: OpenOptions & { readonly mode: VersionNegotiationMode },
): Promise<OpenServer> {
  const { ProgramTransport } = await import('./program-transport.ts')
  const transport = new ProgramTransport(program, options.maxMessageBytes)
  const calls = new OpenCalls((size) => {
    transport.hold(size > 0)
  })
  const client = await newClient(calls, options)
  try {
    await connect(client, transport, options)
  } catch (error) {
    const { fate } = transport
    await transport.close()
    throw new StartFailure(error, fate)
  }
  noteCancels(transport, calls)
  takeInTurn(transport, () => calls.addressed?.onBytes())
  const open: OpenServer = {
    client,
    calls,
    tools: undefined,
    fate: () => transport.fate,
    listen: () => Promise.resolve(),
    hasSession: () => false,
    close: () => transport.close(),
  }
  forgetTools(open)
  transport.hold(false)
  return open
}
