/** Transports MCP over the stdin and stdout of a child process, one JSON message per line. */
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/client'
import {
  DRAIN_MS,
  startProcess,
  type ResolvedProcessOptions,
  type RunningProcess,
} from '@tutti/net'

import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { Readable } from 'node:stream'
import type { ProcessFate } from './mcp-error.ts'

/** Maximum number of characters of stderr that are retained for error messages. */
const MAX_STDERR_LENGTH = 1_000

/** A transport that starts and owns its child process. */
export class ProcessTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #options: ResolvedProcessOptions
  readonly #maxMessageBytes: number
  readonly #buffer: ReadBuffer
  #process: RunningProcess | undefined
  #stderr = ''
  #fate: ProcessFate | undefined
  #isKilled = false

  constructor(options: ResolvedProcessOptions, maxMessageBytes: number) {
    this.#options = options
    this.#maxMessageBytes = maxMessageBytes
    this.#buffer = new ReadBuffer({ maxBufferSize: maxMessageBytes })
  }

  /** The end of the process; undefined while it runs, and when this transport killed it. */
  get fate(): ProcessFate | undefined {
    return this.#fate
  }

  /** Makes the SDK recognize a child process, together with `pid`. */
  get stderr(): Readable | null {
    return this.#process?.stderr ?? null
  }

  get pid(): number | null {
    return this.#process?.pid ?? null
  }

  /** Sets whether the child process keeps this process alive. */
  hold(holds: boolean): void {
    if (holds) this.#process?.ref()
    else this.#process?.unref()
  }

  async start(): Promise<void> {
    const start = await startProcess(this.#options)
    if (!start.ok) {
      this.#fate = { reason: start.message, started: false }
      throw new Error(start.message)
    }
    const { process } = start
    this.#process = process
    process.stdout.on('data', (piece: Buffer) => {
      this.#read(piece)
    })
    process.stderr.on('data', (piece: Buffer) => {
      this.#stderr = (this.#stderr + piece.toString()).slice(-MAX_STDERR_LENGTH)
    })
    // Writing fails when the process has exited, which `ended` reports.
    process.stdin.on('error', () => undefined)
    void process.ended.then(({ code, signal }) => {
      const how = signal === null ? `it exited with code ${code}` : `it was killed by ${signal}`
      const stderr = this.#stderr.trim()
      const reason = stderr === '' ? how : `${how}: ${stderr}`
      if (!this.#isKilled) this.#fate ??= { reason, started: true }
      this.onclose?.()
    })
  }

  send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#process ?? {}
    if (stdin === undefined || !stdin.writable) {
      return Promise.reject(new Error('The server has exited'))
    }
    return new Promise((resolve, reject) => {
      stdin.write(serializeMessage(message), (error) => {
        if (error === null || error === undefined) resolve()
        else reject(error)
      })
    })
  }

  /** Closes stdin, then ends the process and its descendants. */
  async close(): Promise<void> {
    const process = this.#process
    if (process === undefined) return
    process.stdin.end()
    // A process that is crashing gets time to exit by itself, so that `fate` shows the crash.
    const hasEnded = await process.endedWithin(Math.max(DRAIN_MS, this.#options.killGraceMs))
    if (hasEnded) return
    this.#isKilled = true
    await process.end()
  }

  #read(piece: Buffer): void {
    try {
      this.#buffer.append(piece)
    } catch (error) {
      const reason = `it sent a message longer than ${this.#maxMessageBytes} bytes`
      this.#fate ??= { reason, started: true }
      this.#report(error)
      this.#process?.stdout.destroy()
      void this.#process?.end()
      return
    }
    for (;;) {
      try {
        const message = this.#buffer.readMessage()
        if (message === null) return
        this.onmessage?.(message)
      } catch (error) {
        // An invalid line, such as a log entry on stdout, is reported; the next line may be a message.
        this.#report(error)
      }
    }
  }

  #report(error: unknown): void {
    this.onerror?.(error instanceof Error ? error : new Error('Invalid JSON-RPC message on stdout'))
  }
}
