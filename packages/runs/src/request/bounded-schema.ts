/**
 * Schemas of requests: their size is limited, and their checks take a bounded number of steps, because the same thread
 * serves all other requests.
 *
 * RUNS-B1 A schema that is large or deep is refused at submission. So are the schemas of a request after those that took
 *    too long to compile together, and a regular expression that needs backtracking.
 * RUNS-B2 An answer that cannot be checked within the steps of one check is invalid for that reason.
 */
import { toStandardSchema } from '@tutti/core'
import { errorMessage, foreignSchema, type StandardToolSchema } from '@tutti/core/internal'

import type { Refusals } from './refusals.ts'
import type { TaskDefinitionBody } from '@tutti/protocol/internal'

/** Maximum length of a schema, in characters of JSON: hundreds of fields. */
const MAX_LENGTH = 65_536

/** Maximum nesting of a schema: each nested field takes two levels. */
const MAX_DEPTH = 100

/**
 * Maximum processor time to compile the schemas of one request, in milliseconds: the first schema of a cold process can
 * take 100. Elapsed time would refuse the same schemas on a machine that other processes keep busy.
 */
const READY_MS = 200

/** Additional time for each thousand characters of JSON, in milliseconds; they take a third of a millisecond. */
const READY_MS_PER_KILOBYTE = 2

/** The remaining time for the schemas of one request, and those that are compiled. */
export interface SchemaTime {
  /** To compile them, in milliseconds. */
  leftMs: number
  /** Schemas by their JSON: the tasks of a large request often have equal ones. */
  readonly compiled: Map<string, StandardToolSchema>
}

/** Returns the time budget of a new request. */
export function newSchemaTime(): SchemaTime {
  return { leftMs: READY_MS, compiled: new Map() }
}

type RequestSchema = NonNullable<TaskDefinitionBody['outputSchema']>

/**
 * Returns a schema of a request, for the output of a task or the input of a tool.
 *
 * @throws {TypeError} with the problem of the schema.
 */
export function boundedSchema(jsonSchema: RequestSchema, time: SchemaTime): StandardToolSchema {
  const json = assertSmall(jsonSchema)
  const known = time.compiled.get(json)
  if (known !== undefined) return known
  time.leftMs += (json.length / 1_000) * READY_MS_PER_KILOBYTE
  if (time.leftMs <= 0) {
    throw new TypeError(
      `must compile, together with the schemas before it, within ${READY_MS} ms of processor time plus ` +
        `${READY_MS_PER_KILOBYTE} ms for each thousand characters`,
    )
  }
  const before = process.cpuUsage()
  try {
    const { jsonSchema: kept, patterns, warnings } = foreignSchema(jsonSchema)
    // The author of the request can correct it.
    if (warnings.length > 0) throw new TypeError(warnings.join('; '))
    const schema = toStandardSchema(kept, { patterns })
    time.compiled.set(json, schema)
    return schema
  } finally {
    const { user, system } = process.cpuUsage(before)
    time.leftMs -= (user + system) / 1_000
  }
}

/** Checks the size of a schema and returns its JSON. */
function assertSmall(schema: RequestSchema): string {
  const depth = measureDepth(schema)
  if (depth > MAX_DEPTH) throw new TypeError(`must nest at most ${MAX_DEPTH} deep, got ${depth}`)
  const json = JSON.stringify(schema)
  if (json.length <= MAX_LENGTH) return json
  throw new TypeError(`must be at most ${MAX_LENGTH} characters of JSON, got ${json.length}`)
}

/** Returns the nesting depth of a value. Iterative, because the value may be deeper than the stack. */
function measureDepth(value: unknown): number {
  let depth = 0
  for (let level = [value].filter(isNode); level.length > 0; depth += 1) {
    level = level.flatMap((part) => Object.values(part).filter(isNode))
  }
  return depth
}

function isNode(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Returns the message of a schema error without its prefix. */
export function describeFault(error: unknown): string {
  return errorMessage(error).replace(/^Cannot create Standard Schema: ?/, '')
}

/** Returns a schema of a task (RUNS-T3); undefined if there is none, or if it has a problem, which is added to the refusals. */
export function compileSchema(
  schema: RequestSchema | undefined,
  time: SchemaTime,
  {
    refusals,
    path,
    what,
  }: { readonly refusals: Refusals; readonly path: string; readonly what: string },
): StandardToolSchema | undefined {
  if (schema === undefined) return undefined
  try {
    return boundedSchema(schema, time)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    refusals.add('BAD_REQUEST', path, () => `Invalid ${what}: ${describeFault(error)}`)
    return undefined
  }
}
