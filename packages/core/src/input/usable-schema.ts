/** Rejection, at definition, of schemas that cannot be used to read values. */
import {
  CheckRun,
  isJsonObject,
  previewOf,
  type Problem,
  type Schema,
  type SchemaNode,
} from '@tutti/protocol/internal'

import { errorMessage } from '../errors.ts'
import { createDefault } from './normalize.ts'
import {
  createSchemaDocument,
  type SchemaDocument,
  type SchemaDocumentOptions,
} from './schema-document.ts'

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
export function openUsableSchema(
  schema: unknown,
  use: SchemaUse,
  options: SchemaDocumentOptions = {},
): SchemaDocument {
  const document = createSchemaDocument(schema, options)
  const faults = [...document.faults]
  if (!use.ofObject && typeof schema === 'boolean') faults.push(BOOLEAN)
  if (faults.length === 0) {
    if (use.ofObject) faults.push(...findObjectFaults(document))
    faults.push(...findDefaultFaults(document))
  }
  assertNoFaults(faults, use)
  return document
}

/**
 * Does nothing when there are no problems.
 *
 * @throws {TypeError} listing them otherwise.
 */
export function assertNoFaults(faults: readonly Problem[], { action }: SchemaUse): void {
  if (faults.length === 0) return
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
  if (describesObject(root, document, new Map())) return []
  const message = `must be a schema of an object such as Type.Object({…}), got ${previewOf(root)}`
  return [{ path: '', message }]
}

/** Whether every valid value is an object. `decided` has the unions that were checked. */
function describesObject(
  schema: Schema,
  document: SchemaDocument,
  decided: Map<SchemaNode, boolean>,
): boolean {
  return document.locate([schema]).nodes.some((node) => {
    const known = decided.get(node)
    if (known !== undefined) return known
    if ([node.type].flat().every((type) => type === 'object')) return true
    const members = node.anyOf ?? node.oneOf ?? []
    // A union that leads back to itself describes nothing by that.
    decided.set(node, false)
    const isObject =
      members.length > 0 && members.every((member) => describesObject(member, document, decided))
    decided.set(node, isObject)
    return isObject
  })
}

/** Returns the defaults that do not match their schemas. */
export function* findDefaultFaults(document: SchemaDocument): Generator<Problem> {
  const run = new CheckRun()
  for (const [node, path] of document.nodes) {
    if (node.default === undefined) continue
    const reason = describeDefaultFault(node, document, run)
    if (reason !== undefined) yield { path: `${path}/default`, message: reason }
  }
}

/** Returns the reason why a default cannot be used, for a message after its path. */
function describeDefaultFault(
  node: Schema,
  document: SchemaDocument,
  run: CheckRun,
): string | undefined {
  const shown = isJsonObject(node) ? previewOf(node.default) : ''
  try {
    const location = document.locate([node])
    if (document.fits(location, createDefault(location, document, run), run)) return undefined
    return `must match its schema, got ${shown}`
  } catch (error) {
    return `must be a JSON value that matches its schema, got ${shown}: ${errorMessage(error)}`
  }
}
