/** Golden files and exported schemas, for tests of all of them. */
import { readdirSync, readFileSync } from 'node:fs'
import * as api from '../src/index.ts'
import * as internal from '../src/internal.ts'

/** Golden file: its name, its schema and its text. */
export interface Fixture {
  readonly name: string
  readonly schema: string
  readonly text: string
}

/** Exported schemas by name. */
export const schemas: ReadonlyMap<string, object> = new Map(
  Object.entries({ ...api, ...internal }).flatMap(toSchema),
)

/** Returns the exported schema of this name; throws for an unknown one. */
export function schemaNamed(name: string): object {
  const schema = schemas.get(name)
  if (schema === undefined) throw new Error(`Fixture names no exported schema: "${name}"`)
  return schema
}

/** Returns the golden files of `fixtures/valid` or `fixtures/invalid`. */
export function fixturesIn(folder: 'valid' | 'invalid'): Fixture[] {
  const directory = new URL(`../fixtures/${folder}/`, import.meta.url)
  return readdirSync(directory).map((file) => ({
    name: file,
    schema: file.slice(0, file.indexOf('.')),
    text: readFileSync(new URL(file, directory), 'utf8'),
  }))
}

/** Returns an export if it is a schema: an object with a capitalized name; names of tables are all capitals. */
function toSchema([name, value]: [string, unknown]): [string, object][] {
  const isSchema = typeof value === 'object' && value !== null && /^[A-Z][a-z]/.test(name)
  return isSchema ? [[name, value]] : []
}
