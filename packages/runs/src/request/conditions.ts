/**
 * Conditions of requests: expressions in CEL, the Common Expression Language, over the inputs of the run and the outputs of its
 * tasks. Checked before anything runs, and bounded, because the same thread serves all other requests.
 *
 * RUNS-CO1 A condition of a request reads `inputs.NAME`, a text, and `outputs.TASK`: a JSON value for a task with a schema or a
 *    list and for a wait, else a text. An output or a field that does not exist is an error, except for `has()`.
 * RUNS-CO2 Syntax errors, unknown tasks, functions and names, types that do not fit and results that cannot be boolean are
 *    refused with the path of the condition.
 * RUNS-CO3 A condition has at most 2,000 characters, 300 nodes and a depth of 32, and those of a request have 100,000 characters
 *    together. It has no regular expressions, makes no lists except by `filter`, does not nest iterations, and fails after
 *    250 ms of processor time. All conditions of a request have 1,000 ms of it in each process.
 * RUNS-CO5 The condition of a loop reads `output`, `outputs` (a list, the newest last), `round` (an integer from 1) and
 *    `inputs.NAME`, with the same rules.
 * RUNS-CO4 Inputs that a condition reads are inputs of the run: those outside of `has()` and `in` are required.
 *
 * @see https://github.com/google/cel-spec
 */
import { createRequire } from 'node:module'
import { createContext, Script, type Context } from 'node:vm'

import { errorMessage } from '@tutti/core/internal'

import { field } from '../domain/field.ts'
import { ConditionReader, UnknownTaskError } from './condition-reader.ts'

import type { Refusals } from './refusals.ts'
import type { Condition } from '@tutti/ensemble'
import type { LoopPlan } from '@tutti/ensemble/internal'
import type { TaskDefinitionBody } from '@tutti/protocol/internal'
import type { Environment, ParseResult } from '@marcbachmann/cel-js'

type Cel = typeof import('@marcbachmann/cel-js')

/** Limits of one expression. */
const LIMITS = {
  maxAstNodes: 300,
  maxDepth: 32,
  maxListElements: 100,
  maxMapEntries: 20,
  maxCallArguments: 8,
}

/**
 * Maximum length of all conditions of one request, in characters: they are compiled in up to 300 ms. A limit on time would refuse
 * in one process what another one has accepted.
 */
const MAX_TOTAL_LENGTH = 100_000

/** Maximum processor time of one evaluation, in milliseconds: only hostile expressions over long lists need it. */
const MAX_EVALUATION_MS = 250

/** Maximum processor time of all evaluations of one request, in milliseconds: one takes a tenth of a millisecond. */
const MAX_TOTAL_MS = 1_000

/** Names of the variables of a loop. */
const LOOP_VARIABLES = ['output', 'outputs', 'round']

/** Condition and switch of a task. */
export type Conditional = { readonly when?: Condition; readonly switch?: string }

/** Parts of a request that its conditions need. */
export interface ConditionParts {
  readonly bodies: readonly TaskDefinitionBody[]
  /** Name of each task. */
  readonly names: readonly string[]
  readonly refusals: Refusals
  /** Whether a manager delegates the tasks. */
  readonly isLed: boolean
}

/** Remaining time for the evaluations of one request. */
interface EvaluationTime {
  /** Processor time in milliseconds. */
  leftMs: number
}

/** Parts that compile an expression. */
interface ExpressionParts {
  readonly environment: Environment
  readonly time: EvaluationTime
}

/** Expression, or the reason why it is refused. */
type CompileResult<T> = { readonly value: T } | { readonly error: unknown }

/** Results of one environment by the text of the expression: the tasks of a large request often have equal ones. */
type Compiled<T> = Map<string, CompileResult<T>>

/** Shared parts for the conditions of loops with one type of output. */
interface LoopParts {
  readonly environment: Environment
  readonly compiled: Compiled<NonNullable<LoopPlan['until']>>
}

