/** Makes tasks: fills in the defaults, compiles the output schema, and reports every problem at once. */
import { TuttiError } from '@tutti/core'
import { errorMessage, type ToolSchema, type ValueOf } from '@tutti/core/internal'

import { compileOutputReader, type OutputReader } from '../output/structured-output.ts'
import { synthesizeAgent, type Agent } from './agent.ts'
import { findEnsembleTaskProblems } from './check-ensemble-task.ts'
import { findLoopItemProblems, findLoopOptionProblems, findLoopProblems } from './check-loop.ts'
import { findForEachOptionProblems, findForEachProblems, findTaskProblems } from './check-task.ts'
import {
  toHandlerDefinition,
  toMappedInputs,
  type AnyEnsembleTaskDefinition,
  type EnsembleTaskDefinition,
} from './ensemble-task.ts'
import {
  createForEachHandler,
  createForEachReader,
  type ForEach,
  type ForEachOutcome,
  type ReduceOutputs,
} from './for-each.ts'
import { HANDLER_ROLE, type Handler } from './handler.ts'
import { createLoopHandler, createLoopReader } from './loop.ts'
import { isRoundVariable, type Loop, type LoopPlan } from './loop-settings.ts'
import { isItemVariable, toOptionText } from './map-settings.ts'
import {
  DEFAULT_EXPECTED_OUTPUT,
  DEFAULT_MAX_ITERATIONS,
  DEFAULT_OUTPUT_RETRIES,
  isTask,
  type ForEachPlan,
  type Task,
  type TaskDefinition,
} from './task.ts'
import { escapeVariables } from './template.ts'

import type { Problem } from '@tutti/protocol/internal'

/** Type of a task's output: that of its schema, or text without one. */
type OutputOf<Schema> = Schema extends ToolSchema ? ValueOf<Schema> : string

/** Type of the output of a task for each item of a list, by its `forEach`. */
type EachOutput<Each, Output> = Each extends { readonly collect: ReduceOutputs<infer Reduced> }
  ? Reduced
  : Each extends { readonly onError: 'collect' }
    ? readonly ForEachOutcome<Output>[]
    : readonly Output[]

/** Type of the output of a task that is repeated, by its `result`. */
type LoopOutput<Result, Output> = Result extends 'all' ? readonly Output[] : Output

/** Settings of the repetition of a task with this output. */
interface Repeated<Output, Result> {
  readonly loop: Loop<Output> & { readonly result?: Result }
}

/** Part of a copied task that determines the type of its output. */
type TaskCopy<Output> = Pick<Task<Output>, 'outputReader'>

// NOTE: TypeScript fixes the parameter types of `until` and `key` with the first overload that has all required fields, so the
// overloads with more required fields come first.
/**
 * Makes a task. A task is also a definition: `task({ ...research, maxIterations: 5 })` is a changed copy.
 *
 * @throws {TuttiError} CONFIG_INVALID, naming every problem.
 */
export function task<
  Output,
  const Sources,
  Item = unknown,
  const Each extends object = object,
  Result extends 'last' | 'all' = 'last',
>(
  definition: EnsembleTaskDefinition<Output, Sources> &
    Repeated<Output, Result> & { readonly forEach: ForEach<Item> & Each },
): Task<EachOutput<Each, LoopOutput<Result, Output>>>
export function task<
  const Schema extends ToolSchema | undefined = undefined,
  Item = unknown,
  const Each extends object = object,
  Result extends 'last' | 'all' = 'last',
>(
  definition: TaskDefinition<Schema> &
    Repeated<OutputOf<Schema>, Result> & { readonly forEach: ForEach<Item> & Each },
): Task<EachOutput<Each, LoopOutput<Result, OutputOf<Schema>>>>
export function task<Output, const Sources, Result extends 'last' | 'all' = 'last'>(
  definition: EnsembleTaskDefinition<Output, Sources> & Repeated<Output, Result>,
): Task<LoopOutput<Result, Output>>
export function task<
  const Schema extends ToolSchema | undefined = undefined,
  Result extends 'last' | 'all' = 'last',
>(
  definition: TaskDefinition<Schema> & Repeated<OutputOf<Schema>, Result>,
): Task<LoopOutput<Result, OutputOf<Schema>>>
export function task<
  const Schema extends ToolSchema | undefined = undefined,
  Item = unknown,
  Reduced = unknown,
