/** Tests `npm create tutti` on a terminal. The test is here because this package has the pseudo-terminal. */
import { spawn } from '@lydell/node-pty'
import xterm from '@xterm/headless'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

import { temporaryDirectory } from './server-process.ts'

const PROGRAM = fileURLToPath(
  new URL('../../../packages/create-tutti/dist/create-tutti.js', import.meta.url),
)

const ENTER = '\r'
const DOWN = '\x1b[B'
const ESCAPE = '\x1b'
const CTRL_C = '\x03'

const FILES_ONLY = ['--no-install', '--no-git']

describe('create-tutti on a terminal', () => {
  it('`create-tutti` on a terminal asks for the folder and the package manager, and prints the next steps', async () => {
    using directory = temporaryDirectory()
    const terminal = openTerminal(FILES_ONLY, directory.path, 'pnpm/12.0.0 npm/? node/v24.0.0')
    await terminal.until('Where should the project go?')
    terminal.write(`my-desk${ENTER}`)
    const asked = await terminal.until('Which package manager do you use?')
    expect(asked).toMatch(/● pnpm/)
    terminal.write(`${DOWN}${ENTER}`)
    const shown = await terminal.until('No key is needed')
    expect(await terminal.exitCode).toBe(0)
    expect(shown).toMatch(/Created my-desk in my-desk: \d+ files/)
    expect(shown).toContain('cd my-desk')
    expect(shown).toContain('yarn install')
    const manifest = readFileSync(join(directory.path, 'my-desk/package.json'), 'utf8')
    expect(JSON.parse(manifest)).toMatchObject({ name: 'my-desk' })
  })

  it('`create-tutti` on a terminal uses the proposed folder by default', async () => {
    using directory = temporaryDirectory()
    const terminal = openTerminal([...FILES_ONLY, '--package-manager', 'npm'], directory.path)
    await terminal.until('support-desk')
    terminal.write(ENTER)
    await terminal.until('No key is needed')
    expect(await terminal.exitCode).toBe(0)
    expect(readdirSync(directory.path)).toEqual(['support-desk'])
  })

  it('`create-tutti` on a terminal reports an invalid name while it can be changed', async () => {
    using directory = temporaryDirectory()
    const terminal = openTerminal([...FILES_ONLY, '--package-manager', 'npm'], directory.path)
    await terminal.until('Where should the project go?')
    terminal.write(`node_modules${ENTER}`)
    await terminal.until('"node_modules" is a name that npm reserves')
    terminal.write(`-2${ENTER}`)
    await terminal.until('No key is needed')
    expect(await terminal.exitCode).toBe(0)
    expect(readdirSync(directory.path)).toEqual(['node_modules-2'])
  })

  it('`create-tutti` on a terminal asks before it writes into a folder that is not empty, and does not write by default', async () => {
    using directory = temporaryDirectory()
    mkdirSync(join(directory.path, 'full'))
    writeFileSync(join(directory.path, 'full/README.md'), 'mine')
    const terminal = openTerminal(['full', ...FILES_ONLY], directory.path)
    await terminal.until('"full" is not empty (README.md)')
    terminal.write(ENTER)
    await terminal.until('no project was created')
    expect(await terminal.exitCode).toBe(130)
    expect(readdirSync(join(directory.path, 'full'))).toEqual(['README.md'])
    expect(readFileSync(join(directory.path, 'full/README.md'), 'utf8')).toBe('mine')
  })

  it('`create-tutti` on a terminal writes into a folder that is not empty after confirmation', async () => {
    using directory = temporaryDirectory()
    writeFileSync(join(directory.path, 'README.md'), 'mine')
    const args = ['.', '--name', 'desk', '--package-manager', 'npm', ...FILES_ONLY]
    const terminal = openTerminal(args, directory.path)
    await terminal.until('"." is not empty (README.md)')
    terminal.write('y')
    await terminal.until('No key is needed')
    expect(await terminal.exitCode).toBe(0)
    expect(readFileSync(join(directory.path, 'README.md'), 'utf8')).toMatch(/^# desk$/m)
  })

  it.each([
    ['Ctrl-C', CTRL_C],
    ['Escape', ESCAPE],
  ])('`create-tutti` on a terminal creates no project when the user presses %s', async (_, key) => {
    using directory = temporaryDirectory()
    const terminal = openTerminal(FILES_ONLY, directory.path)
    await terminal.until('Where should the project go?')
    terminal.write(`desk${ENTER}`)
    await terminal.until('Which package manager do you use?')
    terminal.write(key)
    await terminal.until('no project was created')
    expect(await terminal.exitCode).toBe(130)
    expect(readdirSync(directory.path)).toEqual([])
  })

  it('`create-tutti` on a terminal does not ask with --yes', async () => {
    using directory = temporaryDirectory()
    const terminal = openTerminal(['--yes', ...FILES_ONLY], directory.path)
    const shown = await terminal.until('No key is needed')
    expect(await terminal.exitCode).toBe(0)
    expect(shown).not.toContain('?')
    expect(readdirSync(directory.path)).toEqual(['support-desk'])
  })
})

/** Starts the program on a terminal, as if run by the package manager with this user agent. */
function openTerminal(args: readonly string[], cwd: string, userAgent = '') {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is not built: run "npm run build"`)
  const screen = new xterm.Terminal({ cols: 100, rows: 40, allowProposedApi: true })
  const own = Object.entries(process.env).filter(([name]) => !/^npm_|^CI$|COLOR/i.test(name))
  const env = { ...Object.fromEntries(own), npm_config_user_agent: userAgent }
  const program = spawn(process.execPath, [PROGRAM, ...args], {
    name: 'xterm-256color',
    cols: 100,
    rows: 40,
    cwd,
    env,
  })
  const exitCode = new Promise<number>((resolve) => {
    program.onExit((end) => resolve(end.exitCode))
  })
  const lines = (): string => {
    const { active } = screen.buffer
    const all = Array.from({ length: active.length }, (_, row) => active.getLine(row))
    return all.map((line) => line?.translateToString(true) ?? '').join('\n')
  }
  let isOver = false
  const checks = new Set<() => void>()
  const checkAll = (): void => {
    for (const check of checks) check()
  }
  program.onData((data) => screen.write(data, checkAll))
  void exitCode.then(() => {
    screen.write('', () => {
      isOver = true
      checkAll()
    })
  })
  return {
    exitCode,
    write: (keys: string) => program.write(keys),
    /** Waits until the screen shows `text`, and returns the screen. Fails when the program ends without it. */
    until: (text: string) =>
      new Promise<string>((resolve, reject) => {
        const check = (): void => {
          const shown = lines()
          const isFound = shown.includes(text)
          if (!isFound && !isOver) return
          checks.delete(check)
          if (isFound) resolve(shown)
          else reject(new Error(`The program ended before "${text}":\n${shown}`))
        }
        checks.add(check)
        check()
      }),
  }
}