/** Type of the output of a round in CEL. */
type OutputType = 'string' | 'dyn'

/** Reads the conditions of one request. */
export class RequestedConditions {
  readonly #parts: ConditionParts
  readonly #time: EvaluationTime = { leftMs: MAX_TOTAL_MS }
  #environment: Environment | undefined
  /** Names of the tasks. */
  readonly #names: ReadonlySet<string>
  readonly #conditions: Compiled<Condition> = new Map()
  /** Parts for the conditions of loops, by the type of their output: creating an environment takes longer than an expression. */
  readonly #loops = new Map<OutputType, LoopParts>()
  /** Length of the conditions so far. */
  #length = 0

  constructor(parts: ConditionParts) {
    this.#parts = parts
    this.#names = new Set(parts.names)
  }

  /** Returns the condition and the switch of a task; problems are added to the refusals. */
  read({ when, switch: switchName }: TaskDefinitionBody, path: string): Conditional {
    const { refusals, isLed } = this.#parts
    for (const [name, value] of Object.entries({ when, switch: switchName })) {
      if (!isLed || value === undefined) continue
      const message = `${name} has no effect with workflow HIERARCHICAL: the manager chooses the tasks`
      refusals.add('BAD_REQUEST', `${path}/${name}`, () => message)
    }
    const condition = when === undefined ? undefined : this.#readCondition(when, `${path}/when`)
    return { ...field('when', condition), ...field('switch', switchName) }
  }

  /** Returns the condition of the loop of a task; undefined with a problem, which is added to the refusals. */
  readLoop(text: string, body: TaskDefinitionBody, path: string): LoopPlan['until'] {
    const { compiled, environment } = this.#findLoopParts(hasTextOutput(body) ? 'string' : 'dyn')
    const parts = { environment, time: this.#time }
    return this.#compile(text, { path, compiled, compile: () => compileLoopCondition(text, parts) })
  }

  #findLoopParts(output: OutputType): LoopParts {
    const known = this.#loops.get(output)
    if (known !== undefined) return known
    const created = { environment: createLoopEnvironment(output), compiled: new Map() }
    this.#loops.set(output, created)
    return created
  }

  #readCondition(text: string, path: string): Condition | undefined {
    this.#environment ??= createEnvironment(this.#parts)
    const parts = { environment: this.#environment, time: this.#time }
    return this.#compile(text, {
      path,
      compiled: this.#conditions,
      compile: () => compileCondition(text, this.#names, parts),
    })
  }

  /** Compiles an expression unless an equal one is compiled; adds its problem. */
  #compile<T>(
    text: string,
    {
      path,
      compiled,
      compile,
    }: { readonly path: string; readonly compiled: Compiled<T>; readonly compile: () => T },
  ): T | undefined {
    this.#length += text.length
    if (this.#length > MAX_TOTAL_LENGTH) {
      const message = `All conditions together must have at most ${MAX_TOTAL_LENGTH} characters`
      this.#parts.refusals.add('BAD_REQUEST', path, () => message)
      return undefined
    }
    const result = compiled.get(text) ?? tryCompile(compile)
    compiled.set(text, result)
    if ('value' in result) return result.value
    const { error } = result
    this.#parts.refusals.add('BAD_REQUEST', path, () => `Invalid condition: ${describe(error)}`)
    return undefined
  }
}

function tryCompile<T>(compile: () => T): CompileResult<T> {
  try {
    return { value: compile() }
  } catch (error) {
    return { error }
  }
}

/** Loads the interpreter when the first condition needs it. */
function loadCel(): Cel {
  return createRequire(import.meta.url)('@marcbachmann/cel-js')
}

/** Creates an environment with the limits of one expression. */
function createBoundedEnvironment(): Environment {
  const { Environment: Created } = loadCel()
  return new Created({ limits: LIMITS, homogeneousAggregateLiterals: false })
}

