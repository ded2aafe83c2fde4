/** Tests the positions of errors in config files, as reported by the built server. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { ServerProcess, temporaryDirectory } from './server-process.ts'

/** Returns the error of the server for a config file with this source. */
async function readErrors(
  source: string,
  { name = 'tutti.config.ts', ...files }: Readonly<Record<string, string>> = {},
): Promise<{ readonly errors: string; readonly folder: string }> {
  using directory = temporaryDirectory()
  for (const [file, content] of Object.entries({ ...files, [name]: source })) {
    writeFileSync(join(directory.path, file), content)
  }
  const { errors } = await ServerProcess.refused(
    { TUTTI_CONFIG: name, TUTTI_DATA_DIR: join(directory.path, 'data') },
    directory.path,
  )
  return { errors, folder: directory.path }
}

it('A config error has the file, line and column of a syntax error in JavaScript', async () => {
  const { errors, folder } = await readErrors('const a = 1\nexport default { a, , }\n', {
    name: 'tutti.config.mjs',
  })
  expect(errors).toContain(`(${folder}/tutti.config.mjs:2:21)`)
})

it('A config error has the file, line and column of a syntax error in TypeScript', async () => {
  const { errors, folder } = await readErrors('const a: number = 1\nexport default { a, , }\n')
  expect(errors).toContain(`(${folder}/tutti.config.ts:2:21)`)
})

it('A config error has the position of the call that failed in an imported file', async () => {
  const { errors, folder } = await readErrors(
    "import { pay } from './pay.ts'\nexport default pay(1)\n",
    {
      'pay.ts': "export function pay(n: number) {\n  throw new Error('Cannot pay')\n}\n",
    },
  )
  expect(errors).toContain(`Cannot pay (${folder}/pay.ts:2:9)`)
})
