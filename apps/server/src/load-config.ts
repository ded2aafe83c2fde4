/** Finds and loads the config file. Node runs TypeScript files as they are, from 22.18 on. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import { errorMessage, TuttiError } from '@tutti/core'

import type { TuttiConfig } from './config.ts'

const NAMES = ['tutti.config.ts', 'tutti.config.mts', 'tutti.config.js', 'tutti.config.mjs']

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
  const found = path === undefined ? NAMES.find((name) => existsSync(name)) : path
  if (found === undefined) return undefined
  const absolute = resolve(found)
  if (!existsSync(absolute)) throw invalid(absolute, ['there is no such file'])
  const loaded: unknown = await importFile(absolute)
  const config =
    loaded !== null && typeof loaded === 'object' && 'default' in loaded
      ? loaded.default
      : undefined
  const problems = findConfigProblems(config)
  if (problems.length > 0) throw invalid(absolute, problems)
  // NOTE: a cast at the boundary: the parts that the server relies on have just been checked.
  return { config: config as TuttiConfig, path: absolute }
}

async function importFile(path: string): Promise<unknown> {
  try {
    return await import(pathToFileURL(path).href)
  } catch (error) {
    throw invalid(path, [errorMessage(error)], error)
  }
}

function invalid(path: string, problems: readonly string[], cause?: unknown): TuttiError {
  const message = `Cannot use the config file "${path}":\n${problems.map((p) => `  ${p}`).join('\n')}`
  return new TuttiError('CONFIG_INVALID', message, { cause, details: { problems } })
}

const KNOWN_KEYS = ['ensembles', 'tools', 'models', 'limits', 'auth', 'allowedHosts']

/** Everything that is wrong with the value a config file exports. */
export function findConfigProblems(config: unknown): readonly string[] {
  if (config === null || typeof config !== 'object') {
    return ['its default export must be a config: export default defineConfig({ … })']
  }
  const problems = Object.keys(config)
    .filter((key) => !KNOWN_KEYS.includes(key))
    .map((key) => `"${key}" is not a known setting. Known: ${KNOWN_KEYS.join(', ')}`)
  if (
    !('ensembles' in config) ||
    !Array.isArray(config.ensembles) ||
    config.ensembles.length === 0
  ) {
    problems.push('"ensembles" must be a list of at least one ensemble')
  } else if (!config.ensembles.every(isEnsemble)) {
    problems.push('"ensembles" must hold values made by ensemble() of @tutti/ensemble')
  }
  return problems
}

function isEnsemble(value: unknown): boolean {
  return (
    value !== null &&
    typeof value === 'object' &&
    'name' in value &&
    'tasks' in value &&
    'run' in value &&
    typeof value.run === 'function'
  )
}
