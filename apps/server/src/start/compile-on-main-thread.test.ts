import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'

import { afterAll, beforeAll, expect, it } from 'vitest'

const SOURCE = new URL('compile-on-main-thread.ts', import.meta.url).href

let folder: string
let program: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tutti-replaced-'))
  program = join(folder, 'program.mjs')
  writeFileSync(
    program,
    `import { compileOnMainThread } from ${JSON.stringify(SOURCE)}
    compileOnMainThread(Number(process.argv[2]))
    const { pid, argv, execArgv, env } = process
    console.log(JSON.stringify({ pid, args: argv.slice(2), execArgv, marker: env.MARKER }))`,
  )
})

afterAll(() => {
  rmSync(folder, { recursive: true })
})

/** Runs the program with its own flag, and returns its output and its process id. */
async function runProgram({ cores = 2, isSentMessages = false }) {
  const own = '--disable-warning=ExperimentalWarning'
  const child = spawn(process.execPath, [own, program, String(cores), 'a b'], {
    env: { ...process.env, MARKER: 'kept' },
    stdio: ['ignore', 'pipe', 'pipe', ...(isSentMessages ? (['ipc'] as const) : [])],
  })
  const ended = once(child, 'exit')
  const [output = '', errors] = await Promise.all(
    [child.stdout, child.stderr].map((stream) => text(stream ?? Readable.from([]))),
  )
  await ended
  expect(errors).toBe('')
  return { own, pid: child.pid, printed: JSON.parse(output) }
}

it('The restart replaces the program, which keeps its id, arguments, flags and environment', async () => {
  const { own, pid, printed } = await runProgram({})
  expect(printed).toEqual({
    pid,
    args: ['2', 'a b'],
    execArgv: ['--no-concurrent-recompilation', own],
    marker: 'kept',
  })
})

it('The restart does not replace a program that its parent sends messages', async () => {
  const { own, printed } = await runProgram({ isSentMessages: true })
  expect(printed.execArgv).toEqual([own])
})

it('The restart does not replace a program that has free cores', async () => {
  const { own, printed } = await runProgram({ cores: 3 })
  expect(printed.execArgv).toEqual([own])
})
