/** Lists the names that a user of the packages looks up, from the code: options, events, error codes and variables. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { ERROR_CODES, FAILURE_CODES, RunEvent } from '@tutti/protocol'

import { CLIENT_VARIABLES, SERVER_VARIABLES } from '../../apps/server/src/environment/env-table.ts'
import { publicPackages } from '../packages/pack.ts'
import { FILLED_IN } from './options-page.ts'
import { interfacesOf, reexportsOf } from './source-docs.ts'

/** Returns the names of each kind. An option appears once, also if several packages have it. */
export function publicNames(): Readonly<Record<string, readonly string[]>> {
  return {
    'error code': [...Object.keys(ERROR_CODES), ...Object.keys(FAILURE_CODES)],
    event: RunEvent.anyOf.map(({ properties }) => properties.type.const),
    variable: [...SERVER_VARIABLES, ...CLIENT_VARIABLES].map(({ name }) => name),
    option: [...new Set(publicPackages().flatMap(({ directory }) => listOptions(directory)))],
  }
}

/** Entry points that are not for users, and those for tests of adapters. */
const NOT_FOR_USERS = /^\.\/(?:internal|basics|testing|package\.json)$/

interface Manifest {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
}

/** Returns the members of all option interfaces that the entry points of a package export to its users. */
function listOptions(directory: string): readonly string[] {
  const source = join(directory, 'src')
  const exported = new Set(entryPointsOf(directory).flatMap((path) => reexportsOf(path)))
  return globSync('**/*.ts', { cwd: source })
    .filter((path) => !/\.(?:test|test-d)\.ts$/.test(path))
    .map((path) => join(source, path))
    .filter((path) => readFileSync(path, 'utf8').includes('export interface '))
    .flatMap((path) => interfacesOf(path))
    .filter(({ name, isExported }) => isExported && exported.has(name) && FILLED_IN.test(name))
    .flatMap(({ members }) => members.map(({ name }) => name))
}

function entryPointsOf(directory: string): readonly string[] {
  const { exports }: Manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  return Object.entries(exports).flatMap(([entryPoint, targets]) => {
    const path = typeof targets === 'string' ? undefined : targets['@tutti/source']
    return path === undefined || NOT_FOR_USERS.test(entryPoint) ? [] : [join(directory, path)]
  })
}
