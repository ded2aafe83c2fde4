/**
 * Assembles the folders that the image contains and starts the server in them as the Dockerfile says. Then builds the image
 * with Docker, starts it as docs/production.md does, and stops it. Without a Docker daemon, the tests that need one are
 * skipped, except in CI.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { createClient } from '../../packages/client/src/index.ts'
import { listImages, SERVER_IMAGE } from '../container/image-references.ts'
import { freePort } from '../postgres/free-port.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const IMAGE = `tutti-server-test:${process.pid}`
const KEY = 'a-key-that-nobody-guesses'
const KEYS = ['--env', `TUTTI_API_KEYS=me:${KEY}`]
const HARDENED = (
  '--init --read-only --tmpfs /tmp --volume /data ' +
  '--cap-drop ALL --security-opt no-new-privileges'
).split(' ')

/** Imports what configs import, and every installed provider. */
const IMPORTS = [
  ...'agent-tool builtin-tools core ensemble langchain pipeline protocol remote-tools server testing'
    .split(' ')
    .map((name) => `@tutti/${name}`),
  '@tutti/compat-agentensemble/connector',
  '@tutti/compat-jamjet/connector',
  '@langchain/openai',
  '@langchain/anthropic',
  'langchain/chat_models/universal',
  'pg',
  '@nats-io/jetstream',
]
const IMPORTING = [
  '--input-type=module',
  '--eval',
  `for (const name of ${JSON.stringify(IMPORTS)}) await import(name)`,
]

/** Maximum size of `/app`, in MiB. */
const MAX_APP_MIB = 70

/** Images of other projects, with their digests. */
const FOREIGN_IMAGES = new Set(
  listImages(ROOT)
    .map(({ image }) => image)
    .filter((image) => !image.startsWith(SERVER_IMAGE)),
)

/** A build from nothing takes minutes. */
const BUILD_TIMEOUT_MS = 900_000

/** Many times the usual duration. */
const POLLING = { timeout: 60_000, interval: 200 }

const isSkipped = process.env['CI'] === undefined && spawnSync('docker', ['version']).status !== 0

if (isSkipped) console.warn('No Docker daemon is reachable: the container image is not tested')

describe('the folders of the image', () => {
  const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
  const folder = mkdtempSync(join(tmpdir(), 'tutti-image-'))
  const app = join(folder, 'app')
  const inFolder = (word: string): string => word.replace(/^\/(?=app|data)/, `${folder}/`)
  /** Returns the words of an instruction in JSON, with the paths of this folder. */
  const wordsOf = (instruction: RegExp): readonly string[] =>
    JSON.parse(instruction.exec(dockerfile)?.[1] ?? '').map(inFolder)

  beforeAll(() => {
    execFileSync('node', ['tooling/container/assemble.ts', folder], { cwd: ROOT, stdio: 'ignore' })
  }, BUILD_TIMEOUT_MS)

  afterAll(() => {
    rmSync(folder, { recursive: true })
  })

  it('The folders of the image contain what configs import, and every installed provider', () => {
    expect(execFileSync('node', IMPORTING, { cwd: app, encoding: 'utf8' })).toBe('')
  })

  it('The folders of the image are small, and contain no sources and no links out of them', () => {
    const size = execFileSync('du', ['--summarize', '--block-size=1M', app], { encoding: 'utf8' })
    expect(Number.parseInt(size, 10)).toBeLessThan(MAX_APP_MIB)
    expect(execFileSync('find', [folder, '-type', 'l'], { encoding: 'utf8' })).toBe('')
    expect(existsSync(join(app, 'node_modules/@tutti/server/src'))).toBe(false)
  })

  it('The server in the folders of the image becomes healthy, runs an ensemble, and stops with 0', async () => {
    const settings = [...dockerfile.matchAll(/^ENV (.+)$/gm)].flatMap(([, pairs = '']) =>
      pairs.split(' ').map((pair) => pair.split('=')),
    )
    const env = {
      PATH: process.env['PATH'],
      ...Object.fromEntries(settings.map(([name, value = '']) => [name, inFolder(value)])),
      HOST: '127.0.0.1',
      PORT: String(await freePort()),
      TUTTI_API_KEYS: `me:${KEY}`,
    }
    const [program = '', ...words] = [
      ...wordsOf(/^ENTRYPOINT (\[.+\])$/m),
      ...wordsOf(/^CMD (\[.+\])$/m),
    ]
    const server = spawn(program, words, { cwd: app, env, stdio: 'ignore' })
    const ended = once(server, 'exit')
    try {
      const [check = '', ...rest] = wordsOf(/^HEALTHCHECK [^[]+CMD (\[.+\])$/m)
      const isHealthy = (): boolean => spawnSync(check, rest, { env }).status === 0
      await expect.poll(isHealthy, POLLING).toBe(true)
      const client = createClient({ baseUrl: `http://127.0.0.1:${env.PORT}`, apiKey: KEY })
      const { status } = await client.runs.run({ inputs: { topic: 'AI safety' } })
      expect(status).toBe('COMPLETED')
      expect(existsSync(join(folder, 'data/runs.sqlite'))).toBe(true)
    } finally {
      server.kill('SIGTERM')
    }
    expect(await ended).toEqual([0, null])
  })
})

describe.skipIf(isSkipped)('the images of other projects', () => {
  it.each([...FOREIGN_IMAGES])('%s exists for both processors', (image) => {
    // An engine verifies the digest of what it reads.
    const { manifests } = JSON.parse(docker(['buildx', 'imagetools', 'inspect', '--raw', image]))
    const platforms = manifests.map(
      ({ platform }: { platform: { os: string; architecture: string } }) =>
        `${platform.os}/${platform.architecture}`,
    )
    expect(platforms).toEqual(expect.arrayContaining(['linux/amd64', 'linux/arm64']))
  })
})

describe.skipIf(isSkipped)('the image', () => {
  beforeAll(() => {
    docker(['build', '--tag', IMAGE, ROOT])
  }, BUILD_TIMEOUT_MS)

  afterAll(() => {
    docker(['image', 'rm', '--force', IMAGE])
  })

  it('The image contains what configs import, and every installed provider', () => {
    expect(docker(['run', '--rm', '--entrypoint', 'node', IMAGE, ...IMPORTING])).toBe('')
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
