/** The built server under test, which reports the stalls of its event loop. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { SERVER, ServerProcess } from '../../chaos/lib/server-process.ts'

const CONFIG = fileURLToPath(new URL('../fixtures/fuzz.config.mjs', import.meta.url))
const WATCH = new URL('watch-loop.mjs', import.meta.url).href

/** A gap in which the main thread computed. */
export interface Stall {
  readonly stalledMs: number
  /** Time at which it ended, in milliseconds since 1970. */
  readonly at: number
}

export interface FuzzServerOptions {
  /** Path of its config. @default ensembles for generated requests */
  readonly config?: string
  /** Options of Node. @default [] */
  readonly node?: readonly string[]
}

/** A server process with an empty store; disposing kills it. */
export class FuzzServer implements AsyncDisposable {
  readonly #data = mkdtempSync(join(tmpdir(), 'tutti-fuzz-'))
  readonly #process: ServerProcess
  readonly stalls: Stall[] = []

  private constructor({ config = CONFIG, node = [] }: FuzzServerOptions) {
    const environment = {
      PORT: '0',
      TUTTI_CONFIG: config,
      TUTTI_DATA_DIR: this.#data,
      LOG_LEVEL: 'warn',
    }
    this.#process = new ServerProcess(environment, this.#data, {
      program: [...node, '--import', WATCH, ...SERVER],
      // NOTE: only `watch-loop.mjs` sends messages.
      onMessage: (stall) => this.stalls.push(stall as Stall),
    })
  }

  /** Starts a server and waits until it accepts requests. */
  static async start(options: FuzzServerOptions = {}): Promise<FuzzServer> {
    const server = new FuzzServer(options)
    await Promise.race([server.#process.ready, server.#process.ended])
    if (!server.hasEnded) return server
    await server[Symbol.asyncDispose]()
    throw new Error(`The server ended before it was ready:\n${server.output}`)
  }

  get url(): string {
    return this.#process.url
  }

  /** End of the server's output. */
  get output(): string {
    return this.#process.said
  }

  /** Whether the process has ended. */
  get hasEnded(): boolean {
    return this.#process.hasEnded
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.send('SIGKILL')
    await this.#process.ended
    rmSync(this.#data, { recursive: true, force: true })
  }
}
