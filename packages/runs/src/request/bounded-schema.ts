/**
 * Output schemas that come with a request: compiled and checked in bounded time, as the thread that does it
 * serves everybody.
 *
 * RUNS-B1 A schema that is large, deep, or slow to make ready is refused when it is submitted.
 * RUNS-B2 The checks of all tasks of a run have one budget of time, as a pattern of a few characters can take
 *    seconds. An answer that cannot be checked within it ends its task, and so does every later one.
 */
import { createContext, Script } from 'node:vm'

import { errorMessage, toStandardSchema, TuttiError, type StandardToolSchema } from '@tutti/core'

import type { Task } from '@tutti/ensemble'
import type { TaskDefinitionBody } from '@tutti/protocol'

/** Longest output schema, in characters of JSON: hundreds of fields. */
const MAX_LENGTH = 65_536

/** Maximum nesting of an output schema: each nested field takes two levels. */
const MAX_DEPTH = 100

/** Maximum time to prepare the schemas of one request, in milliseconds. */
const READY_MS = 100

/** Additional time for each thousand characters of JSON, in milliseconds; they take a third of a millisecond. */
const READY_MS_PER_KILOBYTE = 2

/** Maximum total time of slow checks of the answers of one run, in milliseconds. */
const CHECKS_MS = 100

/** A check that takes no longer is not slow, in milliseconds: large answers take 5. */
const QUICK_CHECK_MS = 10

/** The time that is left for the schemas of one request. */
export interface SchemaTime {
  /** To compile them, in milliseconds. */
  leftMs: number
  /** For the slow checks of answers, in milliseconds. */
  checksLeftMs: number
}

/** The patience with a new request. */
export function newSchemaTime(): SchemaTime {
  return { leftMs: READY_MS, checksLeftMs: CHECKS_MS }
}

/** A schema that can be checked against in bounded time, and whether its time was once over. */
interface Bounded {
  readonly schema: StandardToolSchema
  readonly isOver: () => boolean
}

const bounds = new WeakMap<object, Bounded>()

const script = new Script('work()')
const globals: { work?: () => void } = {}
const context = createContext(globals)

/** The result of work that ran out of time. */
const OUT_OF_TIME = Symbol('out of time')

type OutputSchema = NonNullable<TaskDefinitionBody['outputSchema']>

/**
 * The schema, to be the output of a task; its answers are read by {@link inBoundedTime}.
 *
 * @throws {TypeError} saying what is wrong with it.
 */
export function boundedSchema(jsonSchema: OutputSchema, patience: SchemaTime): StandardToolSchema {
  const length = assertSmall(jsonSchema)
  patience.leftMs += (length / 1_000) * READY_MS_PER_KILOBYTE
  const standard = madeReady(jsonSchema, patience)
  const { validate, ...rest } = standard['~standard']
  const check = checkWithin(patience)
  let isOver = false
  const schema: StandardToolSchema = {
    '~standard': {
      ...rest,
      validate(value) {
        const result = isOver ? OUT_OF_TIME : check(() => validate(value))
        if (result !== OUT_OF_TIME) return result
        isOver = true
        // The reader checks `isOver`; a problem would lead to further checks.
        return { value: null }
      },
    },
  }
  bounds.set(schema, { schema, isOver: () => isOver })
  return schema
}

/** Makes checks, of which the slow ones use up what is left for them. */
function checkWithin(patience: SchemaTime): <T>(check: () => T) => T | typeof OUT_OF_TIME {
  return (check) => {
    const limitMs = Math.ceil(patience.checksLeftMs)
    if (limitMs <= 0) return OUT_OF_TIME
    const elapsedMs = startProcessorTime()
    try {
      return withinTime(limitMs, check)
    } finally {
      const tookMs = elapsedMs()
      if (tookMs > QUICK_CHECK_MS) patience.checksLeftMs -= tookMs
    }
  }
}

/**
 * Measures synchronous work, in milliseconds: processor time, so that other processes of the machine do not
 * make a check slow, and at most the time that has passed, because other threads of this process count too.
 */
function startProcessorTime(): () => number {
  const startedAt = performance.now()
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return Math.min(performance.now() - startedAt, (user + system) / 1_000)
  }
}

function madeReady(jsonSchema: OutputSchema, patience: SchemaTime): StandardToolSchema {
  const startedAt = performance.now()
  const limitMs = Math.ceil(patience.leftMs)
  try {
    const made = limitMs > 0 ? withinTime(limitMs, () => toStandardSchema(jsonSchema)) : OUT_OF_TIME
    if (made !== OUT_OF_TIME) return made
  } finally {
    patience.leftMs -= performance.now() - startedAt
  }
  throw new TypeError(
    `must be ready, with those before it, within ${READY_MS} ms and ${READY_MS_PER_KILOBYTE} ms for ` +
      `each thousand characters`,
  )
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
      `The output of task "${name}" could not be checked against its schema: slow checks of a run ` +
        `may take ${CHECKS_MS} ms together`,
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

/** Gives the length of its JSON. */
function assertSmall(schema: OutputSchema): number {
  const depth = measureDepth(schema)
  if (depth > MAX_DEPTH) throw new TypeError(`must nest at most ${MAX_DEPTH} deep, got ${depth}`)
  const { length } = JSON.stringify(schema)
  if (length <= MAX_LENGTH) return length
  throw new TypeError(`must be at most ${MAX_LENGTH} characters of JSON, got ${length}`)
}

/** Measures how deep a value nests; level by level, as it may be deeper than the stack. */
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

/** Returns the problem of a schema from its error, without the repeated prefix. */
export function describeFault(error: unknown): string {
  return errorMessage(error).replace(/^Cannot make a Standard Schema: ?/, '')
}

/**
 * Runs code that must not block the thread for long, such as a regular expression of a request: V8 stops it at the
 * limit. Returns the result of `work`, or {@link OUT_OF_TIME}.
 *
 * @see https://nodejs.org/api/vm.html#scriptrunincontextcontextifiedobject-options
 */
function withinTime<T>(limitMs: number, work: () => T): T | typeof OUT_OF_TIME {
  let given: T | typeof OUT_OF_TIME = OUT_OF_TIME
  globals.work = () => {
    given = work()
  }
  try {
    script.runInContext(context, { timeout: limitMs })
  } catch (error) {
    if (!isTimeout(error)) throw error
  } finally {
    delete globals.work
  }
  return given
}

/** Whether the error is the timeout: it belongs to the context, whose `Error` class differs. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    Reflect.get(error, 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  )
}
