/**
 * Defines the builds of all packages. A library is ESM with one file per entry point, types next to it, and
 * its dependencies left as imports. A program is one file that contains everything except what it loads late.
 */
import { readFileSync } from 'node:fs'

import { defineConfig, type UserConfig } from 'tsdown'

import { thirdPartyLicenses } from './third-party-licenses.ts'

const SHARED = {
  format: 'esm',
  target: 'es2023',
  sourcemap: false,
  fixedExtension: false,
  logLevel: 'warn',
  plugins: [thirdPartyLicenses()],
} as const satisfies UserConfig

/**
 * Builds the package of the working directory, with the entry points of its manifest. Dependencies that `inline` matches
 * are bundled: a dependency of hundreds of files imports many times faster as part of one file.
 */
export function libraryBuild(inline: RegExp[] = []): UserConfig {
  const entry = readEntryPoints(readFileSync('package.json', 'utf8'))
  // Node's modules stay imports. Which packages may use them is a rule of the layers.
  const deps = { alwaysBundle: inline, neverBundle: [/^node:/] }
  return defineConfig({ ...SHARED, entry, deps, platform: 'neutral', dts: true, clean: true })
}

interface Manifest {
  readonly exports: Readonly<Record<string, string | EntryPoint>>
}

interface EntryPoint {
  readonly default: string
  readonly '@tutti/source'?: string
}

/** Returns the sources of the entry points of a manifest, by the path of what is built from them, without extension. */
function readEntryPoints(text: string): Record<string, string> {
  const manifest: Manifest = JSON.parse(text)
  return Object.fromEntries(
    Object.values(manifest.exports).flatMap((entryPoint) => {
      if (typeof entryPoint === 'string') return []
      const { default: built, '@tutti/source': source } = entryPoint
      return source === undefined ? [] : [[built.replace(/^\.\/dist\/(.*)\.js$/, '$1'), source]]
    }),
  )
}

/**
 * Builds the file of a thread, which `new Worker` loads from next to the library or the program that starts it. It contains
 * everything, so that a thread starts within milliseconds.
 */
export function threadBuild(entry: Record<string, string>): UserConfig {
  return { ...programBuild(entry, []), outputOptions: { codeSplitting: false } }
}

/**
 * Builds a program from the sources of the packages it consists of. One file imports many times faster than
 * hundreds.
 */
export function programBuild(entry: Record<string, string>, late: RegExp[]): UserConfig {
  return defineConfig({
    ...SHARED,
    entry,
    platform: 'node',
    dts: false,
    clean: false,
    // Late-loaded parts replace those of the previous build.
    hash: false,
    deps: { alwaysBundle: [/.*/], neverBundle: late },
    inputOptions: { resolve: { conditionNames: ['@tutti/source', 'node', 'import', 'default'] } },
  })
}
