/**
 * Creates the folder for the container image; the Dockerfile runs this after `npm run build`.
 *
 *   <target>/app/package.json     makes configs ES modules
 *   <target>/app/node_modules     the server, the packages that configs import, and their dependencies by the lock file
 *   <target>/data                 empty, for the embedded store
 *
 * It needs only Node and pnpm.
 */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { pnpmArguments } from '../packages/pnpm.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The server and the packages that config files import. */
const PACKAGES = [
  'apps/server',
  'packages/agent-call',
  'packages/agent-tool',
  'packages/builtin-tools',
  'packages/compat-agentensemble',
  'packages/compat-jamjet',
  'packages/core',
  'packages/ensemble',
  'packages/langchain',
  'packages/mcp',
  'packages/net',
  'packages/pipeline',
  'packages/protocol',
  'packages/remote-tools',
  'packages/testing',
]

/**
 * Manifests that the install needs in addition: those that the server sides of `compat-*` depend on, which the program
 * contains, and that of optional packages, such as the NATS client.
 */
const MANIFESTS = ['packages/gateway', 'packages/runs', 'tooling/image']

/** Files that determine the installed versions. */
const LOCKED = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml']

/** Files that Node never runs; it does not load TypeScript from `node_modules`. */
const USELESS_FILES = /\.(?:[cm]?ts|map|md|markdown|flow)$/i

/** Licenses in Markdown, which must be included. */
const LICENSE_TEXTS = /^(?:licen[cs]e|copying|notice|third).*\.(?:md|markdown)$/i

/** Of the tokenizer only `js-tiktoken/lite` is imported, without its tables. */
const USELESS = [
  'js-tiktoken/dist/index.cjs',
  'js-tiktoken/dist/index.js',
  'js-tiktoken/dist/ranks',
]

const [, , target] = process.argv
if (target === undefined) throw new Error('Missing target. Usage: assemble.ts /image')
assemble(target)

/** Creates the folder `target`. */
function assemble(folder: string): void {
  const app = join(folder, 'app')
  mkdirSync(app, { recursive: true })
  mkdirSync(join(folder, 'data'), { recursive: true })
  // On the same file system as the target, so that the result can be moved.
  const workspace = mkdtempSync(join(folder, '.workspace-'))
  install(workspace)
  renameSync(join(workspace, 'node_modules'), join(app, 'node_modules'))
  rmSync(workspace, { recursive: true })
  for (const path of PACKAGES) putPackage(path, join(app, 'node_modules'))
  for (const path of USELESS) rmSync(join(app, 'node_modules', path), { recursive: true })
  prune(join(app, 'node_modules'))
  writeFileSync(join(app, 'package.json'), '{ "private": true, "type": "module" }\n')
}

/**
 * Installs the production dependencies of the packages, flat as npm does. Optional ones are left out: they are packages
 * that others of the workspace bring, such as React and Express, and whose code in a dependency nothing imports.
 */
function install(workspace: string): void {
  for (const path of LOCKED) cpSync(join(ROOT, path), join(workspace, path))
  for (const path of [...PACKAGES, ...MANIFESTS]) {
    mkdirSync(join(workspace, path), { recursive: true })
    cpSync(join(ROOT, path, 'package.json'), join(workspace, path, 'package.json'))
  }
  const words = [
    '--prod',
    '--frozen-lockfile',
    '--no-optional',
    '--ignore-scripts',
    '--prefer-offline',
  ]
  const layout = '--config.node-linker=hoisted'
  execFileSync('npx', pnpmArguments('install', ...words, layout), {
    cwd: workspace,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
}

/** Replaces the link to a package's sources by its build. */
function putPackage(path: string, modules: string): void {
  const target = join(modules, manifestIn(join(ROOT, path)).name)
  mkdirSync(dirname(target), { recursive: true })
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target)
  cpSync(join(ROOT, path, 'package.json'), join(target, 'package.json'))
  cpSync(join(ROOT, 'LICENSE'), join(target, 'LICENSE'))
  cpSync(join(ROOT, path, 'dist'), join(target, 'dist'), { recursive: true })
}

/** Removes useless files, links to packages that are only manifests, and empty folders. */
function prune(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const found = lstatSync(path)
    // Commands and metadata of the package manager.
    if (['.bin', '.pnpm', '.modules.yaml', '.pnpm-workspace-state-v1.json'].includes(name)) {
      rmSync(path, { recursive: true })
    } else if (found.isDirectory()) {
      prune(path)
      if (readdirSync(path).length === 0) rmSync(path, { recursive: true })
    } else if (found.isSymbolicLink()) {
      rmSync(path)
    } else if (USELESS_FILES.test(name) && !LICENSE_TEXTS.test(name)) rmSync(path)
  }
}

function manifestIn(folder: string): { readonly name: string } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}
