import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { processTool } from '../src/index.ts'
import { ToolResult } from '@tutti/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { callTool } from './call-tool.ts'
import { interpreterOf } from './languages.ts'

const PACKAGE = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(join(PACKAGE, 'README.md'), 'utf8')
const python = interpreterOf('python')
const { success, failure } = ToolResult

/** Programs of the page in order, by the names that its examples use. */
const PROGRAMS = {
  'sentiment.py': ['python', 0],
  'worker.py': ['python', 1],
  'worker.mjs': ['js', 0],
} as const

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tutti-readme-'))
  for (const [name, [language, index]] of Object.entries(PROGRAMS)) {
    writeFileSync(join(folder, name), blocks(language)[index] ?? '')
  }
})
afterAll(() => {
  rmSync(folder, { recursive: true })
})

describe('the README', () => {
  it.skipIf(python === undefined).each([0, 1])(
    'The README shows TypeScript that prints the documented output: block %i',
    (index) => {
      const block = blocks('ts')[index] ?? ''
      const code = block.replaceAll(/'(\w+\.py)'/g, (_, name: string) =>
        JSON.stringify(join(folder, name)),
      )
      const { stdout, stderr } = spawnSync(
        process.execPath,
        ['--conditions=@tutti/source', '--input-type=module-typescript', '--eval', code],
        { encoding: 'utf8', cwd: PACKAGE },
      )
      const promised = block.match(/^\/\/ .*$/gm)?.map((line) => `${line.slice(3)}\n`) ?? []
      expect(promised.length).toBeGreaterThan(0)
      expect({ stdout, stderr }).toEqual({ stdout: promised.join(''), stderr: '' })
    },
  )

  describe.each([
    ['worker.py', python ?? '', 'upper'],
    ['worker.mjs', process.execPath, 'toUpperCase'],
  ])('shows a worker in %s', (name, command, method) => {
    it.skipIf(command === '')('The README shows a worker that has a dozen lines', () => {
      const [language, index] = PROGRAMS[name as keyof typeof PROGRAMS]
      const code = blocks(language)[index] ?? ''
      const lines = code.split('\n').filter((line) => line.trim() !== '')
      expect(lines.length).toBeLessThanOrEqual(12)
    })

    it.skipIf(command === '')(
      'The README shows a worker that answers one call after the other',
      async () => {
        await using tool = workerOf(command, join(folder, name))
        for (const [text, answer] of [
          ['one', 'ONE'],
          ['zwölf\n€', 'ZWÖLF\n€'],
          ['a\u2028b', 'A\u2028B'],
        ]) {
          expect((await callTool(tool, text)).result).toEqual(success(answer ?? ''))
        }
      },
    )

    it.skipIf(command === '')(
      'The README shows a worker that also answers when its work fails',
      async () => {
        const broken = readFileSync(join(folder, name), 'utf8').replace(
          `text.${method}()`,
          'text.x.y',
        )
        const path = join(folder, `broken-${name}`)
        writeFileSync(path, broken)
        await using tool = workerOf(command, path)
        const { result } = await callTool(tool, 'one')
        expect(result).toEqual(failure(expect.stringMatching(/attribute|undefined/) as string))
        expect((await callTool(tool, 'two')).result).toEqual(result)
      },
    )
  })
})

function workerOf(command: string, path: string) {
  return processTool({
    name: 'shout',
    description: 'Writes a text in capitals',
    command,
    args: [path],
    mode: 'worker',
    worker: { maxRestarts: 0 },
  })
}

/** Returns the code blocks of one language in the README. */
function blocks(language: string): readonly string[] {
  const found = readme.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))
  return [...found].map(([, code = '']) => code)
}
