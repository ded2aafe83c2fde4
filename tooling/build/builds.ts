/**
 * Defines the builds of all packages. A library is ESM with one file per entry point, types next to it, and
 * its dependencies left as imports. A program is one file that contains everything except what it loads late.
 */
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
 * Builds a package that others import; `entry` names its entry points. Dependencies that `inline` matches are
 * bundled: a dependency of hundreds of files imports many times faster as part of one file.
 */
export function libraryBuild(entry: Record<string, string>, inline: RegExp[] = []): UserConfig {
  // Node's modules stay imports. Which packages may use them is a rule of the layers.
  const deps = { alwaysBundle: inline, neverBundle: [/^node:/] }
  return defineConfig({ ...SHARED, entry, deps, platform: 'neutral', dts: true, clean: true })
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
