/** The public types of every door as text, made by API Extractor from the declarations that are shipped. */
import { mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

import {
  CompilerState,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
  type IConfigFile,
} from '@microsoft/api-extractor'

import { publicPackages } from './pack.ts'
import { doorsOf, type PackedManifest } from './tarball.ts'

/** A door of a package in this repository. */
interface BuiltDoor {
  readonly directory: string
  /** The path of its report, from the root of the repository on. */
  readonly report: string
  /** Of its declarations. */
  readonly types: string
}

const QUIET = { default: { logLevel: ExtractorLogLevel.None } }

/**
 * The reports of all public packages, by their paths; `folder` is written to.
 *
 * @throws {Error} when a door cannot be read, which is so when packages are not built.
 */
export function apiReports(folder: string): ReadonlyMap<string, string> {
  const doors = publicPackages().flatMap(({ directory }) => doorsIn(directory))
  const files = doors.map(({ types }) => types)
  let shared: CompilerState | undefined
  return new Map(
    doors.map((door, index) => {
      const own = join(folder, String(index))
      mkdirSync(own)
      const config = configOf(door, own, files)
      // One program for all doors: each would read the same declarations again.
      shared ??= CompilerState.create(config, { additionalEntryPoints: files })
      return [door.report, reportOf(config, shared)]
    }),
  )
}

function reportOf(config: ExtractorConfig, compilerState: CompilerState): string {
  const faults: string[] = []
  const result = Extractor.invoke(config, {
    compilerState,
    localBuild: true,
    messageCallback(message) {
      if (message.logLevel === ExtractorLogLevel.Error) faults.push(message.text)
      message.handled = true
    },
  })
  if (!result.succeeded) {
    throw new Error(`Cannot read ${config.mainEntryPointFilePath}: ${faults.join(', ')}`)
  }
  return readFileSync(config.reportFilePath, 'utf8')
}

function configOf(door: BuiltDoor, own: string, files: readonly string[]): ExtractorConfig {
  const compilerOptions = {
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'nodenext',
    moduleResolution: 'nodenext',
    strict: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [resolve('node_modules/@types')],
  }
  const configObject: IConfigFile = {
    projectFolder: resolve(door.directory),
    mainEntryPointFilePath: door.types,
    newlineKind: 'lf',
    compiler: { overrideTsconfig: { compilerOptions, files } },
    apiReport: {
      enabled: true,
      reportFileName: 'door',
      reportFolder: own,
      reportTempFolder: join(own, 'temp'),
    },
    docModel: { enabled: false },
    dtsRollup: { enabled: false },
    tsdocMetadata: { enabled: false },
    messages: {
      compilerMessageReporting: QUIET,
      extractorMessageReporting: QUIET,
      tsdocMessageReporting: QUIET,
    },
  }
  return ExtractorConfig.prepare({
    configObject,
    configObjectFullPath: undefined,
    packageJsonFullPath: resolve(door.directory, 'package.json'),
  })
}

function doorsIn(directory: string): readonly BuiltDoor[] {
  const manifest: PackedManifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  return [...doorsOf(manifest)].flatMap(([door, { types }]) => {
    if (types === undefined) return []
    const name = door === manifest.name ? 'index' : door.slice(manifest.name.length + 1)
    return [
      {
        directory,
        report: join(directory, 'api', `${name}.api.md`),
        types: resolve(directory, types),
      },
    ]
  })
}
