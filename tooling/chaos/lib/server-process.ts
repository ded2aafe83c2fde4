/** Runs the built server, or another program with runs, as a process that faults can hit. */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../../../apps/server/dist/tutti.js', import.meta.url))

/** Command line of the built server, for Node. */
export const SERVER = [PROGRAM, 'start']
const CONFIG = fileURLToPath(new URL('../fixtures/chaos.config.mjs', import.meta.url))

/** Variables of the machine that would change the behavior of a server. */
const OWN =
  /^(?:HOST|PORT|DATABASE_.*|NATS_.*|TUTTI_.*|CHAOS_.*|NODE_OPTIONS|OTEL_.*|OPENAI_.*|ANTHROPIC_.*|LANG.*)$/

/** Length of the retained output of a process, in characters. */
const KEPT_TEXT = 8_000

/** Exit of a process. */
export interface ProcessEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Whether it had been ready. */
  readonly wasReady: boolean
}

export interface ProcessOptions {
  /** Command line for Node; it prints "Tutti ready on …" as the server does. @default the server */
  readonly program?: readonly string[]
  /** Called with each message of the process over its IPC channel. @default it has none */
  readonly onMessage?: (message: unknown) => void
}

export class ServerProcess {
  readonly #child: ChildProcess
  /** Address of the server, from the line that reports readiness; empty before. */
  url = ''
  /** End of its output. */
  said = ''
  readonly ended: Promise<ProcessEnd>
  /** Resolves when it accepts requests; never if it ends before. */
  readonly ready: Promise<void>

  constructor(
    environment: Readonly<Record<string, string>>,
    cwd: string,
    { program = SERVER, onMessage }: ProcessOptions = {},
  ) {
    if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is not built: run "npm run build"`)
    const inherited = Object.entries(process.env).filter(([name]) => !OWN.test(name))
    this.#child = spawn(process.execPath, program, {
      cwd,
      env: { ...Object.fromEntries(inherited), TUTTI_CONFIG: CONFIG, ...environment },
      stdio: ['ignore', 'pipe', 'pipe', ...(onMessage === undefined ? [] : ['ipc' as const])],
    })
    if (onMessage !== undefined) this.#child.on('message', onMessage)
    this.ended = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        resolve({ code, signal, wasReady: this.url !== '' })
      })
    })
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ready = promise
    this.#child.stdout?.on('data', (data: Buffer) => {
      this.#keep(data)
      this.url ||= /^Tutti ready on (\S+).*\n/m.exec(this.said)?.[1] ?? ''
      if (this.url !== '') resolve()
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
    return this.url !== '' && !this.hasEnded
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
