/** Runs the built program in a pseudo-terminal with an emulated screen. */
import { spawn, type IPty } from '@lydell/node-pty'
import xterm from '@xterm/headless'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'

import type { Terminal } from '@xterm/headless'

const PROGRAM = fileURLToPath(new URL('../dist/tutti.js', import.meta.url))

/** Variables of the machine that would affect the program. */
const OWN =
  /^(?:HOST|PORT|DATABASE_.*|TUTTI_.*|OPENAI_.*|ANTHROPIC_.*|LANG(?:SMITH|CHAIN)_.*|CI|NO_COLOR|FORCE_COLOR|TERM|EDITOR|VISUAL|ACCESSIBLE|GITHUB_.*)$/

export interface TerminalOptions {
  /** @default 80 */
  readonly cols?: number
  /** @default 24 */
  readonly rows?: number
  /** Variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>
  /** @default the directory for temporary files */
  readonly cwd?: string
}

/** Keys by name, as a terminal sends them. */
export const KEYS = {
  enter: '\r',
  up: '\x1b[A',
  down: '\x1b[B',
  escape: '\x1b',
  backspace: '\x7f',
  ctrlC: '\x03',
  ctrlD: '\x04',
  ctrlZ: '\x1a',
} as const

/** Starts `tutti` with these arguments in a terminal. */
export function openTerminal(
  args: readonly string[],
  options: TerminalOptions = {},
): ProgramTerminal {
  return new ProgramTerminal([process.execPath, PROGRAM, ...args], options)
}

/** Starts a shell in a terminal, with the program as the function `tutti`. */
export function openShell({ env, ...options }: TerminalOptions = {}): ProgramTerminal {
  // Neither path contains a quotation mark; otherwise the shell reports an error.
  const tutti = `tutti() { '${process.execPath}' '${PROGRAM}' "$@"; }\r`
  const terminal = new ProgramTerminal(['sh', '-i'], { ...options, env: { ...env, ENV: '' } })
  terminal.write(tutti)
  return terminal
}

/** A program in a terminal. Disposing it ends the program. */
export class ProgramTerminal implements AsyncDisposable {
  readonly #pty: IPty
  readonly #terminal: Terminal
  readonly #watchers = new Set<() => void>()
  readonly #exited: Promise<number>
  #ended = false
  /** Complete output of the program, with escape codes. */
  written = ''

  constructor(command: readonly string[], { cols = 80, rows = 24, env, cwd }: TerminalOptions) {
    if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is not built: run "npm run build"`)
    const inherited = Object.entries(process.env).filter(([name]) => !OWN.test(name))
    this.#terminal = new xterm.Terminal({ cols, rows, scrollback: 5_000, allowProposedApi: true })
    const [program = '', ...words] = command
    this.#pty = spawn(program, words, {
      name: env?.['TERM'] ?? 'xterm-256color',
      cols,
      rows,
      cwd: cwd ?? tmpdir(),
      env: { ...Object.fromEntries(inherited), ...env },
    })
    // The terminal's responses to queries of the program, such as the cursor position.
    this.#terminal.onData((answer) => this.#pty.write(answer))
    this.#pty.onData((data) => {
      this.written += data
      this.#terminal.write(data, () => this.#look())
    })
    this.#exited = new Promise((resolve) => {
      this.#pty.onExit(({ exitCode, signal }) => {
        // The exit code that shells use for a signal.
        const code = signal === undefined || signal === 0 ? exitCode : 128 + signal
        this.#terminal.write('', () => {
          this.#ended = true
          this.#look()
          resolve(code)
        })
      })
    })
  }

  get pid(): number {
    return this.#pty.pid
  }

  /** Types text. */
  write(keys: string): void {
    this.#pty.write(keys)
  }

  /** Resizes the window, and notifies the program. */
  resize(cols: number, rows: number): void {
    this.#terminal.resize(cols, rows)
    this.#pty.resize(cols, rows)
  }

  /** Sends a signal to the program. */
  signal(signal: NodeJS.Signals): void {
    this.#pty.kill(signal)
  }

  /** Returns the visible lines of the window, without trailing spaces and empty lines. */
  screen(): readonly string[] {
    const { baseY } = this.#terminal.buffer.active
    return this.#lines(baseY, this.#terminal.rows)
  }

  /** Returns the lines of the window and those that have scrolled out of it. */
  history(): readonly string[] {
    return this.#lines(0, this.#terminal.buffer.active.length)
  }

  get isCursorShown(): boolean {
    return this.written.lastIndexOf('\x1b[?25l') <= this.written.lastIndexOf('\x1b[?25h')
  }

  /**
   * Waits until the window shows a text or matches. Returns its lines. Fails when the program ends before.
   *
   * A text is searched in the lines of the window, joined by line breaks.
   */
  async until(
    wanted: string | RegExp | ((lines: readonly string[]) => boolean),
  ): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const lines = this.screen()
        const isThere = isShown(lines, wanted)
        if (!isThere && !this.#ended) return
        this.#watchers.delete(look)
        if (isThere) resolve(lines)
        else reject(new Error(`The program ended before ${String(wanted)}:\n${lines.join('\n')}`))
      }
      this.#watchers.add(look)
      look()
    })
  }

  /** Waits for the end of the program. Returns its exit code, or 128 plus the number of the signal that ended it. */
  ended(): Promise<number> {
    return this.#exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#ended) {
      this.#pty.kill('SIGKILL')
      await this.#exited
    }
    this.#terminal.dispose()
  }

  #look(): void {
    for (const look of this.#watchers) look()
  }

  #lines(from: number, count: number): readonly string[] {
    const { active } = this.#terminal.buffer
    const lines = Array.from(
      { length: count },
      (_, row) => active.getLine(from + row)?.translateToString(true) ?? '',
    )
    return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1)
  }
}

function isShown(
  lines: readonly string[],
  wanted: string | RegExp | ((lines: readonly string[]) => boolean),
): boolean {
  if (typeof wanted === 'function') return wanted(lines)
  const text = lines.join('\n')
  return typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text)
}
