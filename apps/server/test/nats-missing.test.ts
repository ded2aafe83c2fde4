/** Runs the built server from a folder whose `node_modules` lack the NATS client, as after an ordinary install. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeAll, expect, it } from 'vitest'

const SERVER = fileURLToPath(new URL('..', import.meta.url))
const MISSING =
  /Cannot use NATS: the package @nats-io\/[\w-]+ is not installed; run "npm install @nats-io\/jetstream@3 @nats-io\/transport-node@3"/

const folder = mkdtempSync(join(tmpdir(), 'tutti-server-without-nats-'))

beforeAll(() => {
  cpSync(join(SERVER, 'dist'), join(folder, 'dist'), { recursive: true })
  cpSync(join(SERVER, 'package.json'), join(folder, 'package.json'))
  mkdirSync(join(folder, 'node_modules'))
  const modules = join(SERVER, 'node_modules')
  for (const name of readdirSync(modules).filter((entry) => entry !== '@nats-io')) {
    symlinkSync(join(modules, name), join(folder, 'node_modules', name))
  }
})

afterAll(() => {
  rmSync(folder, { recursive: true })
})

/** Runs a command over a database that does not exist. */
function tutti(...words: readonly string[]) {
  return spawnSync(process.execPath, [join(folder, 'dist', 'tutti.js'), ...words], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
      NATS_URL: 'nats://127.0.0.1:1',
    },
  })
}

it('A server with NATS_URL and without the NATS client does not start, and names the command that installs it', () => {
  const { status, stdout, stderr } = tutti('start')
  expect(status).not.toBe(0)
  expect(stdout + stderr).toMatch(MISSING)
})

it('`tutti doctor` reports the missing NATS client as a problem', () => {
  const { findings } = JSON.parse(tutti('doctor', '--json').stdout)
  expect(findings).toContainEqual({
    check: 'nats',
    level: 'problem',
    message: expect.stringMatching(MISSING),
  })
})
