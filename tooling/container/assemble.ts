/**
 * Lays out the folder that the container image is made of; the Dockerfile runs it after `npm run build`.
 *
 *   <target>/app/package.json     says that configs are modules
 *   <target>/app/node_modules     the server, what configs import, and what they need by the lock file
 *   <target>/data                 empty, for the embedded store
 *
 * It needs nothing that is installed but pnpm, so that it may run on a bare Node.
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

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The server, and what config files import. */
const PACKAGES = [
  'apps/server',
  'packages/agent-call',
  'packages/agent-tool',
  'packages/builtin-tools',
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

/** What says which versions are installed. */
const LOCKED = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml']

/** Nothing that Node runs: it takes no TypeScript from `node_modules`. */
const USELESS_FILES = /\.(?:[cm]?ts|map|md|markdown|flow)$/i

/** Texts that have to go along whatever their ending. */
const LICENCES = /^(?:licen[cs]e|copying|notice|third)/i

/** React is for web pages, and of the tokenizer only `js-tiktoken/lite` is imported, which gets its tables elsewhere. */
const USELESS = [
  'react',
  'react-dom',
  'scheduler',
  'js-tiktoken/dist/index.cjs',
  'js-tiktoken/dist/index.js',
  'js-tiktoken/dist/ranks',
]

const [, , target] = process.argv
if (target === undefined) throw new Error('Cannot assemble: say where, as assemble.ts /image')
assemble(target)

/** Lays out the folder `target`, which is made. */
function assemble(folder: string): void {
  const app = join(folder, 'app')
  mkdirSync(app, { recursive: true })
  mkdirSync(join(folder, 'data'), { recursive: true })
  // Beside the target, so that what is installed can be moved there.
  const workspace = mkdtempSync(join(folder, '.workspace-'))
  install(workspace)
  renameSync(join(workspace, 'node_modules'), join(app, 'node_modules'))
  rmSync(workspace, { recursive: true })
  for (const path of PACKAGES) putPackage(path, join(app, 'node_modules'))
  for (const path of USELESS) rmSync(join(app, 'node_modules', path), { recursive: true })
  prune(join(app, 'node_modules'))
  writeFileSync(join(app, 'package.json'), '{ "private": true, "type": "module" }\n')
}

/** Installs what the packages need and their development does not, flat, as npm would lay it out. */
function install(workspace: string): void {
  for (const path of LOCKED) cpSync(join(ROOT, path), join(workspace, path))
  for (const path of PACKAGES) {
    mkdirSync(join(workspace, path), { recursive: true })
    cpSync(join(ROOT, path, 'package.json'), join(workspace, path, 'package.json'))
  }
  const { packageManager } = manifestIn(ROOT)
  const words = ['--prod', '--frozen-lockfile', '--ignore-scripts', '--prefer-offline']
  const layout = '--config.node-linker=hoisted'
  execFileSync('npx', ['--yes', '--prefer-offline', packageManager, 'install', ...words, layout], {
    cwd: workspace,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
}

/** Puts a built package in the place of the link to its sources. */
function putPackage(path: string, modules: string): void {
  const place = join(modules, manifestIn(join(ROOT, path)).name)
  mkdirSync(dirname(place), { recursive: true })
  rmSync(place, { recursive: true, force: true })
  mkdirSync(place)
  cpSync(join(ROOT, path, 'package.json'), join(place, 'package.json'))
  cpSync(join(ROOT, 'LICENSE'), join(place, 'LICENSE'))
  cpSync(join(ROOT, path, 'dist'), join(place, 'dist'), { recursive: true })
}

/** Removes useless files, and the folders that hold nothing else, such as those of links. */
function prune(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const found = lstatSync(path)
    // Commands and notes of the package manager.
    if (['.bin', '.pnpm', '.modules.yaml', '.pnpm-workspace-state-v1.json'].includes(name)) {
      rmSync(path, { recursive: true })
    } else if (found.isDirectory()) {
      prune(path)
      if (readdirSync(path).length === 0) rmSync(path, { recursive: true })
    } else if (USELESS_FILES.test(name) && !LICENCES.test(name)) rmSync(path)
  }
}

function manifestIn(folder: string): { readonly name: string; readonly packageManager: string } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}
