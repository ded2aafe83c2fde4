/**
 * Output schemas of requests: compiled and checked in bounded time, because the same thread serves all other requests.
 *
 * RUNS-B1 A schema that is large, deep, or slow to compile is refused at submission.
 * RUNS-B2 The checks of all tasks of a run share one time budget, because a pattern of a few characters can take
 *    seconds. An answer that cannot be checked within the budget fails its task, and so does every later one.
 */
import { createContext, Script } from 'node:vm'

import { errorMessage, toStandardSchema, TuttiError, type StandardToolSchema } from '@tutti/core'

import type { Task } from '@tutti/ensemble'
import type { TaskDefinitionBody } from '@tutti/protocol'

/** Maximum length of an output schema, in characters of JSON: hundreds of fields. */
const MAX_LENGTH = 65_536

/** Maximum nesting of an output schema: each nested field takes two levels. */
const MAX_DEPTH = 100

/** Maximum time to compile the schemas of one request, in milliseconds. */
const READY_MS = 100

/** Additional time for each thousand characters of JSON, in milliseconds; they take a third of a millisecond. */
const READY_MS_PER_KILOBYTE = 2

/** Maximum total time of slow checks of the answers of one run, in milliseconds. */
const CHECKS_MS = 100

/** Maximum time of a check that does not count as slow, in milliseconds; large answers take 5. */
const QUICK_CHECK_MS = 10

/** The remaining time for the schemas of one request. */
export interface SchemaTime {
  /** To compile them, in milliseconds. */
  leftMs: number
  /** For the slow checks of answers, in milliseconds. */
  checksLeftMs: number
}

/** Returns the time budget of a new request. */
export function newSchemaTime(): SchemaTime {
  return { leftMs: READY_MS, checksLeftMs: CHECKS_MS }
}

/** A schema with bounded checks, and whether one of its checks ran out of time. */
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
 * Returns a schema for the output of a task; {@link limitCheckTime} applies its time limit to the task.
 *
 * @throws {TypeError} with the problem of the schema.
 */
export function boundedSchema(jsonSchema: OutputSchema, time: SchemaTime): StandardToolSchema {
  // The reader checks `isOver`; a problem would lead to further checks.
  const { schema, isOver } = boundChecks(jsonSchema, time, { value: null })
  bounds.set(schema, { schema, isOver })
  return schema
}

/**
 * Returns a schema for the input of a tool; input that cannot be checked in time is invalid.
 *
 * @throws {TypeError} with the problem of the schema.
 */
export function boundedInputSchema(jsonSchema: OutputSchema, time: SchemaTime): StandardToolSchema {
  const message = `could not be checked: the slow checks of a run may take ${CHECKS_MS} ms in total`
  return boundChecks(jsonSchema, time, { issues: [{ message }] }).schema
}

type CheckResult = Awaited<ReturnType<StandardToolSchema['~standard']['validate']>>

/** Returns a schema whose checks return `unchecked` once they have run out of time. */
function boundChecks(jsonSchema: OutputSchema, time: SchemaTime, unchecked: CheckResult): Bounded {
  const length = assertSmall(jsonSchema)
  time.leftMs += (length / 1_000) * READY_MS_PER_KILOBYTE
  const standard = compileSchema(jsonSchema, time)
  const { validate, ...rest } = standard['~standard']
  const check = checkWithin(time)
  let isOver = false
  const schema: StandardToolSchema = {
    '~standard': {
      ...rest,
      validate(value) {
        const result = isOver ? OUT_OF_TIME : check(() => validate(value))
        if (result !== OUT_OF_TIME) return result
        isOver = true
        return unchecked
      },
    },
  }
  return { schema, isOver: () => isOver }
}

/** Returns a function that runs checks; slow checks use up the remaining time. */
function checkWithin(time: SchemaTime): <T>(check: () => T) => T | typeof OUT_OF_TIME {
  return (check) => {
    const limitMs = Math.ceil(time.checksLeftMs)
    if (limitMs <= 0) return OUT_OF_TIME
    const elapsedMs = startProcessorTime()
    try {
      return runWithin(limitMs, check)
    } finally {
      const tookMs = elapsedMs()
      if (tookMs > QUICK_CHECK_MS) time.checksLeftMs -= tookMs
    }
  }
}

/**
 * Measures synchronous work in milliseconds: CPU time, which does not depend on other processes of the machine, but at
 * most the elapsed time, because CPU time includes other threads of this process.
 */
function startProcessorTime(): () => number {
  const startedAt = performance.now()
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return Math.min(performance.now() - startedAt, (user + system) / 1_000)
  }
}

function compileSchema(jsonSchema: OutputSchema, time: SchemaTime): StandardToolSchema {
  const startedAt = performance.now()
  const limitMs = Math.ceil(time.leftMs)
  try {
    const schema =
      limitMs > 0 ? runWithin(limitMs, () => toStandardSchema(jsonSchema)) : OUT_OF_TIME
    if (schema !== OUT_OF_TIME) return schema
  } finally {
    time.leftMs -= performance.now() - startedAt
  }
  throw new TypeError(
    `must compile, together with the schemas before it, within ${READY_MS} ms plus ` +
      `${READY_MS_PER_KILOBYTE} ms for each thousand characters`,
  )
}

/** Returns the task with limited check time: an answer whose check runs out of time fails it. */
export function limitCheckTime(task: Task): Task {
  const { name, output, outputReader } = task
  const bounded = output === undefined ? undefined : bounds.get(output)
  if (bounded === undefined || outputReader === undefined) return task
  const assertInTime = async <T>(reading: Promise<T>): Promise<T> => {
    const read = await reading
    if (!bounded.isOver()) return read
    throw new TuttiError(
      'OUTPUT_INVALID',
      `The output of task "${name}" could not be checked against its schema: the slow checks of a run ` +
        `may take ${CHECKS_MS} ms in total`,
    )
  }
  return {
    ...task,
    outputReader: {
      ...outputReader,
      read: (text) => assertInTime(outputReader.read(text)),
      readValue: (value) => assertInTime(outputReader.readValue(value)),
    },
  }
}

/** Checks the size of a schema and returns the length of its JSON. */
function assertSmall(schema: OutputSchema): number {
  const depth = measureDepth(schema)
  if (depth > MAX_DEPTH) throw new TypeError(`must nest at most ${MAX_DEPTH} deep, got ${depth}`)
  const { length } = JSON.stringify(schema)
  if (length <= MAX_LENGTH) return length
  throw new TypeError(`must be at most ${MAX_LENGTH} characters of JSON, got ${length}`)
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

/**
 * Runs code that must not block the thread for long, such as a regular expression of a request: V8 stops it at the
 * limit. Returns the result of `work`, or {@link OUT_OF_TIME}.
 *
 * @see https://nodejs.org/api/vm.html#scriptrunincontextcontextifiedobject-options
 */
function runWithin<T>(limitMs: number, work: () => T): T | typeof OUT_OF_TIME {
  let result: T | typeof OUT_OF_TIME = OUT_OF_TIME
  globals.work = () => {
    result = work()
  }
  try {
    script.runInContext(context, { timeout: limitMs })
  } catch (error) {
    if (!isTimeout(error)) throw error
  } finally {
    delete globals.work
  }
  return result
}

/** Whether the error is the timeout. Not by `instanceof`: the context has its own `Error` class. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    Reflect.get(error, 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  )
}
