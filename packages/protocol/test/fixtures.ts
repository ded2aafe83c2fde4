/** The golden files and the exported schemas, for the tests that go through all of them. */
import { readdirSync, readFileSync } from 'node:fs'
import * as protocol from '../src/index.ts'

/** One golden file: its name, the schema it is for, and its text. */
export interface Fixture {
  readonly name: string
  readonly schema: string
  readonly text: string
}

/** Every exported schema by name. */
export const schemas: ReadonlyMap<string, object> = new Map(
  Object.entries(protocol).flatMap(toSchema),
)

/** The exported schema of this name; a fixture for another one is a mistake. */
export function schemaNamed(name: string): object {
  const schema = schemas.get(name)
  if (schema === undefined) throw new Error(`Fixture names no exported schema: "${name}"`)
  return schema
}

/** The golden files of `fixtures/valid` or `fixtures/invalid`. */
export function fixturesIn(folder: 'valid' | 'invalid'): Fixture[] {
  const directory = new URL(`../fixtures/${folder}/`, import.meta.url)
  return readdirSync(directory).map((file) => ({
    name: file,
    schema: file.slice(0, file.indexOf('.')),
    text: readFileSync(new URL(file, directory), 'utf8'),
  }))
}

/** Schemas are the capitalised objects of the door; tables are in capitals throughout. */
function toSchema([name, value]: [string, unknown]): [string, object][] {
  const isSchema = typeof value === 'object' && value !== null && /^[A-Z][a-z]/.test(name)
  return isSchema ? [[name, value]] : []
}
