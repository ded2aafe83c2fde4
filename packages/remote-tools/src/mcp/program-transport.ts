/**
 * MCP over the stdin and stdout of a program: one JSON message a line. The program is started and ended
 * as those of process tools are, with all that it starts itself, and gets their bare environment.
 */
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/client'

import { startProcess } from '@tutti/net'

import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { ResolvedProgramOptions } from '../process/options.ts'
import type { RunningProcess } from '@tutti/net'

/** Characters of stderr that are kept for the message of a failure. */
const LAST_WORDS_LENGTH = 1000

/** A transport to a server that it starts itself. */
export class ProgramTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #options: ResolvedProgramOptions
  readonly #buffer = new ReadBuffer()
  #program: RunningProcess | undefined
  #stderr = ''
  #fate: string | undefined

  constructor(options: ResolvedProgramOptions) {
    this.#options = options
  }

  /** How the program ended, with the last that it wrote to stderr; undefined while it runs. */
  get fate(): string | undefined {
    return this.#fate
  }

  /** Whether this process stays alive for the program's sake. */
  set holdsProcess(holds: boolean) {
    if (holds) this.#program?.ref()
    else this.#program?.unref()
  }

  async start(): Promise<void> {
    const start = await startProcess(this.#options)
    if (!start.ok) {
      this.#fate = start.message
      throw new Error(start.message)
    }
    const { process: program } = start
    this.#program = program
    program.stdout.on('data', (chunk: Buffer) => {
      this.#read(chunk)
    })
    program.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-LAST_WORDS_LENGTH)
    })
    void program.ended.then(({ code, signal }) => {
      const how = signal === null ? `exited with code ${code}` : `was killed by ${signal}`
      const said = this.#stderr.trim()
      this.#fate = said === '' ? `it ${how}` : `it ${how}: ${said}`
      this.onclose?.()
    })
  }

  send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#program ?? {}
    if (stdin === undefined || !stdin.writable)
      return Promise.reject(new Error('the server has ended'))
    return new Promise((resolve, reject) => {
      stdin.write(serializeMessage(message), (error) => {
        if (error === null || error === undefined) resolve()
        else reject(error)
      })
    })
  }

  async close(): Promise<void> {
    this.#program?.stdin.end()
    await this.#program?.end()
  }

  /** A line that is no message is a slip of the server, such as a log on stdout; the next may be one. */
  #read(chunk: Buffer): void {
    try {
      this.#buffer.append(chunk)
    } catch (error) {
      this.#report(error)
      void this.close()
      return
    }
    for (;;) {
      try {
        const message = this.#buffer.readMessage()
        if (message === null) return
        this.onmessage?.(message)
      } catch (error) {
        this.#report(error)
      }
    }
  }

  #report(error: unknown): void {
    this.onerror?.(error instanceof Error ? error : new Error('The server wrote no message'))
  }
}
