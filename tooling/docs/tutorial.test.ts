/**
 * Follows the tutorial: saves its files in order and runs its commands with the built program. The word after
 * `sh` says what a block is: `install` is left to the test of `npm create tutti`, `server` and `restart` start
 * the server, `kill` kills the server and no client of it, and the output of `run` is compared with the text that follows.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, expect, it } from 'vitest'

import { freePort } from '../postgres/free-port.ts'
import { parsePage, type CodeBlock } from './pages.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PROGRAM = join(ROOT, 'apps', 'server', 'dist', 'tutti.js')
const { blocks } = parsePage('tutorial', readFileSync(join(ROOT, 'docs/tutorial.md'), 'utf8'))

// The folder is next to docs/package.json, whose dependencies the files import.
const folder = mkdtempSync(join(ROOT, 'docs', '.snippets-'))

const port = String(await freePort())
const url = `http://127.0.0.1:${port}`
const environment = { ...process.env, PORT: port, TUTTI_URL: url, NO_COLOR: '1' }

let server: ChildProcess | undefined

afterAll(async () => {
  await end('SIGTERM')
  rmSync(folder, { recursive: true })
})

it('The tutorial works as written', { timeout: 120_000 }, async () => {
  const done: string[] = []
  for (const [at, block] of blocks.entries()) {
    const { language, meta, code } = block
    if (language === 'ts') save(block)
    if (language !== 'sh') continue
    const [what = '', how = ''] = meta.split(' ')
    if (what === 'server' || what === 'restart') await start()
    else if (what === 'kill') await killServer(code)
    else if (what === 'run') await command(how, code, blocks[at + 1])
    else expect(what, code).toBe('install')
    done.push(what)
  }
  expect(done.filter((what) => what === 'restart')).toHaveLength(2)
  expect(done).toContain('kill')
})

/** The last version of the model calls a provider; readers try that themselves. */
function save({ code }: CodeBlock): void {
  const name = /^\/\/ (\S+)\n/.exec(code)?.[1] ?? ''
  expect(name).not.toBe('')
  writeFileSync(join(folder, name), code.replaceAll('http://127.0.0.1:7329', url))
}

async function command(how: string, code: string, next: CodeBlock | undefined): Promise<void> {
  const review = how === 'until' || how === 'review' ? await openReview() : ''
  const words = wordsOf(code.replace('REVIEW_ID', review))
  const [program = '', ...rest] = words[0] === 'npx' ? words.slice(1) : words
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...(program === 'tutti' ? [PROGRAM] : []), ...rest],
    { cwd: folder, env: environment, encoding: 'utf8' },
  )
  expect(status === 0, `${code}\n${stderr}`).toBe(how !== 'fails')
  if (how === 'until') expect(stdout).toContain(review)
  if (next?.language === 'text') expect(stdout.trim()).toBe(next.code)
}

/** Checks that the command kills the server only, while a client is connected; then kills the server. */
async function killServer(code: string): Promise<void> {
  const client = await fetch(`${url}/api/runs/last-trip/events`)
  const command = code.replace('kill -9', 'echo').replaceAll('7329', port)
  const { stdout, error } = spawnSync('sh', ['-c', `command -v lsof >&2 && ${command}`], {
    encoding: 'utf8',
  })
  expect(error).toBeUndefined()
  // A machine without lsof prints nothing.
  if (stdout !== '') expect(stdout).toBe(`${server?.pid}\n`)
  await end('SIGKILL')
  await client.body?.cancel().catch(() => undefined)
}

/** Splits a command into words as a shell does; double-quoted text is one word. */
function wordsOf(line: string): readonly string[] {
  return (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''))
}

/** Waits for an open review and returns its id. */
async function openReview(): Promise<string> {
  let id = ''
  await expect
    .poll(async () => {
      const { reviews } = await (await fetch(`${url}/api/reviews`)).json()
      id = reviews[0]?.reviewId ?? ''
      return id
    })
    .not.toBe('')
  return id
}

async function start(): Promise<void> {
  await end('SIGTERM')
  const child = spawn(process.execPath, [PROGRAM, 'start'], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  server = child
  let output = ''
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (data: Buffer) => {
      output += data.toString()
      if (output.includes('Tutti ready on')) resolve()
    })
    child.once('exit', () => {
      reject(new Error(`The server ended: ${output}`))
    })
  })
}

async function end(signal: NodeJS.Signals): Promise<void> {
  const child = server
  server = undefined
  if (child === undefined) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await ended
}
