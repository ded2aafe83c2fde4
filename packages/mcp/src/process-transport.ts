/** Transports MCP over the stdin and stdout of a child process, one JSON message per line. */
import { isSpecType, serializeMessage } from '@modelcontextprotocol/client'
import {
  DRAIN_MS,
  quietClock,
  startProcess,
  type ResolvedProcessOptions,
  type RunningProcess,
} from '@tutti/net/internal'

import { IncomingMessages } from './incoming/incoming-messages.ts'
import { MessageLines } from './incoming/message-lines.ts'

import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { Readable } from 'node:stream'
import type { ProcessFate } from './mcp-error.ts'

/** Maximum number of characters of stderr that are retained for error messages. */
const MAX_STDERR_LENGTH = 1_000

/**
 * Time without output after which a message without a line break is read, in milliseconds. Servers that frame their
 * messages in another way write none.
 */
const UNENDED_MS = 1_000

/** A transport that starts and owns its child process. */
export class ProcessTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #options: ResolvedProcessOptions
  readonly #maxMessageBytes: number
  readonly #lines: MessageLines
  readonly #incoming = new IncomingMessages(isSpecType.ContentBlock)
  #stopWaiting: (() => void) | undefined
  #process: RunningProcess | undefined
  #stderr = ''
  #fate: ProcessFate | undefined
  #isKilled = false

  constructor(options: ResolvedProcessOptions, maxMessageBytes: number) {
    this.#options = options
    this.#maxMessageBytes = maxMessageBytes
    this.#lines = new MessageLines(maxMessageBytes)
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

  /** Called by the SDK with the negotiated version. */
  setProtocolVersion(version: string): void {
    this.#incoming.protocolVersion = version
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
    process.stdout.on('end', () => {
      this.#readLine(this.#lines.take())
      void this.#endSilent(process)
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
    this.#incoming.sent(message)
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
    this.#stopWaiting?.()
    process.stdin.end()
    // A process that is crashing gets time to exit by itself, so that `fate` shows the crash.
    const hasEnded = await process.endedWithin(Math.max(DRAIN_MS, this.#options.killGraceMs))
    if (hasEnded) return
    this.#isKilled = true
    await process.end()
  }

  #read(piece: Buffer): void {
    this.#stopWaiting?.()
    try {
      for (const line of this.#lines.add(piece)) this.#readLine(line)
    } catch {
      const reason = `it sent a message longer than ${this.#maxMessageBytes} bytes`
      this.#fate ??= { reason, started: true }
      this.onerror?.(new Error(reason))
      this.#process?.stdout.destroy()
      void this.#process?.end()
      return
    }
    if (!this.#incoming.isWaiting) return
    this.#stopWaiting = quietClock(this.#options.clock).after(UNENDED_MS, () => {
      // Only a whole message is taken; the rest of another one may still arrive.
      if (isJson(this.#lines.rest)) this.#readLine(this.#lines.take())
    })
  }

  /** Ends a process that runs without standard output: it can no longer answer. */
  async #endSilent(process: RunningProcess): Promise<void> {
    if (await process.endedWithin(Math.max(DRAIN_MS, this.#options.killGraceMs))) return
    this.#fate ??= { reason: 'it closed its standard output', started: true }
    await process.end()
  }

  #readLine(line: string): void {
    for (const message of this.#incoming.read(line)) this.onmessage?.(message)
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
