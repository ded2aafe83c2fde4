/**
 * Builds the container image with Docker, starts it as docs/production.md does, and stops it. Without a Docker daemon
 * these tests are skipped, except in CI.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { createClient } from '../../packages/client/src/index.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const IMAGE = `tutti-server-test:${process.pid}`
const KEY = 'a-key-that-nobody-guesses'
const KEYS = ['--env', `TUTTI_API_KEYS=me:${KEY}`]
const HARDENED = (
  '--init --read-only --tmpfs /tmp --volume /data ' +
  '--cap-drop ALL --security-opt no-new-privileges'
).split(' ')

/** Maximum size of `/app`, in MiB. */
const MAX_APP_MIB = 70

/** A build from nothing takes minutes. */
const BUILD_TIMEOUT_MS = 900_000

/** Many times the usual duration. */
const POLLING = { timeout: 60_000, interval: 200 }

const isSkipped = process.env['CI'] === undefined && spawnSync('docker', ['version']).status !== 0

if (isSkipped) console.warn('No Docker daemon is reachable: the container image is not tested')

describe.skipIf(isSkipped)('the image', () => {
  beforeAll(() => {
    docker(['build', '--tag', IMAGE, ROOT])
  }, BUILD_TIMEOUT_MS)

  afterAll(() => {
    docker(['image', 'rm', '--force', IMAGE])
  })

  it('The image contains what configs import, and every installed provider', () => {
    const own =
      'agent-call agent-tool builtin-tools core ensemble langchain mcp net pipeline protocol remote-tools server testing'
    const names = own.split(' ').map((name) => `@tutti/${name}`)
    names.push('@langchain/openai', '@langchain/anthropic', 'langchain/chat_models/universal', 'pg')
    const code = `for (const name of ${JSON.stringify(names)}) await import(name)`
    const words = ['--entrypoint', 'node', IMAGE, '--input-type=module', '--eval', code]
    expect(docker(['run', '--rm', ...words])).toBe('')
  })

  it('The image is small', () => {
    const words = ['--entrypoint', 'du', IMAGE, '--summarize', '--block-size=1M', '/app']
    expect(Number.parseInt(docker(['run', '--rm', ...words]), 10)).toBeLessThan(MAX_APP_MIB)
  })

  it('The image becomes healthy on a read-only file system without privileges, runs an ensemble, and stops', async () => {
    const publish = ['--detach', '--publish', '127.0.0.1:0:7329', '--health-interval', '1s']
    const id = docker(['run', ...publish, ...HARDENED, ...KEYS, IMAGE]).trim()
    try {
      const inspect = (format: string): string => docker(['inspect', '--format', format, id]).trim()
      await expect.poll(() => inspect('{{.State.Health.Status}}'), POLLING).toBe('healthy')
      const [address = ''] = docker(['port', id, '7329/tcp']).trim().split('\n')
      const client = createClient({ baseUrl: `http://${address}`, apiKey: KEY })
      const { status } = await client.runs.run({ inputs: { topic: 'AI safety' } })
      expect(status).toBe('COMPLETED')
      docker(['stop', id])
      expect(inspect('{{.State.ExitCode}}')).toBe('0')
    } finally {
      docker(['rm', '--force', '--volumes', id])
    }
  })
})

/** Runs a command of Docker. Returns its output, and throws with its errors. */
function docker(words: readonly string[]): string {
  return execFileSync('docker', words, { encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 })
}
