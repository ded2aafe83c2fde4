/** The built server under test, which reports the stalls of its event loop. */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../../../apps/server/dist/tutti.js', import.meta.url))
const CONFIG = fileURLToPath(new URL('../fixtures/fuzz.config.mjs', import.meta.url))
const WATCH = new URL('watch-loop.mjs', import.meta.url).href

/** Variables that would change the behavior of the server. */
const OWN =
  /^(?:HOST|PORT|DATABASE_.*|TUTTI_.*|NODE_OPTIONS|OPENAI_.*|ANTHROPIC_.*|OTEL_.*|LANG.*)$/

/** Number of characters retained from the end of the server's output. */
const MAX_OUTPUT = 8_000

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

/** A server process with an empty store. */
export class FuzzServer implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #data = mkdtempSync(join(tmpdir(), 'tutti-fuzz-'))
  readonly stalls: Stall[] = []
  /** End of the server's output. */
  output = ''
  readonly #exited: Promise<void>
  #url = ''

  private constructor({ config = CONFIG, node = [] }: FuzzServerOptions) {
    if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is not built: run "npm run build"`)
    const inherited = Object.entries(process.env).filter(([name]) => !OWN.test(name))
    this.#child = spawn(process.execPath, [...node, '--import', WATCH, PROGRAM, 'start'], {
      cwd: this.#data,
      env: {
        ...Object.fromEntries(inherited),
        PORT: '0',
        TUTTI_CONFIG: config,
        TUTTI_DATA_DIR: this.#data,
        LOG_LEVEL: 'warn',
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', () => {
        resolve()
      })
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (data: Buffer) => {
        this.output = (this.output + data.toString()).slice(-MAX_OUTPUT)
        this.#url ||= /^Tutti ready on (\S+)$/m.exec(this.output)?.[1] ?? ''
      })
    }
    this.#child.on('message', (stall: Stall) => {
      this.stalls.push(stall)
    })
  }

  /** Starts a server and waits until it accepts requests. */
  static async start(options: FuzzServerOptions = {}): Promise<FuzzServer> {
    const server = new FuzzServer(options)
    while (server.url === '' && !server.hasEnded) {
      await new Promise((resolve) => {
        server.#child.stdout?.once('data', resolve)
        server.#child.once('exit', resolve)
      })
    }
    if (!server.hasEnded) return server
    throw new Error(`The server ended before it was ready:\n${server.output}`)
  }

  /** Address of the server, from the line that reports readiness; empty before. */
  get url(): string {
    return this.#url
  }

  /** Whether the process has ended. */
  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.hasEnded) this.#child.kill('SIGKILL')
    await this.#exited
    rmSync(this.#data, { recursive: true, force: true })
  }
}