function createEnvironment({ bodies, names }: ConditionParts): Environment {
  const schema = Object.fromEntries(
    names.map((name, index) => [name, isText(bodies[index]) ? 'string' : 'dyn']),
  )
  return createBoundedEnvironment()
    .registerVariable('inputs', 'map<string, string>')
    .registerVariable('outputs', { schema })
}

function createLoopEnvironment(output: OutputType): Environment {
  return createBoundedEnvironment()
    .registerVariable('inputs', 'map<string, string>')
    .registerVariable('output', output)
    .registerVariable('outputs', `list<${output}>`)
    .registerVariable('round', 'int')
}

/** Whether the output of a task is certainly a text. */
function isText(body: TaskDefinitionBody | undefined): boolean {
  return hasTextOutput(body) && body?.forEach === undefined && body?.loop?.result !== 'all'
}

/** Whether the output of one item and of one round is certainly a text. */
function hasTextOutput(body: TaskDefinitionBody | undefined): boolean {
  return (
    body?.outputSchema === undefined && body?.ensemble === undefined && body?.waitFor === undefined
  )
}

/**
 * Compiles an expression.
 *
 * @throws {Error} with its first problem.
 */
function compileCondition(
  text: string,
  names: ReadonlySet<string>,
  { environment, time }: ExpressionParts,
): Condition {
  const reader = new ConditionReader(names)
  const parsed = parseCondition(text, reader, environment)
  const reads = [...reader.outputs]
  return {
    text,
    reads,
    inputs: reader.readInputs(),
    test: (outputs, { inputs }) =>
      evaluate(parsed, time, {
        inputs: toReadableFields(Object.entries(inputs)),
        outputs: toReadableFields(
          reads.flatMap((name, at) =>
            outputs[at] === undefined ? [] : [[name, toReadable(outputs[at])]],
          ),
        ),
      }),
  }
}

/**
 * Compiles the condition of a loop.
 *
 * @throws {Error} with its first problem.
 */
function compileLoopCondition(
  text: string,
  { environment, time }: ExpressionParts,
): NonNullable<LoopPlan['until']> {
  const reader = new ConditionReader(new Set(), LOOP_VARIABLES)
  const parsed = parseCondition(text, reader, environment)
  return {
    text,
    inputs: reader.readInputs(),
    test: (value, { round, outputs, inputs }) =>
      evaluate(parsed, time, {
        inputs: toReadableFields(Object.entries(inputs)),
        output: toReadable(value),
        outputs: outputs.map(toReadable),
        round: BigInt(round),
      }),
  }
}

/** Parses an expression and reads what it needs. @throws {Error} with its first problem. */
function parseCondition(
  text: string,
  reader: ConditionReader,
  environment: Environment,
): ParseResult {
  const parsed = environment.parse(text)
  reader.read(parsed.ast)
  const { valid, type, error } = parsed.check()
  if (!valid) throw error ?? new TypeError('it is not valid')
  if (type === 'bool' || type === 'dyn') return parsed
  throw new TypeError(`it must be true or false, but it is of the type ${type}`)
}

const SCRIPT = new Script('run()')

let context: Context | undefined

/**
 * Evaluates an expression within its time limit and the remaining time.
 *
 * @throws {TypeError} with the problem.
 */
function evaluate(
  parsed: ParseResult,
  time: EvaluationTime,
  values: Readonly<Record<string, unknown>>,
): unknown {
  if (time.leftMs <= 0) {
    throw new TypeError(`the conditions of the run took longer than ${MAX_TOTAL_MS} ms together`)
  }
  const { usedMs, ...result } = tryEvaluate(parsed, values)
  time.leftMs -= usedMs
  // The error of the interpreter shows the expression, which the reason of a failure already does.
  if ('problem' in result) throw new TypeError(result.problem)
  return result.value
}

