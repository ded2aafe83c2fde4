/** Runs the code in the README of `@tutti/client` against the built server without a config. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, it } from 'vitest'

import { ServerProcess, temporaryDirectory } from './server-process.ts'

const CLIENT = fileURLToPath(new URL('../../../packages/client', import.meta.url))

/** Expected result of each block. */
const ENDS = [
  /\n\nCOMPLETED in \d+ ms\n$/,
  /^Connection open 0\n[^]*COMPLETED 2\nConnection closed 0\n$/,
]

it('The client executes the code blocks of its README', { timeout: 60_000 }, async () => {
  const readme = readFileSync(`${CLIENT}/README.md`, 'utf8')
  const blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code)
  expect(blocks).toHaveLength(ENDS.length)
  using data = temporaryDirectory()
  await using server = await ServerProcess.start({ TUTTI_DATA_DIR: data.path })
  for (const [index, block] of blocks.entries()) {
    const code = block.replace('http://127.0.0.1:7329', server.url)
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      ['--conditions=@tutti/source', '--input-type=module-typescript', '--eval', code],
      { cwd: CLIENT },
    )
    expect(stderr).toBe('')
    expect(stdout).toMatch(ENDS[index] ?? /^$/)
  }
})
