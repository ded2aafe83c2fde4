/** Rejection, at definition, of schemas that cannot be used to read values. */
import {
  interpretedCheck,
  isJsonObject,
  previewOf,
  type Problem,
  type Schema,
} from '@tutti/protocol'

import { errorMessage } from '../errors.ts'
import { createDefault } from './normalize.ts'
import { createSchemaDocument, type SchemaDocument } from './schema-document.ts'

/** Use of a schema. */
export interface SchemaUse {
  /** Start of error messages, such as `Cannot define tool "x": input`. */
  readonly action: string
  /** Whether it must be a schema of an object, as for the arguments of a tool. */
  readonly ofObject: boolean
}

/**
 * Returns the schema prepared for use.
 *
 * @throws {TypeError} listing every problem of the schema.
 */
export function openUsableSchema(schema: unknown, { action, ofObject }: SchemaUse): SchemaDocument {
  const document = createSchemaDocument(schema)
  const faults = [...document.faults]
  if (!ofObject && typeof schema === 'boolean') faults.push(BOOLEAN)
  if (faults.length === 0) {
    if (ofObject) faults.push(...findObjectFaults(document))
    faults.push(...findDefaultFaults(document))
  }
  if (faults.length === 0) return document
  const list = faults.map(({ path, message }) => (path === '' ? message : `${path} ${message}`))
  throw new TypeError(`${action} ${list.join('; ')}`)
}

/** Validators belong to schema objects, and results are sent with their schema. */
const BOOLEAN: Problem = {
  path: '',
  message: 'must be a schema object, got a boolean; Type.Unknown() allows any value',
}

/**
 * Returns the result of `compile`.
 *
 * @throws {TypeError} with the reason, when it throws.
 */
export function compileOrThrow<T>({ action }: SchemaUse, compile: () => T): T {
  try {
    return compile()
  } catch (error) {
    throw new TypeError(`${action} cannot be compiled: ${errorMessage(error)}`, { cause: error })
  }
}

/** Returns the problem of a schema that allows other values than objects. */
export function findObjectFaults(document: SchemaDocument): Problem[] {
  const { root } = document
  if (describesObject(root, document, new Set())) return []
  const message = `must be a schema of an object such as Type.Object({…}), got ${previewOf(root)}`
  return [{ path: '', message }]
}

/** Whether every valid value is an object. `seen` are the unions that are being checked. */
function describesObject(
  schema: Schema,
  document: SchemaDocument,
  seen: ReadonlySet<Schema>,
): boolean {
  return document.place([schema]).nodes.some((node) => {
    if ([node.type].flat().every((type) => type === 'object')) return true
    const members = node.anyOf ?? node.oneOf ?? []
    if (members.length === 0 || seen.has(node)) return false
    return members.every((member) => describesObject(member, document, new Set([...seen, node])))
  })
}

/** Returns the defaults that do not match their schemas. */
export function* findDefaultFaults(document: SchemaDocument): Generator<Problem> {
  for (const [node, path] of document.nodes) {
    if (node.default === undefined) continue
    const reason = describeDefaultFault(node, document)
    if (reason !== undefined) yield { path: `${path}/default`, message: reason }
  }
}

/** Returns the reason why a default cannot be used, for a message after its path. */
function describeDefaultFault(node: Schema, document: SchemaDocument): string | undefined {
  const shown = isJsonObject(node) ? previewOf(node.default) : ''
  try {
    const value = createDefault(document.place([node]), document)
    if (interpretedCheck(document.references, node, value)) return undefined
    return `must match its schema, got ${shown}`
  } catch (error) {
    return `must be a JSON value that matches its schema, got ${shown}: ${errorMessage(error)}`
  }
}
