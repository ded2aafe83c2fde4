/**
 * Runs `npm create tutti` from the packed packages in an empty folder outside the repository. The created project
 * installs, type-checks, passes its tests, serves and runs. This is the short form of `npm run release:dry`: it needs no
 * registry, and third-party packages have the versions of the lock file.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'

import { createClient } from '../../packages/client/src/index.ts'
import { lockedVersions } from '../packages/locked-versions.ts'
import { packPackages } from '../packages/pack.ts'
import { pnpmArguments } from '../packages/pnpm.ts'
import { Reader } from '../release/reader.ts'

const FOLDER = mkdtempSync(join(tmpdir(), 'tutti-create-'))
const PROJECT = join(FOLDER, 'desk')

const reader = new Reader()
let tarballs: ReadonlyMap<string, string> = new Map()

beforeAll(async () => {
  tarballs = await packPackages(join(FOLDER, 'packed'))
})

afterAll(() => {
  rmSync(FOLDER, { recursive: true, force: true })
})

describe('npm create tutti', () => {
  it('`npm create tutti` creates a project', () => {
    const packed = tarballs.get('create-tutti') ?? ''
    const words = ['exec', '--yes', '--offline', '--package', packed, '--', 'create-tutti']
    const { stdout } = reader.run(FOLDER, 'npm', ...words, 'desk', '--yes', '--no-install')
    expect(stdout).toContain('Created desk in desk')
    expect(stdout).toContain('npm install')
    // npm excludes files of this name from packages.
    expect(readFileSync(join(PROJECT, '.gitignore'), 'utf8')).toContain('.env\n')
    for (const name of Object.keys(manifest().dependencies)) {
      if (name.startsWith('@tutti/')) expect(tarballs.has(name)).toBe(true)
    }
  })

  it('A created project installs', () => {
    writeFileSync(join(PROJECT, 'package.json'), JSON.stringify(packedManifest()))
    const packed = [...tarballs].map(([name, path]) => [name, `file:${path}`])
    const overrides = { ...lockedVersions(), ...Object.fromEntries(packed) }
    writeFileSync(join(PROJECT, 'pnpm-workspace.yaml'), stringify({ overrides }))
    // pnpm links packages that the repository has already installed.
    const words = pnpmArguments('install', '--prefer-offline', '--no-frozen-lockfile')
    reader.run(PROJECT, 'npx', ...words)
  })

  it('A created project type-checks', () => {
    reader.run(PROJECT, 'npm', 'run', 'check')
  })

  it('A created project passes its own tests', () => {
    expect(reader.run(PROJECT, 'npm', 'test').stdout).toMatch(/Tests +9 passed \(9\)/)
  })

  it('A created project serves with "npm start", and completes a run with "npm run run"', async () => {
    await using server = await reader.serve(PROJECT, 'start')
    const { status, stdout } = spawnSync('npm', ['run', '--silent', 'run'], {
      cwd: PROJECT,
      env: { ...reader.environment, TUTTI_URL: server.url },
      encoding: 'utf8',
    })
    expect([status, stdout]).toEqual([0, expect.stringContaining('We offer 49 USD.')])
    const { ensembles, tools } = await createClient({ baseUrl: server.url }).capabilities()
    expect(ensembles.map(({ name }) => name)).toEqual(['support-desk'])
    expect(tools.map(({ name }) => name).toSorted()).toEqual(['find_orders', 'quote_refund'])
    expect(healthCheck(server.url)).toBe(0)
  })

  it('A created project lets a person review with "npm run dev" and REVIEW=on in .env', async () => {
    cpSync(join(PROJECT, '.env.example'), join(PROJECT, '.env'))
    const example = readFileSync(join(PROJECT, '.env'), 'utf8')
    writeFileSync(join(PROJECT, '.env'), example.replace('REVIEW=\n', 'REVIEW=on\n'))
    await using server = await reader.serve(PROJECT, 'dev')
    const client = createClient({ baseUrl: server.url })
    const inputs = { customer: 'grace@example.com', message: 'My lamp flickers' }
    const { runId } = await client.runs.submit({ inputs })
    await expect
      .poll(async () => (await client.reviews.list()).reviews)
      .toMatchObject([
        { prompt: 'Send this answer?', taskOutput: expect.stringContaining('We offer 42.5 USD.') },
      ])
    const [review] = (await client.reviews.list()).reviews
    await client.reviews.decide(review?.reviewId ?? '', { decision: 'CONTINUE' })
    expect((await client.runs.result(runId)).status).toBe('COMPLETED')
  })
})

describe('the packed program', () => {
  it('The packed program reports in one sentence that Node is too old, before it loads code that an old one cannot parse', () => {
    const old = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.19.0'})`
    const program = join(FOLDER, 'unpacked/package/dist/create-tutti.js')
    mkdirSync(join(FOLDER, 'unpacked'))
    const packed = tarballs.get('create-tutti') ?? ''
    reader.run(FOLDER, 'tar', '-xzf', packed, '-C', join(FOLDER, 'unpacked'))
    // The code after that sentence is removed, so loading it would be an error.
    rmSync(join(FOLDER, 'unpacked/package/template'), { recursive: true })
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', old, program], {
      encoding: 'utf8',
    })
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toBe(
      'create-tutti needs Node 22.18 or later, but this is Node 20.19.0. Install a current Node: https://nodejs.org\n',
    )
  })
})

/** Returns the exit code of the Dockerfile's health check against a local server. */
function healthCheck(url: string): number | null {
  const dockerfile = readFileSync(join(PROJECT, 'Dockerfile'), 'utf8')
  const [, words = '[]'] = /HEALTHCHECK[\s\S]*?CMD (\[.*\])\n/.exec(dockerfile) ?? []
  const [program, ...rest]: readonly string[] = JSON.parse(words)
  const env = { ...reader.environment, PORT: new URL(url).port }
  return spawnSync(program ?? '', rest, { env }).status
}

/** Returns `package.json` with the packed packages instead of published ones. */
function packedManifest() {
  const made = manifest()
  const dependencies = Object.fromEntries(
    Object.entries(made.dependencies).map(([name, range]) => {
      const packed = tarballs.get(name)
      return [name, packed === undefined ? range : `file:${packed}`]
    }),
  )
  return { ...made, dependencies }
}

function manifest(): { readonly dependencies: Readonly<Record<string, string>> } {
  return JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'))
}
