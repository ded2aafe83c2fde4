/** The built server as a process that can be hurt. */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../../../apps/server/dist/tutti.js', import.meta.url))
const CONFIG = fileURLToPath(new URL('../fixtures/chaos.config.mjs', import.meta.url))

/** Variables of the machine that would change what a server does. */
const OWN =
  /^(?:HOST|PORT|DATABASE_.*|TUTTI_.*|CHAOS_.*|NODE_OPTIONS|OPENAI_.*|ANTHROPIC_.*|LANG.*)$/

/** How much of what a process said is kept, in characters. */
const KEPT_TEXT = 4_000

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Whether it had said that it is ready. */
  readonly wasReady: boolean
}

/** One process of the server. */
export class ServerProcess {
  readonly #child: ChildProcess
  #isReady = false
  /** The end of what it said. */
  said = ''
  readonly ended: Promise<ProcessEnd>
  /** Resolves when it takes requests; never when it ends before that. */
  readonly ready: Promise<void>

  constructor(environment: Readonly<Record<string, string>>, cwd: string) {
    if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is not built: run "npm run build"`)
    const inherited = Object.entries(process.env).filter(([name]) => !OWN.test(name))
    this.#child = spawn(process.execPath, [PROGRAM, 'start'], {
      cwd,
      env: { ...Object.fromEntries(inherited), TUTTI_CONFIG: CONFIG, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.ended = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        resolve({ code, signal, wasReady: this.#isReady })
      })
    })
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ready = promise
    this.#child.stdout?.on('data', (data: Buffer) => {
      this.#keep(data)
      if (this.#isReady || !/^Tutti ready on /m.test(this.said)) return
      this.#isReady = true
      resolve()
    })
    this.#child.stderr?.on('data', (data: Buffer) => {
      this.#keep(data)
    })
  }

  /** 0 when it could not be started. */
  get pid(): number {
    return this.#child.pid ?? 0
  }

  get isReady(): boolean {
    return this.#isReady && !this.hasEnded
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** Sends a signal, unless it has ended. */
  send(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  #keep(data: Buffer): void {
    this.said = (this.said + data.toString()).slice(-KEPT_TEXT)
  }
}