/** Value or problem of an expression, and the processor time that it took, in milliseconds. */
type Evaluation = { readonly usedMs: number } & (
  | { readonly value: unknown }
  | { readonly problem: string }
)

/**
 * Evaluates an expression. A timeout of a script is wall time, which passes without progress on a busy machine, so a script that
 * has not used its processor time runs again with more of it.
 */
function tryEvaluate(parsed: ParseResult, values: Readonly<Record<string, unknown>>): Evaluation {
  context ??= createContext({})
  context['run'] = () => parsed(values)
  try {
    for (let timeout = FIRST_TIMEOUT_MS; ; timeout *= 2) {
      const done = runScript(context, timeout)
      if (done.usedMs >= MAX_EVALUATION_MS) {
        return { usedMs: done.usedMs, problem: `it takes longer than ${MAX_EVALUATION_MS} ms` }
      }
      if (!('isLate' in done)) return done
    }
  } finally {
    context['run'] = undefined
  }
}

/** Values that were converted, because many conditions can read the same one. */
const converted = new WeakMap<object, unknown>()

/**
 * Returns a value with maps in place of the objects that have a field `constructor`, which the interpreter takes for their types.
 */
function toReadable(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (!converted.has(value)) converted.set(value, convert(value))
  return converted.get(value)
}

function convert(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(convert)
    return items.every((item, at) => item === value[at]) ? value : items
  }
  if (typeof value !== 'object' || value === null) return value
  const before: readonly (readonly [string, unknown])[] = Object.entries(value)
  const fields = before.map(([name, one]) => [name, convert(one)] as const)
  const isSame = fields.every(([, one], at) => one === before[at]?.[1])
  return isSame && !Object.hasOwn(value, 'constructor') ? value : toReadableFields(fields)
}

function toReadableFields(fields: readonly (readonly [string, unknown])[]): unknown {
  const hasConstructor = fields.some(([name]) => name === 'constructor')
  return hasConstructor ? new Map(fields) : Object.fromEntries(fields)
}

/** Wall time of the first attempt, in milliseconds: on an idle machine it is enough to use the processor time. */
const FIRST_TIMEOUT_MS = MAX_EVALUATION_MS + 50

function runScript(
  within: Context,
  timeout: number,
): Evaluation | { readonly usedMs: number; readonly isLate: true } {
  const before = readProcessorMs()
  try {
    const value: unknown = SCRIPT.runInContext(within, { timeout })
    return { usedMs: readProcessorMs() - before, value }
  } catch (error) {
    const usedMs = readProcessorMs() - before
    const isLate = Reflect.get(Object(error), 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
    return isLate ? { usedMs, isLate } : { usedMs, problem: describe(error) }
  }
}

/** Returns the processor time of this thread, in milliseconds; before Node 23.9 that of the process. */
function readProcessorMs(): number {
  const read: { threadCpuUsage?: NodeJS.Process['cpuUsage'] } & Pick<NodeJS.Process, 'cpuUsage'> =
    process
  const { user, system } = (read.threadCpuUsage ?? read.cpuUsage)()
  return (user + system) / 1_000
}

/** Returns the problem of an expression, with its position. */
function describe(error: unknown): string {
  if (error instanceof UnknownTaskError) return error.explain()
  const { summary, range, code }: { summary?: string; range?: { start: number }; code?: string } =
    Object(error)
  const hint = code === 'no_such_overload' ? overloadHint(summary ?? '') : ''
  const position = range === undefined ? '' : ` at character ${range.start + 1}`
  return `${summary ?? errorMessage(error)}${position}${hint}`
}

/** Returns advice for an operator between different types. */
function overloadHint(summary: string): string {
  if (summary.includes('string'))
    return '. Inputs and outputs without a schema are texts: use int()'
  return summary.includes('double')
    ? '. Numbers in JSON are doubles: write 1.0 instead of 1, or use int()'
    : ''
}
