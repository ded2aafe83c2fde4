/** Adds the licenses of all bundled packages, as those licenses require. */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

import type { Rolldown } from 'tsdown'

import { isAllowedLicense } from './allowed-licenses.ts'

/** Returns a plugin that writes `THIRD_PARTY_LICENSES.txt` next to a bundle with third-party code. */
export function thirdPartyLicenses(): Rolldown.Plugin {
  return {
    name: 'third-party-licenses',
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((output) =>
        output.type === 'chunk'
          ? output.moduleIds
          : output.originalFileNames.map((name) => resolve(name)),
      )
      const folders = new Set(modules.flatMap((id) => packageFolder(id) ?? []))
      const texts = [...folders].map(readLicense).toSorted()
      if (texts.length === 0) return
      const fileName = 'THIRD_PARTY_LICENSES.txt'
      this.emitFile({ type: 'asset', fileName, source: texts.join('\n\n') })
    },
  }
}

/** Returns the folder of the package that a file below `node_modules` belongs to. */
function packageFolder(id: string): string | undefined {
  const [, folder] = /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id) ?? []
  return folder !== undefined && existsSync(join(folder, 'package.json'))
    ? realpathSync(folder)
    : undefined
}

/** @throws {Error} when the package has no license file, or a license that is not permissive. */
function readLicense(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (!isAllowedLicense(String(license))) {
    throw new Error(`${name} ${version} has the license "${license}", expected a permissive one`)
  }
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(?:\.|$)/i.test(entry))
  if (file === undefined) throw new Error(`${name} in ${dirname(folder)} ships no license`)
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
}
