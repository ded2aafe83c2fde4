/** Finds and loads the config file. Supported versions of Node run TypeScript files directly, except 23.0 to 23.5. */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import { TuttiError } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'

import { findConfigProblems } from './config-problems.ts'
import { findErrorPosition, findPropertyPosition } from './source-position.ts'

import type { TuttiConfig } from './config.ts'

/** Names of config files in the working directory; the first one that exists is used. */
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
 * @throws {TuttiError} CONFIG_INVALID when the file is missing, cannot be loaded, or is not a valid config.
 */
export async function loadConfig(path: string | undefined): Promise<LoadedConfig | undefined> {
  const found = path === undefined ? CONFIG_NAMES.find((name) => existsSync(name)) : path
  if (found === undefined) return undefined
  const absolute = resolve(found)
  if (!existsSync(absolute)) throw toConfigError(absolute, ['no such file'])
  const loaded: unknown = await importFile(absolute)
  const config =
    loaded !== null && typeof loaded === 'object' && 'default' in loaded
      ? loaded.default
      : undefined
  const problems = await findConfigProblems(config)
  if (problems.length > 0) throw toConfigError(absolute, addPositions(problems, absolute))
  // NOTE: the parts that the server relies on have just been checked.
  return { config: config as TuttiConfig, path: absolute }
}

async function importFile(path: string): Promise<unknown> {
  try {
    return await import(pathToFileURL(path).href)
  } catch (error) {
    if (cannotRunTypeScript(error)) throw toConfigError(path, [USE_NEWER_NODE], error)
    const position = findErrorPosition(error, path)
    const where = position === undefined ? '' : ` (${position})`
    throw toConfigError(path, [errorMessage(error) + where], error)
  }
}

const USE_NEWER_NODE =
  `Node ${process.versions.node} does not run TypeScript files. Use Node 22.18, or 23.6 or later, or a config ` +
  'file in JavaScript, such as tutti.config.js'

/** Whether Node refused a TypeScript file: the config, or one that it imports. */
function cannotRunTypeScript(error: unknown): boolean {
  const isUnknown =
    error instanceof Error && 'code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION'
  return isUnknown && /"\.[cm]?tsx?"/.test(error.message)
}

/** Adds to each problem the position of the property that it names, if the file contains it only once. */
function addPositions(problems: readonly string[], path: string): readonly string[] {
  const source = readFileSync(path, 'utf8')
  return problems.map((problem) => {
    const [, quoted, bare] =
      /^(?:in "\w+", )?(?:"([\w.]+)|(\w+) (?:in|of|must) )/.exec(problem) ?? []
    const name = (quoted ?? bare)?.split('.').at(-1)
    const position = name === undefined ? undefined : findPropertyPosition(source, name)
    return position === undefined ? problem : `${problem} (${path}:${position})`
  })
}

function toConfigError(path: string, problems: readonly string[], cause?: unknown): TuttiError {
  const message = `Cannot use the config file "${path}":\n${problems.map((p) => `  ${p}`).join('\n')}`
  return new TuttiError('CONFIG_INVALID', message, { cause, details: { problems } })
}
