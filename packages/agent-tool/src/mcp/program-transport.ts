/**
 * MCP over the stdin and stdout of a program: one JSON message a line.
 *
 * P1 The program leads a process group of its own, which ends with it: end of stdin, SIGTERM, SIGKILL.
 * P2 It gets the few variables that the protocol's library finds harmless, and those that are given.
 * P3 It keeps this process alive only while it is held, and does not outlive it.
 * P4 How it ended is known with the last that it wrote to stderr.
 */
import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process'
import process from 'node:process'

import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/client'
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio'

import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { McpProgram } from './mcp-server.ts'

/** Characters of stderr that are kept. */
const LAST_WORDS_LENGTH = 1_000

/** How long what a program wrote may take to arrive after its exit; longer only another process holds it. */
const DRAIN_MS = 200

/** How long a program may take to end by itself at the end of its input, and after SIGTERM. */
const GRACE_MS = 1_000

const running = new Set<ChildProcess>()

/** A transport to a server that it starts itself. */
export class ProgramTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #program: McpProgram
  readonly #buffer: ReadBuffer
  readonly #ended = Promise.withResolvers<void>()
  #child: ChildProcessByStdio<Writable, Readable, Readable> | undefined
  #lastWords = ''
  #fate: string | undefined

  constructor(program: McpProgram, maxMessageBytes: number) {
    this.#program = program
    this.#buffer = new ReadBuffer({ maxBufferSize: maxMessageBytes })
  }

  /** How the program ended; undefined while it runs. */
  get fate(): string | undefined {
    return this.#fate
  }

  /** By these two the library knows a program. */
  get stderr(): Readable | null {
    return this.#child?.stderr ?? null
  }

  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  /** Whether this process stays alive for the program's sake. */
  hold(holds: boolean): void {
    const child = this.#child
    if (child === undefined) return
    // NOTE: pipes to a program are sockets, which can be held; their types do not say so.
    const pipes = [child.stdin, child.stdout, child.stderr] as unknown as readonly Socket[]
    for (const one of [child, ...pipes]) {
      if (holds) one.ref()
      else one.unref()
    }
  }

  start(): Promise<void> {
    const { command, args = [], cwd, env } = this.#program
    const child = spawn(command, [...args], {
      ...(cwd === undefined ? {} : { cwd }),
      env: { ...getDefaultEnvironment(), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      shell: false,
      windowsHide: true,
      detached: process.platform !== 'win32',
    })
    this.#child = child
    running.add(child)
    if (running.size === 1) process.on('exit', endAll)
    child.stdout.on('data', (piece: Buffer) => {
      this.#read(piece)
    })
    child.stderr.on('data', (piece: Buffer) => {
      this.#lastWords = (this.#lastWords + piece.toString()).slice(-LAST_WORDS_LENGTH)
    })
    // A program that does not read any more is one that ends: of that `exit` tells.
    child.stdin.on('error', () => undefined)
    child.once('exit', () => {
      setTimeout(() => {
        this.#end()
      }, DRAIN_MS)
    })
    child.once('close', () => {
      this.#end()
    })
    return new Promise((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', (error) => {
        this.#fate ??= `it cannot be started: ${reasonOf(error)}`
        this.#end()
        reject(error)
      })
    })
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    if (stdin === undefined || !stdin.writable) {
      return Promise.reject(new Error(this.#fate ?? 'the program has ended'))
    }
    return new Promise((resolve, reject) => {
      stdin.write(serializeMessage(message), (error) => {
        if (error === null || error === undefined) resolve()
        else reject(error)
      })
    })
  }

  /** Ends the program with all that it has started; resolves when it is gone. */
  async close(): Promise<void> {
    const child = this.#child
    if (child === undefined || this.#fate !== undefined) return
    child.stdin.end()
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const isGone = await this.#isGoneWithin(GRACE_MS)
      if (isGone) return
      signalGroup(child, signal)
    }
    await this.#isGoneWithin(GRACE_MS)
  }

  #isGoneWithin(delayMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        resolve(false)
      }, delayMs)
      void this.#ended.promise.then(() => {
        clearTimeout(timer)
        resolve(true)
      })
    })
  }

  #end(): void {
    const child = this.#child
    if (child === undefined || !running.delete(child)) return
    if (running.size === 0) process.off('exit', endAll)
    const { exitCode, signalCode } = child
    const how = signalCode === null ? `exited with code ${exitCode}` : `was killed by ${signalCode}`
    const said = this.#lastWords.trim()
    this.#fate ??= said === '' ? `it ${how}` : `it ${how}: ${said}`
    signalGroup(child, 'SIGKILL')
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
    this.#ended.resolve()
    this.onclose?.()
  }

  #read(piece: Buffer): void {
    try {
      this.#buffer.append(piece)
    } catch (error) {
      this.#fate ??= 'it sent a message that is too long'
      this.#report(error)
      if (this.#child !== undefined) signalGroup(this.#child, 'SIGKILL')
      return
    }
    for (;;) {
      try {
        const message = this.#buffer.readMessage()
        if (message === null) return
        this.onmessage?.(message)
      } catch (error) {
        // A line that is no message is a slip, such as a log on stdout; the next may be one.
        this.#report(error)
      }
    }
  }

  #report(error: unknown): void {
    this.onerror?.(error instanceof Error ? error : new Error('The server wrote no message'))
  }
}

function endAll(): void {
  for (const child of running) signalGroup(child, 'SIGKILL')
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    if (process.platform === 'win32') child.kill(signal)
    else process.kill(-child.pid, signal)
  } catch {
    // Nobody is left in the group.
  }
}

function reasonOf(error: Error): string {
  const code = 'code' in error ? error.code : undefined
  if (code === 'ENOENT') return 'there is no such program or directory'
  return code === 'EACCES' ? 'it may not be run' : error.message
}
