/** Runs the built server as a child process. */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { createClient, type TuttiClient } from '@tutti/client'

const PROGRAM = fileURLToPath(new URL('../dist/tutti.js', import.meta.url))

/** Variables of the machine that would affect a server. */
const OWN =
  /^(?:HOST|PORT|DATABASE_.*|TUTTI_.*|OPENAI_.*|ANTHROPIC_.*|OTEL_.*|LOG_LEVEL|LANG(?:SMITH|CHAIN)_.*)$/

/** A running server process. */
export class ServerProcess implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #exited: Promise<number | null>
  output = ''
  errors = ''

  private constructor(environment: Record<string, string>, cwd: string) {
    if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is not built: run "npm run build"`)
    const inherited = Object.entries(process.env).filter(([name]) => !OWN.test(name))
    this.#child = spawn(process.execPath, [PROGRAM, 'start'], {
      cwd,
      env: { ...Object.fromEntries(inherited), PORT: '0', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', resolve)
    })
    this.#child.stdout?.on('data', (data: Buffer) => (this.output += data.toString()))
    this.#child.stderr?.on('data', (data: Buffer) => (this.errors += data.toString()))
  }

  /** Starts a server and waits until it accepts requests. */
  static async start(environment: Record<string, string>, cwd = tmpdir()): Promise<ServerProcess> {
    const server = new ServerProcess(environment, cwd)
    const ready = new Promise<void>((resolve) => {
      server.#child.stdout?.on('data', () => {
        if (/^Tutti ready on /m.test(server.output)) resolve()
      })
    })
    const first = await Promise.race([ready.then(() => 'ready'), server.#exited])
    if (first === 'ready') return server
    throw new Error(`The server ended before it was ready: ${server.output}${server.errors}`)
  }

  /** Starts a server that is expected to fail. Returns its exit code and output. */
  static async refused(environment: Record<string, string>, cwd = tmpdir()) {
    const server = new ServerProcess(environment, cwd)
    const code = await server.#exited
    return { code, output: server.output, errors: server.errors }
  }

  /** Address from the last line of the output. */
  get url(): string {
    return /^Tutti ready on (\S+)\n$/m.exec(this.output)?.[1] ?? ''
  }

  /** Whether the process has exited or was ended by a signal. */
  get hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  client(options: { readonly timeoutMs?: number } = {}): TuttiClient {
    return createClient({ ...options, baseUrl: this.url })
  }

  /** Sends a signal. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Waits for the end. Returns the exit code, or null when a signal ended the process. */
  ended(): Promise<number | null> {
    return this.#exited
  }

  /** Sends a signal and waits for the end. Returns the exit code, or null when the signal ended the process. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    this.#child.kill(signal)
    return this.#exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.end('SIGKILL')
  }
}

/** Creates a directory that is deleted at the end of the block. */
export function temporaryDirectory(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'tutti-server-'))
  return {
    path,
    [Symbol.dispose]() {
      rmSync(path, { recursive: true })
    },
  }
}
