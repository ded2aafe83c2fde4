/**
 * Generates reports of the public types of every entry point but `./internal` and `./basics`, with API Extractor, from the
 * published declarations.
 */
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
import { codeEntryPoints, type PackedManifest } from './tarball.ts'

/** An entry point of a package in this repository. */
interface BuiltEntryPoint {
  readonly directory: string
  /** Path of its report, from the root of the repository. */
  readonly report: string
  /** Path of its declarations. */
  readonly types: string
}

const QUIET = { default: { logLevel: ExtractorLogLevel.None } }

/**
 * Returns the reports of all public packages by path. `folder` holds temporary files.
 *
 * @throws {Error} when an entry point cannot be read, because its package is not built.
 */
export function apiReports(folder: string): ReadonlyMap<string, string> {
  const entryPoints = publicPackages().flatMap(({ directory }) => findEntryPoints(directory))
  const files = entryPoints.map(({ types }) => types)
  let shared: CompilerState | undefined
  return new Map(
    entryPoints.map((entryPoint, index) => {
      const own = join(folder, String(index))
      mkdirSync(own)
      const config = configOf(entryPoint, own, files)
      // One program for all entry points, because each would parse the same declarations again.
      shared ??= CompilerState.create(config, { additionalEntryPoints: files })
      return [entryPoint.report, reportOf(config, shared)]
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

function configOf(
  entryPoint: BuiltEntryPoint,
  own: string,
  files: readonly string[],
): ExtractorConfig {
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
    projectFolder: resolve(entryPoint.directory),
    mainEntryPointFilePath: entryPoint.types,
    newlineKind: 'lf',
    compiler: { overrideTsconfig: { compilerOptions, files } },
    apiReport: {
      enabled: true,
      reportFileName: 'entryPoint',
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
    packageJsonFullPath: resolve(entryPoint.directory, 'package.json'),
  })
}

function findEntryPoints(directory: string): readonly BuiltEntryPoint[] {
  const manifest: PackedManifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  return [...codeEntryPoints(manifest)].flatMap(([entryPoint, { types }]) => {
    if (types === undefined || /\/(?:internal|basics)$/.test(entryPoint)) return []
    const name = entryPoint === manifest.name ? 'index' : entryPoint.slice(manifest.name.length + 1)
    return [
      {
        directory,
        report: join(directory, 'api', `${name}.api.md`),
        types: resolve(directory, types),
      },
    ]
  })
}