>(
  definition: TaskDefinition<Schema> & {
    readonly forEach: ForEach<Item> & {
      readonly onError?: 'fail' | 'continue'
      readonly collect: ReduceOutputs<Reduced>
    }
  },
): Task<Reduced>
export function task<const Schema extends ToolSchema | undefined = undefined, Item = unknown>(
  definition: TaskDefinition<Schema> & {
    readonly forEach: ForEach<Item> & { readonly onError: 'collect'; readonly collect?: 'list' }
  },
): Task<readonly ForEachOutcome<OutputOf<Schema>>[]>
export function task<const Schema extends ToolSchema | undefined = undefined, Item = unknown>(
  definition: TaskDefinition<Schema> & {
    readonly forEach: ForEach<Item> & {
      readonly onError?: 'fail' | 'continue'
      readonly collect?: 'list'
    }
  },
): Task<readonly OutputOf<Schema>[]>
export function task<Output, const Sources, Item = unknown, const Each extends object = object>(
  definition: EnsembleTaskDefinition<Output, Sources> & {
    readonly forEach: ForEach<Item> & Each
  },
): Task<EachOutput<Each, Output>>
export function task<Output, const Sources>(
  definition: EnsembleTaskDefinition<Output, Sources>,
): Task<Output>
export function task<
  const Schema extends ToolSchema | undefined = undefined,
  Output = OutputOf<Schema>,
>(
  definition: TaskDefinition<Schema> & TaskCopy<Output>,
): Task<ToolSchema extends Schema ? Output : OutputOf<Schema>>
export function task(definition: AnyDefinition): Task {
  return makeAnyTask(definition)
}

/** Definition of a task with any schema, ensemble, list and repetition. */
type AnyDefinition = (TaskDefinition | AnyEnsembleTaskDefinition) & {
  readonly forEach?: object
  readonly loop?: object
}

/** Makes a task. One for each item of a list can be repeated for each of them. */
function makeAnyTask(definition: AnyDefinition): Task {
  // NOTE: the overloads allow no other objects; a copy of such a task has the plan of the task.
  const forEach = definition.forEach as ForEach<never> | ForEachPlan | undefined
  const loop = definition.loop as Loop<never> | LoopPlan | undefined
  if (forEach !== undefined && !('template' in forEach)) return makeForEachTask(definition, forEach)
  if (loop !== undefined && !('template' in loop)) return makeLoopTask(definition, loop)
  return makeOneTask(definition)
}

/** Makes a task that does not add others by a plan. */
function makeOneTask(definition: TaskDefinition | AnyEnsembleTaskDefinition): Task {
  if (!('ensemble' in definition)) return makeTask(definition)
  const { ensemble, inputs = {}, name = ensemble.name } = definition
  const problems = findEnsembleTaskProblems(definition)
  if (problems.length > 0) {
    throw new TuttiError('CONFIG_INVALID', `Cannot create task "${name}": ${problems.join('; ')}`, {
      details: { problems },
    })
  }
  const made = makeTask(
    toHandlerDefinition(definition, { definition: ensemble, inputs: toMappedInputs(inputs) }),
  )
  const { outputReader: reader } = ensemble
  return reader === undefined ? made : { ...made, outputReader: reader }
}

/**
 * Makes a task that adds a task for each item of a list. Its definition is that of the tasks for the items, except for its
 * name and its context.
 */
function makeForEachTask(definition: AnyDefinition, forEach: ForEach<never>): Task {
  const { forEach: _, ...rest } = definition
  const template = makeAnyTask(rest)
  const { over, collect = 'list', key, ...settings } = forEach
  assertValid(template.name, findForEachOptionProblems(forEach))
  const isInput = typeof over === 'string'
  return createForEachTask({
    over: isInput ? over : over.name,
    isInput,
    settings,
    template,
    ...(key === undefined ? {} : { key }),
    ...(collect === 'list' ? {} : { reduce: toReduceTask(collect) }),
  })
}

/**
 * Makes the task of a plan, such as one of another task with other settings or with another task for the items.
 *
 * @throws {TuttiError} CONFIG_INVALID, naming every problem.
 */
export function createForEachTask(plan: ForEachPlan): Task {
  const { over, isInput, settings, template } = plan
  const problems = [...findForEachProblems(plan), ...findLoopItemProblems(plan)]
  assertValid(template.name, toOptionTexts('forEach', problems))
  const reader = createForEachReader(template.outputReader, plan)
  const made = makeTask({
    name: template.name,
    description: escapeVariables(template.description, (name) => isItemVariable(name, settings.as)),
    expectedOutput: 'The outputs of all items.',
    context: isInput ? template.context : [...template.context, over],
    handler: createForEachHandler(plan),
    ...(template.version === undefined ? {} : { version: template.version }),
  })
  return { ...made, forEach: plan, ...(reader === undefined ? {} : { outputReader: reader }) }
}

