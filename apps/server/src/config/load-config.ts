/** Finds and loads the config file. Node runs TypeScript files as they are, from 22.18 on. */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import { errorMessage, TuttiError } from '@tutti/core'

import { findConfigProblems } from './config-problems.ts'
import { positionOfError, positionOfProperty } from './source-position.ts'

import type { TuttiConfig } from './config.ts'

/** Names of config files in the working directory, the first that is there counts. */
export const CONFIG_NAMES = [
  'tutti.config.ts',
  'tutti.config.mts',
  'tutti.config.js',
  'tutti.config.mjs',
]

/** A config and the file it came from. */
export interface LoadedConfig {
  readonly config: TuttiConfig
  readonly path: string
}

/**
 * Loads the config at `path`, or the first `tutti.config.*` in the working directory; undefined when
 * there is none.
 *
 * @throws {TuttiError} CONFIG_INVALID when the file is missing, cannot be loaded, or does not fit.
 */
export async function loadConfig(path: string | undefined): Promise<LoadedConfig | undefined> {
  const found = path === undefined ? CONFIG_NAMES.find((name) => existsSync(name)) : path
  if (found === undefined) return undefined
  const absolute = resolve(found)
  if (!existsSync(absolute)) throw invalid(absolute, ['there is no such file'])
  const loaded: unknown = await importFile(absolute)
  const config =
    loaded !== null && typeof loaded === 'object' && 'default' in loaded
      ? loaded.default
      : undefined
  const problems = findConfigProblems(config)
  if (problems.length > 0) throw invalid(absolute, positioned(problems, absolute))
  // NOTE: a cast at the boundary: the parts that the server relies on have just been checked.
  return { config: config as TuttiConfig, path: absolute }
}

async function importFile(path: string): Promise<unknown> {
  try {
    return await import(pathToFileURL(path).href)
  } catch (error) {
    const position = positionOfError(error, path)
    const where = position === undefined ? '' : ` (${position})`
    throw invalid(path, [errorMessage(error) + where], error)
  }
}

/** Adds the place of the property that each problem names, where the file has it once. */
function positioned(problems: readonly string[], path: string): readonly string[] {
  const source = readFileSync(path, 'utf8')
  return problems.map((problem) => {
    const [, quoted, bare] = /^(?:"([\w.]+)|(\w+) (?:in|of) ")/.exec(problem) ?? []
    const name = (quoted ?? bare)?.split('.').at(-1)
    const position = name === undefined ? undefined : positionOfProperty(source, name)
    return position === undefined ? problem : `${problem} (${path}:${position})`
  })
}

function invalid(path: string, problems: readonly string[], cause?: unknown): TuttiError {
  const message = `Cannot use the config file "${path}":\n${problems.map((p) => `  ${p}`).join('\n')}`
  return new TuttiError('CONFIG_INVALID', message, { cause, details: { problems } })
}
