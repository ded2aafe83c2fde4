/** `npm create tutti` as a person at a terminal sees it. It is here because this package has the pseudo-terminal. */
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

const ALONE = ['--no-install', '--no-git']

describe('create-tutti at a terminal', () => {
  it('asks for the folder and the package manager, and says what is next', async () => {
    using directory = temporaryDirectory()
    const terminal = openTerminal(ALONE, directory.path, 'pnpm/12.0.0 npm/? node/v24.0.0')
    await terminal.until('Where should the project go?')
    terminal.write(`my-desk${ENTER}`)
    const asked = await terminal.until('Which package manager do you use?')
    expect(asked).toMatch(/● pnpm/)
    terminal.write(`${DOWN}${ENTER}`)
    const told = await terminal.until('No key is needed')
    expect(await terminal.exitCode).toBe(0)
    expect(told).toMatch(/Created my-desk in my-desk: \d+ files/)
    expect(told).toContain('cd my-desk')
    expect(told).toContain('yarn install')
    const manifest = readFileSync(join(directory.path, 'my-desk/package.json'), 'utf8')
    expect(JSON.parse(manifest)).toMatchObject({ name: 'my-desk' })
  })

  it('takes the folder that it proposes', async () => {
    using directory = temporaryDirectory()
    const terminal = openTerminal([...ALONE, '--package-manager', 'npm'], directory.path)
    await terminal.until('support-desk')
    terminal.write(ENTER)
    await terminal.until('No key is needed')
    expect(await terminal.exitCode).toBe(0)
    expect(readdirSync(directory.path)).toEqual(['support-desk'])
  })

  it('says what is wrong with a name while it can be changed', async () => {
    using directory = temporaryDirectory()
    const terminal = openTerminal([...ALONE, '--package-manager', 'npm'], directory.path)
    await terminal.until('Where should the project go?')
    terminal.write(`node_modules${ENTER}`)
    await terminal.until('"node_modules" is a name that npm keeps for itself')
    terminal.write(`-2${ENTER}`)
    await terminal.until('No key is needed')
    expect(await terminal.exitCode).toBe(0)
    expect(readdirSync(directory.path)).toEqual(['node_modules-2'])
  })

  it('asks before it writes into a folder that is not empty, and takes no for the answer', async () => {
    using directory = temporaryDirectory()
    mkdirSync(join(directory.path, 'full'))
    writeFileSync(join(directory.path, 'full/README.md'), 'mine')
    const terminal = openTerminal(['full', ...ALONE], directory.path)
    await terminal.until('"full" is not empty (README.md)')
    terminal.write(ENTER)
    await terminal.until('Nothing was created')
    expect(await terminal.exitCode).toBe(130)
    expect(readdirSync(join(directory.path, 'full'))).toEqual(['README.md'])
    expect(readFileSync(join(directory.path, 'full/README.md'), 'utf8')).toBe('mine')
  })

  it('writes into it when that is the answer', async () => {
    using directory = temporaryDirectory()
    writeFileSync(join(directory.path, 'README.md'), 'mine')
    const words = ['.', '--name', 'desk', '--package-manager', 'npm', ...ALONE]
    const terminal = openTerminal(words, directory.path)
    await terminal.until('"." is not empty (README.md)')
    terminal.write('y')
    await terminal.until('No key is needed')
    expect(await terminal.exitCode).toBe(0)
    expect(readFileSync(join(directory.path, 'README.md'), 'utf8')).toMatch(/^# desk$/m)
  })

  it.each([
    ['Ctrl-C', CTRL_C],
    ['Escape', ESCAPE],
  ])('creates nothing when a person leaves by %s', async (_, key) => {
    using directory = temporaryDirectory()
    const terminal = openTerminal(ALONE, directory.path)
    await terminal.until('Where should the project go?')
    terminal.write(`desk${ENTER}`)
    await terminal.until('Which package manager do you use?')
    terminal.write(key)
    await terminal.until('Nothing was created')
    expect(await terminal.exitCode).toBe(130)
    expect(readdirSync(directory.path)).toEqual([])
  })

  it('asks nothing with --yes', async () => {
    using directory = temporaryDirectory()
    const terminal = openTerminal(['--yes', ...ALONE], directory.path)
    const told = await terminal.until('No key is needed')
    expect(await terminal.exitCode).toBe(0)
    expect(told).not.toContain('?')
    expect(readdirSync(directory.path)).toEqual(['support-desk'])
  })
})

/** The program in a terminal, run as by the package manager that `userAgent` tells of. */
function openTerminal(words: readonly string[], cwd: string, userAgent = '') {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is not built: run "npm run build"`)
  const screen = new xterm.Terminal({ cols: 100, rows: 40, allowProposedApi: true })
  const own = Object.entries(process.env).filter(([name]) => !/^npm_|^CI$|COLOR/i.test(name))
  const env = { ...Object.fromEntries(own), npm_config_user_agent: userAgent }
  const program = spawn(process.execPath, [PROGRAM, ...words], {
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
  const looks = new Set<() => void>()
  const look = (): void => {
    for (const each of looks) each()
  }
  program.onData((data) => screen.write(data, look))
  void exitCode.then(() => {
    screen.write('', () => {
      isOver = true
      look()
    })
  })
  return {
    exitCode,
    write: (keys: string) => program.write(keys),
    /** Waits until the screen shows `text`; gives all of the screen then. Fails when the program ends without it. */
    until: (text: string) =>
      new Promise<string>((resolve, reject) => {
        const look = (): void => {
          const shown = lines()
          const isThere = shown.includes(text)
          if (!isThere && !isOver) return
          looks.delete(look)
          if (isThere) resolve(shown)
          else reject(new Error(`It ended before "${text}":\n${shown}`))
        }
        looks.add(look)
        look()
      }),
  }
}