/** Makes a task that is repeated. Its definition is that of a round, except for its name and its context. */
function makeLoopTask(definition: AnyDefinition, loop: Loop<never>): Task {
  const { loop: _, ...rest } = definition
  const template = makeAnyTask(rest)
  const { until, ...settings } = loop
  const optionProblems = findLoopOptionProblems(loop)
  // NOTE: ChildTask leaves out the fields of a task whose types depend on handlers; only task() makes one.
  const judge = typeof until === 'object' ? (until.judge as Task) : undefined
  const plan = {
    template,
    settings,
    ...(typeof until === 'function' ? { until } : {}),
    ...(judge === undefined || !isTask(judge) ? {} : { judge }),
  }
  assertValid(template.name, [...optionProblems, ...toOptionTexts('loop', findLoopProblems(plan))])
  return createLoopTask(plan)
}

/**
 * Makes the task of a plan, such as one of another task with other settings or with another body.
 *
 * @throws {TuttiError} CONFIG_INVALID, naming every problem.
 */
export function createLoopTask(plan: LoopPlan): Task {
  const { template, settings, judge } = plan
  assertValid(template.name, toOptionTexts('loop', findLoopProblems(plan)))
  const reader = createLoopReader(template.outputReader, settings)
  const made = makeTask({
    name: template.name,
    description: escapeVariables(template.description, isRoundVariable),
    expectedOutput:
      settings.result === 'all' ? 'The outputs of all rounds.' : 'The output of the last round.',
    context: [...template.context, ...(judge?.context ?? [])],
    handler: createLoopHandler(plan),
    ...(template.version === undefined ? {} : { version: template.version }),
  })
  return { ...made, loop: plan, ...(reader === undefined ? {} : { outputReader: reader }) }
}

function toOptionTexts(option: string, problems: readonly Problem[]): readonly string[] {
  return problems.map((problem) =>
    problem.path === '' ? `${option}: ${problem.message}` : `${option}.${toOptionText(problem)}`,
  )
}

function assertValid(name: string, problems: readonly string[]): void {
  if (problems.length === 0) return
  throw new TuttiError('CONFIG_INVALID', `Cannot create task "${name}": ${problems.join('; ')}`, {
    details: { problems },
  })
}

function toReduceTask({
  reduce,
  ...limits
}: ReduceOutputs<unknown>): NonNullable<ForEachPlan['reduce']> {
  // NOTE: ChildTask leaves out the fields of a task whose types depend on handlers; only task() makes one.
  return { ...limits, task: reduce as Task }
}

function makeTask(definition: TaskDefinition): Task {
  const name = definition.name ?? deriveName(definition.description)
  const reader = compileReader(definition)
  const problems = [...findTaskProblems(definition, name), ...reader.problems]
  if (problems.length > 0) {
    throw new TuttiError('CONFIG_INVALID', `Cannot create task "${name}": ${problems.join('; ')}`, {
      details: { problems },
    })
  }
  const agent = chooseAgent(definition)
  const { handler, ...rest } = definition
  return {
    ...rest,
    // NOTE: nothing relies on the handler's output type, because the schema checks the output at run time.
    ...(handler === undefined ? {} : { handler: handler as Handler<never> }),
    name,
    expectedOutput: definition.expectedOutput ?? DEFAULT_EXPECTED_OUTPUT,
    agent,
    tools: [...new Set([...(definition.tools ?? []), ...agent.tools])],
    context: listNames(definition.context ?? []),
    maxIterations: definition.maxIterations ?? agent.maxIterations ?? DEFAULT_MAX_ITERATIONS,
    outputRetries: definition.outputRetries ?? DEFAULT_OUTPUT_RETRIES,
    retries: definition.retries ?? 0,
    memory: definition.memory ?? [],
    ...(reader.made === undefined ? {} : { outputReader: reader.made }),
  }
}

/** Compiles the output schema; an error becomes a problem of the definition. */
function compileReader({ output }: TaskDefinition): {
  readonly made?: OutputReader
  readonly problems: readonly string[]
} {
  if (output === undefined) return { problems: [] }
  try {
    return { made: compileOutputReader(output), problems: [] }
  } catch (error) {
    return { problems: [errorMessage(error)] }
  }
}

/** Returns the names of tasks, each once. */
function listNames(tasks: readonly (Task | string)[]): readonly string[] {
  return [...new Set(tasks.map((item) => (typeof item === 'string' ? item : item.name)))]
}

function chooseAgent({ agent, handler, description }: TaskDefinition): Agent {
  if (agent !== undefined) return agent
  if (handler !== undefined) return { role: HANDLER_ROLE, tools: [] }
  return synthesizeAgent(description)
}

const MAX_NAME_LENGTH = 50

function deriveName(description: string): string {
  const words = description.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  let name = ''
  for (const word of words) {
    const longer = name === '' ? word : `${name}-${word}`
    if (longer.length > MAX_NAME_LENGTH) break
    name = longer
  }
  return name === '' ? 'task' : name
}
