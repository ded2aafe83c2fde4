/**
 * Rehearses a release without publishing anything: packs every public package, serves the packages from a registry on this
 * machine, and does what a reader does, in empty folders outside of the repository:
 *
 * - `npm create tutti`, type check, tests, a server and a run, on every supported Node
 * - each package alone: install, imports on every supported Node
 * - types with every supported TypeScript, with `skipLibCheck` on and off
 * - the commands that use the packages from a clone
 *
 * `--short` is the form of CI, which is part of `npm test`: the project of `npm create tutti` on one Node, without a registry and
 * with the third-party packages that are already on this machine. `--keep` leaves the folders.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { parse } from 'yaml'

import { packPackages } from '../packages/pack.ts'
import { readTarball } from '../packages/tarball.ts'
import { CREATE_FROM_CLONE, INSTALL_FROM_CLONE } from '../reference/clone-note.ts'
import { publicNames } from '../reference/public-names.ts'
import { startLocalRegistry } from '../release/local-registry.ts'
import { installNode, Reader } from '../release/reader.ts'
import {
  importAlone,
  installAlone,
  installCompiler,
  projectSteps,
  searchAlone,
  typeSteps,
  type RehearsalStep,
} from '../release/rehearsal.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
})
process.exitCode = values.short ? runShortForm() : await rehearse()

function runShortForm(): number {
  const words = ['run', 'tooling/checks/create-tutti.test.ts']
  return spawnSync('vitest', words, { cwd: ROOT, stdio: 'inherit' }).status ?? 1
}

/** Performs all steps, also after a failed one, and returns the exit code. */
async function rehearse(): Promise<number> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tutti-release-')))
  const config = ['config', 'get', 'registry']
  const uplink = execFileSync('npm', config, { cwd: folder, encoding: 'utf8' }).trim()
  const failed: string[] = []
  try {
    const tarballs = await packPackages(join(folder, 'packed'))
    const packages = [...tarballs.values()].map((path) => readTarball(path).manifest)
    await using registry = await startLocalRegistry(join(folder, 'registry'), uplink)
    for (const path of tarballs.values()) await registry.publish(path)
    console.log(`Serving ${packages.length} packages at ${registry.url}`)
    const variables = readerVariables(folder, registry.url)
    const readers = supportedNodes().map((version) => {
      const nodeFolder = installNode(
        new Reader({ variables }),
        join(folder, `node-${version}`),
        version,
      )
      return { version, reader: new Reader({ variables, nodeFolder }) }
    })
    const alone = makeFolder(folder, 'alone')
    const [oldest] = readers
    if (oldest === undefined) throw new Error('No supported Node')
    const search = searchAlone(alone, packages, Object.values(publicNames()).flat())
    await perform([installAlone(oldest.reader, alone, packages), search], 'npm', failed)
    for (const { version, reader } of readers) {
      const steps = projectSteps(reader, makeFolder(folder, `on-${version}`))
      await perform([...steps, importAlone(reader, alone, packages)], `Node ${version}`, failed)
    }
    const project = join(folder, `on-${oldest.version}`, 'desk')
    for (const version of supportedCompilers()) {
      const compiler = installCompiler(
        oldest.reader,
        join(folder, `typescript-${version}`),
        version,
      )
      await perform(typeSteps(oldest.reader, { project, alone }, compiler), 'types', failed)
    }
    // From a clone, the packages are in no registry.
    const cloner = new Reader({ variables: { ...variables, npm_config_registry: uplink } })
    await perform(cloneSteps(cloner, makeFolder(folder, 'clone')), 'clone', failed)
  } finally {
    if (!values.keep) rmSync(folder, { recursive: true, force: true })
  }
  if (failed.length > 0) console.error(`Failed:\n${failed.join('\n')}`)
  return failed.length === 0 ? 0 : 1
}

/** Returns the variables that make npm use the local registry only, with a separate cache. */
function readerVariables(folder: string, registry: string): Readonly<Record<string, string>> {
  const settings = join(folder, 'npmrc')
  writeFileSync(settings, '')
  return {
    npm_config_registry: registry,
    npm_config_userconfig: settings,
    npm_config_cache: join(folder, 'cache'),
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  }
}

/** Returns the steps that run the commands of the documentation next to a clone. */
function cloneSteps(reader: Reader, folder: string): readonly RehearsalStep[] {
  return [
    {
      title: INSTALL_FROM_CLONE,
      run() {
        const project = makeFolder(folder, 'project')
        symlinkSync(ROOT, join(folder, 'tutti'))
        writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }\n')
        reader.run(project, 'sh', '-c', INSTALL_FROM_CLONE)
        reader.run(project, 'node', '--eval', "import('@tutti/server')")
      },
    },
    {
      title: CREATE_FROM_CLONE,
      run() {
        reader.run(folder, 'sh', '-c', CREATE_FROM_CLONE)
        reader.run(join(folder, 'app'), 'npm', 'run', 'check')
      },
    },
  ]
}

async function perform(
  steps: readonly RehearsalStep[],
  group: string,
  failed: string[],
): Promise<void> {
  for (const { title, run } of steps) {
    const startedAt = performance.now()
    let problem = ''
    try {
      await run()
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error)
      failed.push(`${group}: ${title}`)
    }
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
    console.log(`${problem === '' ? 'ok  ' : 'FAIL'} ${group}: ${title} (${seconds} s)`)
    if (problem !== '') console.error(problem)
  }
}

/** Returns the versions of Node on which CI tests the packages, oldest first. */
function supportedNodes(): readonly string[] {
  const workflow = parse(readFileSync(join(ROOT, '.github/workflows/ci.yml'), 'utf8'))
  return workflow.jobs.node.strategy.matrix.node
}

/** Returns the versions of TypeScript that this repository is checked with, oldest first. */
function supportedCompilers(): readonly string[] {
  const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return ['typescript-5', 'typescript'].map((name) =>
    String(devDependencies[name]).replace(/^npm:typescript@/, ''),
  )
}

function makeFolder(...parts: readonly string[]): string {
  const path = join(...parts)
  mkdirSync(path, { recursive: true })
  return path
}
