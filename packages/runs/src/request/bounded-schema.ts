/**
 * Output schemas that come with a request: compiled and checked in bounded time, as the thread that does it
 * serves everybody.
 *
 * B1 A schema that is large, deep, or slow to make ready is refused when it is submitted.
 * B2 An answer that cannot be checked in time ends its task; none after it is checked against the schema.
 */
import { errorMessage, toStandardSchema, TuttiError, type StandardToolSchema } from '@tutti/core'

import { OUT_OF_TIME, withinTime } from './within-time.ts'

import type { Task } from '@tutti/ensemble'
import type { TaskDefinitionBody } from '@tutti/protocol'

/** Longest output schema, in characters of JSON: hundreds of fields. */
const MAX_LENGTH = 65_536

/** How deep an output schema may nest: each field inside another takes two levels. */
const MAX_DEPTH = 100

/** How long the schemas of one request may take to be made ready, in milliseconds: large ones take 20. */
const READY_MS = 1_000

/** How long the check of one answer may take, in milliseconds: large ones take 5. */
const CHECK_MS = 500

/** What is left of the time for the schemas of one request. */
export interface Patience {
  leftMs: number
}

/** The patience with a new request. */
export function newPatience(): Patience {
  return { leftMs: READY_MS }
}

/** A schema that can be checked against in bounded time, and whether its time was once over. */
interface Bounded {
  readonly schema: StandardToolSchema
  readonly isOver: () => boolean
}

const bounds = new WeakMap<object, Bounded>()

type OutputSchema = NonNullable<TaskDefinitionBody['outputSchema']>

/**
 * The schema, to be the output of a task; its answers are read by {@link inBoundedTime}.
 *
 * @throws {TypeError} saying what is wrong with it.
 */
export function boundedSchema(jsonSchema: OutputSchema, patience: Patience): StandardToolSchema {
  assertSmall(jsonSchema)
  const standard = madeReady(jsonSchema, patience)
  const { validate, ...rest } = standard['~standard']
  let isOver = false
  const schema: StandardToolSchema = {
    '~standard': {
      ...rest,
      validate(value) {
        const result = isOver ? OUT_OF_TIME : withinTime(CHECK_MS, () => validate(value))
        if (result !== OUT_OF_TIME) return result
        isOver = true
        // Whoever reads it looks at `isOver`; a problem would be followed by further checks.
        return { value: null }
      },
    },
  }
  bounds.set(schema, { schema, isOver: () => isOver })
  return schema
}

function madeReady(jsonSchema: OutputSchema, patience: Patience): StandardToolSchema {
  const startedAt = performance.now()
  const limitMs = Math.ceil(patience.leftMs)
  try {
    const made = limitMs > 0 ? withinTime(limitMs, () => toStandardSchema(jsonSchema)) : OUT_OF_TIME
    if (made !== OUT_OF_TIME) return made
  } finally {
    patience.leftMs -= performance.now() - startedAt
  }
  throw new TypeError(`must be ready, with those before it, within ${READY_MS} ms`)
}

/** The same task; when its output is a bounded schema, an answer that takes too long ends it. */
export function inBoundedTime(task: Task): Task {
  const { name, output, outputReader } = task
  const bounded = output === undefined ? undefined : bounds.get(output)
  if (bounded === undefined || outputReader === undefined) return task
  const intime = async <T>(reading: Promise<T>): Promise<T> => {
    const read = await reading
    if (!bounded.isOver()) return read
    throw new TuttiError(
      'OUTPUT_INVALID',
      `The output of task "${name}" could not be checked against its schema within ${CHECK_MS} ms`,
    )
  }
  return {
    ...task,
    outputReader: {
      ...outputReader,
      read: (text) => intime(outputReader.read(text)),
      readValue: (value) => intime(outputReader.readValue(value)),
    },
  }
}

function assertSmall(schema: OutputSchema): void {
  const depth = depthOf(schema)
  if (depth > MAX_DEPTH) throw new TypeError(`must nest at most ${MAX_DEPTH} deep, got ${depth}`)
  const { length } = JSON.stringify(schema)
  if (length <= MAX_LENGTH) return
  throw new TypeError(`must be at most ${MAX_LENGTH} characters of JSON, got ${length}`)
}

/** How many objects and lists a value nests; level by level, as it may be deeper than the stack. */
function depthOf(value: unknown): number {
  let depth = 0
  for (let level = [value].filter(isNode); level.length > 0; depth += 1) {
    level = level.flatMap((part) => Object.values(part).filter(isNode))
  }
  return depth
}

function isNode(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** What is wrong with a schema, as `error` says it, without saying again what was to be made. */
export function faultOf(error: unknown): string {
  return errorMessage(error).replace(/^Cannot make a Standard Schema: ?/, '')
}
