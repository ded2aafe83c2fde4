/**
 * Runs the marked code of the pages: ```ts run must print the following ```text, ```ts run=same, the program of another
 * product, the next ```text of its page. ```ts run=server runs against the sample server, as ```python run=server does where
 * python3 is installed, and files named `.test.ts` must pass.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { readPages, type CodeBlock, type Page } from './pages.ts'
import { SHOWN, startSampleServer, type SampleServer } from './sample-server.ts'
import { snippetFiles } from './snippets.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const pages = readPages(ROOT)
const files = snippetFiles(pages)

// The folder is next to docs/package.json, whose dependencies the code imports.
const folder = mkdtempSync(join(ROOT, 'docs', '.snippets-'))

let server: SampleServer

const programs = findPrograms(pages)

/** Ends of the programs that need no server, by path. */
let ends: ReadonlyMap<string, Ended>

beforeAll(async () => {
  server = await startSampleServer(folder)
  for (const { path, text } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text.replaceAll(SHOWN, server.url))
  }
  ends = await runTogether(programs.filter(({ isAlone }) => !isAlone).map(({ path }) => path))
})

afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

describe.each(programs)('$page', ({ file, path, isAlone, printed }) => {
  it(`The page runs ${file}`, async () => {
    const { code, output, errors } = isAlone
      ? await run(['--conditions=@tutti/source', path])
      : (ends.get(path) ?? { code: undefined, output: '', errors: 'The program did not end' })
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

interface Program {
  readonly page: string
  readonly file: string
  /** Path below the snippet folder. */
  readonly path: string
  /** Whether it runs in its own process. */
  readonly isAlone: boolean
  readonly printed: string | undefined
}

function findPrograms(all: readonly Page[]): readonly Program[] {
  return all.flatMap(({ path: page, blocks }) =>
    blocks.flatMap(({ language, meta, code }, at) => {
      // The tutorial has its own test, which executes it in order.
      if (language !== 'ts' || !/^run\b/.test(meta) || page === 'docs/tutorial.md') return []
      const file = /^\/\/ (\S+)\n/.exec(code)?.[1] ?? ''
      const known = files.findLast((each) => each.page === page && each.path.endsWith(`/${file}`))
      const next = meta === 'run=same' ? blocks.slice(at).find(isText) : blocks[at + 1]
      const printed = next !== undefined && isText(next) ? next.code : undefined
      const isAlone = meta === 'run=server'
      return [{ page, file, path: known?.path ?? file, isAlone, printed }]
    }),
  )
}

function isText({ language }: CodeBlock): boolean {
  return language === 'text'
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

/** Separates the outputs of programs in one process. */
const SEPARATOR = '\0'

/** Runs the program of each argument, one after another. */
const RUN_ALL = `
for (const path of process.argv.slice(2)) {
  await import(path).catch((error) => console.error(error))
  for (const stream of [process.stdout, process.stderr]) stream.write(${JSON.stringify(SEPARATOR)})
}
`

/** Runs programs in one process, which loads the packages once. */
async function runTogether(paths: readonly string[]): Promise<ReadonlyMap<string, Ended>> {
  writeFileSync(join(folder, 'run-all.mjs'), RUN_ALL)
  const words = ['--conditions=@tutti/source', 'run-all.mjs', ...paths.map((path) => `./${path}`)]
  const { code, output, errors } = await run(words)
  const outputs = output.split(SEPARATOR)
  const failures = errors.split(SEPARATOR)
  return new Map(
    paths
      .slice(0, outputs.length - 1)
      .map((path, at) => [path, { code, output: outputs[at] ?? '', errors: failures[at] ?? '' }]),
  )
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
