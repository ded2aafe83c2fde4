/**
 * Runs the marked code of the pages: ```ts run must print the following ```text, ```ts run=server runs against
 * the sample server, as ```python run=server does where python3 is installed, and files named `.test.ts` must pass.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { readPages, type Page } from './pages.ts'
import { SHOWN, startSampleServer, type SampleServer } from './sample-server.ts'
import { snippetFiles } from './snippets.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const pages = readPages(ROOT)
const files = snippetFiles(pages)

// The folder is next to docs/package.json, whose dependencies the code imports.
const folder = mkdtempSync(join(ROOT, 'docs', '.snippets-'))

let server: SampleServer

beforeAll(async () => {
  server = await startSampleServer(folder)
  for (const { path, text } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text.replaceAll(SHOWN, server.url))
  }
})

afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

describe.each(runs(pages))('$page', ({ page, file, printed }) => {
  it(`The page runs ${file}`, async () => {
    const path = files.findLast(
      (each) => each.page === page && each.path.endsWith(`/${file}`),
    )?.path
    const { code, output, errors } = await run(['--conditions=@tutti/source', path ?? file])
    expect({ code, errors: errors.replaceAll(/^(?:open|closed)\n/gm, '') }).toEqual({
      code: 0,
      errors: '',
    })
    if (printed !== undefined) expect(output.trim()).toBe(printed)
  })
})

const hasPython = spawnSync('python3', ['--version']).status === 0

it.skipIf(!hasPython).each(pythonBlocks(pages))('The Python of $page runs', async (block) => {
  const code = block.code.replaceAll(SHOWN, server.url)
  const { output, errors } = await run(['-c', code], 'python3')
  expect({ output: output.trim(), errors }).toEqual({ output: block.printed, errors: '' })
})

it('The page has tests that pass', async () => {
  const tests = files.filter(({ path }) => path.endsWith('.test.ts')).map(({ path }) => path)
  expect(tests).not.toEqual([])
  const vitest = join(
    dirname(createRequire(import.meta.url).resolve('vitest/package.json')),
    'vitest.mjs',
  )
  const { code, output } = await run([vitest, 'run', '--root', '.', ...tests])
  expect(code, output).toBe(0)
})

interface Run {
  readonly page: string
  readonly file: string
  readonly printed: string | undefined
}

function runs(all: readonly Page[]): readonly Run[] {
  return all.flatMap(({ path, blocks }) =>
    blocks.flatMap(({ language, meta, code }, at) => {
      // The tutorial has its own test, which executes it in order.
      if (language !== 'ts' || !/^run\b/.test(meta) || path === 'docs/tutorial.md') return []
      const file = /^\/\/ (\S+)\n/.exec(code)?.[1] ?? ''
      const next = blocks[at + 1]
      return [{ page: path, file, printed: next?.language === 'text' ? next.code : undefined }]
    }),
  )
}

/** Returns the Python that runs against the sample server, and what it must print. */
function pythonBlocks(all: readonly Page[]) {
  return all.flatMap(({ path: page, blocks }) =>
    blocks.flatMap(({ language, meta, code }, at) =>
      language === 'python' && meta === 'run=server'
        ? [{ page, code, printed: blocks[at + 1]?.code }]
        : [],
    ),
  )
}

interface Ended {
  readonly code: number | null
  readonly output: string
  readonly errors: string
}

/** Runs a program, by default Node, in the folder of the snippets. */
function run(words: readonly string[], program = process.execPath): Promise<Ended> {
  const child = spawn(program, words, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let errors = ''
  child.stdout.on('data', (data: Buffer) => (output += data.toString()))
  child.stderr.on('data', (data: Buffer) => (errors += data.toString()))
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code, output, errors }))
  })
}
