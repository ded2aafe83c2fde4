import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeAll, expect, it } from 'vitest'

const PACKAGES = fileURLToPath(new URL('../..', import.meta.url))

/** A copy of the package in a folder whose `node_modules` lack the client. */
const folder = mkdtempSync(join(tmpdir(), 'tutti-nats-missing-'))

beforeAll(() => {
  cpSync(join(PACKAGES, 'nats', 'src'), join(folder, 'src'), { recursive: true })
  mkdirSync(join(folder, 'node_modules', '@tutti'), { recursive: true })
  for (const name of ['core', 'runs']) {
    symlinkSync(join(PACKAGES, name), join(folder, 'node_modules', '@tutti', name))
  }
})

afterAll(() => {
  rmSync(folder, { recursive: true })
})

it.each([
  "await natsEngine({ servers: 'nats://127.0.0.1:4222' })",
  "await readClusterState({ servers: 'nats://127.0.0.1:4222' })",
])(
  '[NATS-L1] Without the client, "%s" fails with the command that installs it, and the import does not',
  (use) => {
    const script = join(folder, 'use.ts')
    const lines = [
      "import { natsEngine } from './src/index.ts'",
      "import { readClusterState } from './src/internal.ts'",
      `try { ${use} } catch ({ code, message }) { console.log(code, message) }`,
    ]
    writeFileSync(script, lines.join('\n'))
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--conditions=@tutti/source', '--no-warnings', script],
      { encoding: 'utf8' },
    )
    expect([stdout, stderr]).toEqual([
      expect.stringMatching(
        /^NOT_CONFIGURED Cannot use NATS: the package @nats-io\/[\w-]+ is not installed; run "npm install @nats-io\/jetstream@3 @nats-io\/transport-node@3"\n$/,
      ),
      '',
    ])
  },
)
