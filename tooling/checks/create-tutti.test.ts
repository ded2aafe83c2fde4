/**
 * Runs `npm create tutti` from the packed packages in an empty folder outside the repository. The created
 * project installs, type-checks, passes its tests, serves and runs.
 */
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'

import { createClient } from '../../packages/client/src/index.ts'
import { lockedVersions } from '../packages/locked-versions.ts'
import { packPackages } from '../packages/pack.ts'
import { pnpmArguments } from '../packages/pnpm.ts'

const FOLDER = mkdtempSync(join(tmpdir(), 'tutti-create-'))
const PROJECT = join(FOLDER, 'desk')

/** Variables that would change the behavior of a project, or reveal that a package manager runs this test. */
const OWN =
  /^(?:npm_|HOST$|PORT$|DATABASE_|TUTTI_|MODEL$|REVIEW$|OPENAI_|ANTHROPIC_|NODE_OPTIONS$|VITEST|TEST$|NODE_ENV$)/i

const ENVIRONMENT = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !OWN.test(name))),
  // This repository's Node without its other programs.
  PATH: [dirname(process.execPath), ...foldersOfPath()].join(delimiter),
  NO_COLOR: '1',
}

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
    const words = ['exec', '--yes', '--offline', '--package', packed, '--']
    const { stdout } = run(
      'npm',
      [...words, 'create-tutti', 'desk', '--yes', '--no-install'],
      FOLDER,
    )
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
    run('npx', pnpmArguments('install', '--prefer-offline', '--no-frozen-lockfile'))
  })

  it('A created project type-checks', () => {
    run('npm', ['run', 'check'])
  })

  it('A created project passes its own tests', () => {
    expect(run('npm', ['test']).stdout).toMatch(/Tests +9 passed \(9\)/)
  })

  it('A created project serves with "npm start", and completes a run with "npm run run"', async () => {
    await using server = await Serving.start('start')
    const { status, stdout } = spawnSync('npm', ['run', '--silent', 'run'], {
      cwd: PROJECT,
      env: { ...ENVIRONMENT, TUTTI_URL: server.url },
      encoding: 'utf8',
    })
    expect([status, stdout]).toEqual([0, expect.stringContaining('We offer 49 USD.')])
    const { ensembles, tools } = await server.client().capabilities()
    expect(ensembles.map(({ name }) => name)).toEqual(['support-desk'])
    expect(tools.map(({ name }) => name).toSorted()).toEqual(['find_orders', 'quote_refund'])
    expect(healthCheck(server.url)).toBe(0)
  })

  it('A created project lets a person review with "npm run dev" and REVIEW=on in .env', async () => {
    cpSync(join(PROJECT, '.env.example'), join(PROJECT, '.env'))
    const example = readFileSync(join(PROJECT, '.env'), 'utf8')
    writeFileSync(join(PROJECT, '.env'), example.replace('REVIEW=\n', 'REVIEW=on\n'))
    await using server = await Serving.start('dev')
    const client = server.client()
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
    run('tar', ['-xzf', tarballs.get('create-tutti') ?? '', '-C', join(FOLDER, 'unpacked')], FOLDER)
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

/** The project's server, started by a script of its package.json. */
class Serving implements AsyncDisposable {
  readonly #child: ReturnType<typeof spawn>
  readonly #ended: Promise<unknown>
  output = ''

  private constructor(script: string) {
    // In a separate process group npm and its children stop together, as with Ctrl-C.
    this.#child = spawn('npm', ['run', '--silent', script], {
      cwd: PROJECT,
      env: { ...ENVIRONMENT, PORT: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve))
  }

  /** Starts the server and waits until it accepts requests. */
  static async start(script: string): Promise<Serving> {
    const server = new Serving(script)
    const ready = new Promise<boolean>((resolve) => {
      for (const stream of [server.#child.stdout, server.#child.stderr]) {
        stream?.on('data', (data: Buffer) => {
          server.output += data.toString()
          if (server.url !== '') resolve(true)
        })
      }
    })
    if (await Promise.race([ready, server.#ended.then(() => false)])) return server
    throw new Error(`"npm run ${script}" ended before it was ready: ${server.output}`)
  }

  get url(): string {
    return /\bhttp:\/\/127\.0\.0\.1:\d+(?=\s)/.exec(this.output)?.[0] ?? ''
  }

  client() {
    return createClient({ baseUrl: this.url })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null) process.kill(-(this.#child.pid ?? 0), 'SIGTERM')
    await this.#ended
  }
}

/** Returns the exit code of the Dockerfile's health check against a local server. */
function healthCheck(url: string): number | null {
  const dockerfile = readFileSync(join(PROJECT, 'Dockerfile'), 'utf8')
  const [, words = '[]'] = /HEALTHCHECK[\s\S]*?CMD (\[.*\])\n/.exec(dockerfile) ?? []
  const [program, ...rest]: readonly string[] = JSON.parse(words)
  const env = { ...ENVIRONMENT, PORT: new URL(url).port }
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

/** Runs a program to its end; throws with its output when it fails. */
function run(program: string, words: readonly string[], cwd = PROJECT) {
  const { status, stdout, stderr, error } = spawnSync(program, words, {
    cwd,
    env: ENVIRONMENT,
    encoding: 'utf8',
  })
  if (status === 0) return { stdout, stderr }
  throw new Error(`${program} ${words.join(' ')}: ${error?.message ?? status}\n${stdout}${stderr}`)
}

function foldersOfPath(): readonly string[] {
  const folders = process.env['PATH']?.split(delimiter) ?? []
  return folders.filter((folder) => !folder.startsWith(process.cwd()))
}
