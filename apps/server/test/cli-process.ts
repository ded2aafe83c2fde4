/** The built command as a process, for tests: what it writes, and how it ends. */
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

/** The program. */
export const PROGRAM = fileURLToPath(new URL('../dist/tutti.js', import.meta.url))

/** Variables of the machine that would change what a command does. */
const OWN =
  /^(?:HOST|PORT|DATABASE_.*|TUTTI_.*|OPENAI_.*|ANTHROPIC_.*|LANG(?:SMITH|CHAIN)_.*|NO_COLOR|FORCE_COLOR|VITEST.*)$/

/** How long a poll goes on before the test fails: many times what it takes. */
export const PATIENCE = { timeout: 30_000, interval: 20 }

/** Surroundings of a command. */
export interface Surroundings {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Given on standard input. */
  readonly input?: string
}

/** How a command ended. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A command that runs. */
export class CommandProcess implements AsyncDisposable {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  stdout = ''
  stderr = ''

  constructor(words: readonly string[], { env = {}, cwd = tmpdir(), input }: Surroundings = {}) {
    const inherited = Object.entries(process.env).filter(([name]) => !OWN.test(name))
    this.child = spawn(process.execPath, [PROGRAM, ...words], {
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

  /** Waits until what was written on standard output and standard error has this. Fails when it ends without it. */
  until(wanted: string | RegExp): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): boolean => {
        const written = this.stdout + this.stderr
        const isThere = typeof wanted === 'string' ? written.includes(wanted) : wanted.test(written)
        if (isThere) resolve()
        return isThere
      }
      this.child.stdout?.on('data', look)
      this.child.stderr?.on('data', look)
      void this.ended.then(({ stdout, stderr }) => {
        if (!look()) reject(new Error(`It ended without ${String(wanted)}:\n${stdout}${stderr}`))
      })
      look()
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL')
    await this.ended
  }
}

/** Runs a command to its end. */
export function tutti(words: readonly string[], surroundings: Surroundings = {}): Promise<Ended> {
  return new CommandProcess(words, surroundings).ended
}

/** A directory of a project, with the packages that this one has. */
export interface Project extends Disposable {
  readonly path: string
  write(name: string, text: string): void
  read(name: string): string
}

/** Makes one from files by their names. */
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
