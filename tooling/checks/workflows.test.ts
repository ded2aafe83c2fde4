/** Tests the files of `.github`: they parse, pin every action, and have only the permissions they need. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const WORKFLOWS = globSync('.github/workflows/*.yml', { cwd: ROOT }).toSorted()
const ACTIONS = globSync('.github/actions/*/action.yml', { cwd: ROOT })

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>
  readonly needs?: string | readonly string[]
  readonly environment?: string
  readonly 'timeout-minutes'?: number
  readonly steps: readonly Step[]
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>
  readonly permissions?: unknown
  readonly jobs: Readonly<Record<string, Job>>
}

test('All files are valid YAML', () => {
  const paths = globSync('.github/**/*.yml', { cwd: ROOT })
  expect(paths.length).toBeGreaterThan(6)
  for (const path of paths) expect(parse(read(path)), path).toBeTypeOf('object')
})

test('A third-party action is pinned by a commit hash, with its version in a comment', () => {
  const lines = [...WORKFLOWS, ...ACTIONS].flatMap((path) => read(path).split('\n'))
  const foreign = lines.filter((line) => /\buses: (?!\.\/)/.test(line))
  expect(foreign.length).toBeGreaterThan(10)
  for (const line of foreign) {
    expect(line).toMatch(/uses: [\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  }
})

// Corepack compares the hash; npm and npx ignore it.
test('The version of pnpm is pinned, with the hash of its archive', () => {
  const { packageManager } = JSON.parse(read('package.json'))
  expect(packageManager).toMatch(/^pnpm@\d+\.\d+\.\d+\+sha512\.[0-9a-f]{128}$/)
})

test('One action has one version everywhere', () => {
  const text = [...WORKFLOWS, ...ACTIONS].map(read).join('\n')
  const versions = new Map<string, Set<string>>()
  for (const [, action = '', hash = ''] of text.matchAll(/uses: ([\w.-]+\/[\w.-]+)\S*@(\S+)/g)) {
    versions.set(action, (versions.get(action) ?? new Set()).add(hash))
  }
  expect([...versions].filter(([, hashes]) => hashes.size > 1)).toEqual([])
})

test('The image is built for both common processors, and runs no program of another one', () => {
  const { jobs }: Workflow = parse(read('.github/workflows/release.yml'))
  const build = jobs['image']?.steps.find(({ uses }) => uses?.includes('build-push-action'))
  expect(build?.with?.['platforms']).toBe('linux/amd64,linux/arm64')
  const last = read('Dockerfile')
    .split(/^FROM /m)
    .at(-1)
  expect(last).toContain('ENTRYPOINT')
  expect(last).not.toMatch(/^RUN /m)
})

describe.for(WORKFLOWS)('%s', (path) => {
  const workflow: Workflow = parse(read(path))
  const jobs = Object.entries(workflow.jobs)

  test('A workflow grants permissions per job only, and each job has a timeout', () => {
    expect(workflow.permissions).toEqual({})
    for (const [name, job] of jobs) {
      expect(job.permissions, name).toBeDefined()
      expect(job['timeout-minutes'], name).toBeTypeOf('number')
    }
  })

  test('A workflow does not run untrusted code with the permissions of this repository', () => {
    expect(Object.keys(workflow.on)).not.toContain('pull_request_target')
    expect(Object.keys(workflow.on)).not.toContain('workflow_run')
    for (const script of jobs.flatMap(([, { steps }]) => steps.map(({ run }) => run ?? ''))) {
      expect(script).not.toMatch(/\$\{\{/)
    }
  })

  test('A workflow keeps the credentials of a checkout only where it writes commits', () => {
    for (const [name, job] of jobs) {
      const checkout = job.steps.find(({ uses }) => uses?.startsWith('actions/checkout@'))
      const commits = job.steps.some(({ uses }) => uses?.startsWith('changesets/action/version@'))
      const expected = checkout === undefined || commits ? undefined : false
      expect(checkout?.with?.['persist-credentials'], name).toBe(expected)
    }
  })

  test('A workflow names existing scripts and files', () => {
    const { scripts }: { scripts: object } = JSON.parse(read('package.json'))
    const text = read(path)
    for (const [, script = ''] of text.matchAll(/npm run ([\w-]+)/g)) {
      expect(Object.keys(scripts)).toContain(script)
    }
    for (const [, file = ''] of text.matchAll(/(?:run: |uses: )(\.[\w./-]+)/g)) {
      expect(existsSync(join(ROOT, file)), file).toBe(true)
    }
    for (const job of jobs) {
      const needs = [job[1].needs ?? []].flat()
      expect(needs.filter((name) => workflow.jobs[name] === undefined)).toEqual([])
    }
  })
})

describe('a release', () => {
  const { jobs }: Workflow = parse(read('.github/workflows/release.yml'))
  const uses = (name: string): readonly string[] =>
    Object.values(jobs[name]?.steps ?? []).flatMap((step) => step.uses ?? step.run ?? [])

  test('A release is tested before it is packed, and packed before it is published', () => {
    expect(uses('test')).toContain('.ci/run')
    expect([jobs['pack']?.needs].flat()).toContain('test')
    expect(jobs['publish']?.needs).toBe('pack')
    expect(jobs['image']?.needs).toBe('publish')
    expect(jobs['site']?.needs).toBe('publish')
  })

  test('A release builds the documentation in one job and deploys it in another one, which only deploys', () => {
    expect(uses('site')).toContain('npm run site')
    expect(jobs['deploy-site']?.needs).toBe('site')
    expect(uses('deploy-site').map((step) => step.split('@')[0])).toEqual(['actions/deploy-pages'])
  })

  // The lock file has no licenses.
  test('A release keeps a bill of materials of each package, made from installed packages', () => {
    const command = uses('pack').find((step) => step.includes(' sbom '))
    expect(command).toMatch(/--filter '.\/packages\/\*' --filter '.\/apps\/server'/)
    expect(command).toMatch(/--sbom-format cyclonedx --prod/)
    expect(command).not.toContain('--lockfile-only')
    const upload = jobs['pack']?.steps.find(({ with: { name } = {} }) => name === 'sbom')
    expect(upload?.with?.['if-no-files-found']).toBe('error')
  })

  test('A release uses its identity only in the publishing jobs, which need an environment', () => {
    const trusted = Object.entries(jobs).filter(([, { permissions }]) => permissions?.['id-token'])
    expect(trusted.map(([name]) => name)).toEqual(['publish', 'image', 'deploy-site'])
    for (const [, { environment }] of trusted) expect(environment).toBeTypeOf('string')
  })

  test('A release publishes without running installed or built code, and without a token', () => {
    expect(uses('publish').filter((step) => /npm run|pnpm/.test(step))).toEqual([])
    const install = jobs['publish']?.steps.find(({ uses: name }) => name?.endsWith('/install'))
    expect(install?.with?.['options']).toBe('--ignore-scripts')
    const text = read('.github/workflows/release.yml')
    expect(text).not.toMatch(/NPM_TOKEN|NODE_AUTH_TOKEN|secrets\./)
    expect(text).toMatch(/NPM_CONFIG_PROVENANCE: 'true'/)
  })
})

test('Every supported version of Node is tested', () => {
  const { jobs }: { jobs: { node: { strategy: { matrix: { node: readonly string[] } } } } } = parse(
    read('.github/workflows/ci.yml'),
  )
  const { engines }: { engines: { node: string } } = JSON.parse(read('packages/core/package.json'))
  const [lowest, ...others] = jobs.node.strategy.matrix.node
  expect(`>=${lowest}`).toBe(engines.node)
  expect(others.length).toBeGreaterThan(1)
})

test('An issue form has a name, a description, and questions with unique ids', () => {
  const forms = globSync('.github/ISSUE_TEMPLATE/*.yml', { cwd: ROOT }).filter(
    (path) => !path.endsWith('config.yml'),
  )
  expect(forms).toHaveLength(2)
  for (const path of forms) {
    const { name, description, body } = parse(read(path))
    expect([typeof name, typeof description]).toEqual(['string', 'string'])
    const ids = body.map(({ id }: { readonly id: string }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { type, attributes } of body) {
      expect(type).toBe('textarea')
      expect(attributes.label).toBeTypeOf('string')
    }
  }
})

test('Dependencies are audited on each change and each week', () => {
  const { on, jobs }: Workflow = parse(read('.github/workflows/audit.yml'))
  expect(Object.keys(on)).toEqual(['push', 'pull_request', 'schedule'])
  expect(jobs['audit']?.steps.at(-1)?.run).toMatch(/^pnpm audit --prod/)
})

test('The images of a build get updates, with their digests', () => {
  const { updates }: { updates: readonly { directories?: readonly string[] }[] } = parse(
    read('.github/dependabot.yml'),
  )
  const folders = updates.flatMap(({ directories = [] }) => directories)
  const builds = globSync(['Dockerfile', 'packages/*/template/Dockerfile'], { cwd: ROOT })
  expect(builds).toHaveLength(2)
  for (const path of builds) expect(folders).toContain(join('/', path, '..'))
})

test('The targets of links in repository documents exist', () => {
  const documents = ['SECURITY.md', 'CONTRIBUTING.md', '.changeset/README.md', '.github/SUPPORT.md']
  for (const path of documents) {
    for (const [, target = ''] of read(path).matchAll(/\]\((?!https?:)([^)#]+)/g)) {
      expect(existsSync(join(ROOT, path, '..', target)), `${path}: ${target}`).toBe(true)
    }
  }
})

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}
