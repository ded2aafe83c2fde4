/** Runs the built command as a child process, for tests. */
import { spawn, type ChildProcess } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Path of the built program. */
export const PROGRAM = fileURLToPath(new URL('../dist/tutti.js', import.meta.url))

/** Variables of the machine that would affect a command. */
const OWN =
  /^(?:HOST|PORT|DATABASE_.*|TUTTI_.*|OPENAI_.*|ANTHROPIC_.*|LANG(?:SMITH|CHAIN)_.*|NO_COLOR|FORCE_COLOR|VITEST.*)$/

/** Options of `expect.poll`: a multiple of the time that a poll usually takes. */
export const POLL_OPTIONS = { timeout: 60_000, interval: 20 }

/** Environment, directory and input of a command. */
export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Content of standard input. */
  readonly input?: string
}

/** Exit code and output of a command. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A running command. */
export class CommandProcess implements AsyncDisposable {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  stdout = ''
  stderr = ''

  constructor(args: readonly string[], { env = {}, cwd = tmpdir(), input }: CommandOptions = {}) {
    const inherited = Object.entries(process.env).filter(([name]) => !OWN.test(name))
    this.child = spawn(process.execPath, [PROGRAM, ...args], {
      cwd,
      env: { ...Object.fromEntries(inherited), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.child.stdin?.end(input)
    this.child.stdout?.on('data', (data: Buffer) => (this.stdout += data.toString()))
    this.child.stderr?.on('data', (data: Buffer) => (this.stderr += data.toString()))
    this.ended = new Promise((resolve) => {
      this.child.once('close', (code) => {
        resolve({ code, stdout: this.stdout, stderr: this.stderr })
      })
    })
  }

  /** Waits until the output contains a text. Fails when the command ends without it. */
  until(wanted: string | RegExp): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = (): boolean => {
        const written = this.stdout + this.stderr
        const isFound = typeof wanted === 'string' ? written.includes(wanted) : wanted.test(written)
        if (isFound) resolve()
        return isFound
      }
      this.child.stdout?.on('data', check)
      this.child.stderr?.on('data', check)
      void this.ended.then(({ stdout, stderr }) => {
        if (!check())
          reject(new Error(`The command ended without ${String(wanted)}:\n${stdout}${stderr}`))
      })
      check()
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL')
    await this.ended
  }
}

/** Runs a command to its end. */
export function tutti(args: readonly string[], options: CommandOptions = {}): Promise<Ended> {
  return new CommandProcess(args, options).ended
}

/** A temporary project directory with the packages of this one. */
export interface Project extends Disposable {
  readonly path: string
  write(name: string, text: string): void
  read(name: string): string
}

/** Creates a project from files by name. */
export function project(files: Readonly<Record<string, string>>): Project {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'tutti-project-')))
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  symlinkSync(
    fileURLToPath(new URL('../node_modules', import.meta.url)),
    join(path, 'node_modules'),
  )
  for (const [name, text] of Object.entries(files)) write(name, text)
  return {
    path,
    write,
    read: (name) => readFileSync(join(path, name), 'utf8'),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
}
