/**
 * Installs and imports the products that benchmarks compare with. They are heavy, so they are in the separate workspace
 * `bench-peers`, with one folder for each. Only a benchmark that compares installs it.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { pnpmArguments } from '../../packages/pnpm.ts'

import type { Contestant } from './measure.ts'
import type { Runner } from './runners.ts'
import type { Layers } from './ten-tasks.ts'

type LangchainSource = Parameters<
  (typeof import('../../../packages/langchain/src/index.ts'))['langchainModel']
>[0]

/** Loaded chat model that `langchainModel` accepts. */
export type LangchainModel = Exclude<LangchainSource, string | (() => unknown)>

/** Adapters of the peers: `index.js` in their folders. */
interface Peers {
  readonly 'ai-sdk': {
    tools(): readonly Contestant[]
    agents(): readonly [stream: Runner, generate: Runner]
  }
  readonly langgraph: {
    tools(): readonly Contestant[]
    agents(): readonly [Runner]
    workflows(layers: Layers): readonly [Runner]
    makeModel(runs: number): LangchainModel
  }
  readonly mastra: {
    workflows(layers: Layers): readonly [agents: Runner, instance: Runner, alone: Runner]
  }
}

const FOLDER = fileURLToPath(new URL('../../../bench-peers', import.meta.url))

/** Maximum time of an install, in milliseconds. */
const INSTALL_TIMEOUT_MS = 600_000

/** Peers that have servers. */
export const SERVER_PEERS = ['langgraph', 'mastra', 'voltagent'] as const

let isInstalled = false

/** Imports the adapter of a peer; installs the peers if necessary. */
export async function importPeer<Name extends keyof Peers>(name: Name): Promise<Peers[Name]> {
  installPeers()
  // NOTE: the adapters are JavaScript, because the types of the peers are not installed with the workspace.
  return (await import(pathToFileURL(`${FOLDER}/${name}/index.js`).href)) as Peers[Name]
}

/** Returns the servers of a peer and the folder in which they start; installs the peers if necessary. */
export async function serverPeer(
  name: (typeof SERVER_PEERS)[number],
): Promise<{ readonly folder: string; readonly products: unknown }> {
  installPeers()
  const folder = `${FOLDER}/${name}`
  // NOTE: as above.
  const { products } = (await import(pathToFileURL(`${folder}/products.js`).href)) as {
    readonly products: unknown
  }
  return { folder, products }
}

/** Installs the peers by their lock file, with the pnpm of this project and without scripts of packages. */
function installPeers(): void {
  if (isInstalled) return
  const words = ['--frozen-lockfile', '--ignore-scripts', '--prefer-offline']
  const { status, stdout, stderr, error } = spawnSync('npx', pnpmArguments('install', ...words), {
    cwd: FOLDER,
    encoding: 'utf8',
    timeout: INSTALL_TIMEOUT_MS,
  })
  if (status !== 0)
    throw new Error(`Cannot install the peers: ${error?.message ?? stdout + stderr}`)
  isInstalled = true
}
