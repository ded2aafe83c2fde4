/** Makes tasks: fills in the defaults, compiles the output schema, and reports every problem at once. */
import { TuttiError, type Type } from '@tutti/core'
import { errorMessage, type ToolSchema, type ValueOf } from '@tutti/core/internal'

import { compileOutputReader, type OutputReader } from '../output/structured-output.ts'
import { synthesizeAgent, type Agent } from './agent.ts'
import { findEnsembleTaskProblems, isResolved, pickHandlerOptions } from './check-ensemble-task.ts'
import {
  findLoopItemProblems,
  findLoopOptionProblems,
  findLoopProblems,
  findLoopSettingProblems,
} from './check-loop.ts'
import { toCondition } from './condition.ts'
import { findForEachOptionProblems, findForEachProblems, findTaskProblems } from './check-task.ts'
import {
  toHandlerDefinition,
  toMappedInputs,
  type AnyEnsembleTaskDefinition,
  type EnsembleTaskDefinition,
  type NamedEnsembleTask,
} from './ensemble-task.ts'
import {
  createForEachHandler,
  createForEachReader,
  type ForEach,
  type ForEachOutcome,
  type ItemOutcome,
  type ReduceOutputs,
} from './for-each.ts'
import { HANDLER_ROLE, type Handler } from './handler.ts'
import { createLoopHandler, createLoopReader } from './loop.ts'
import { isRoundVariable } from './loop-variables.ts'
import { isItemVariable } from './map-settings.ts'
import { toOptionText } from './option-text.ts'
import {
  DEFAULT_EXPECTED_OUTPUT,
  DEFAULT_MAX_ITERATIONS,
  DEFAULT_OUTPUT_RETRIES,
  isTask,
  type ForEachPlan,
  type LoopPlan,
  type Task,
  type TaskDefinition,
} from './task.ts'
import { selectOutput } from './select-output.ts'
import { escapeVariables } from './template.ts'
import { copyValue } from './value-inputs.ts'
import {
  createWaitHandler,
  createWaitReader,
  findTaskWaitProblems,
  isWaitHandler,
  type AllOutcome,
  type TaskWait,
} from './wait-task.ts'

import type { EventsToAwait, EventToAwait, WaitOutcome } from './wait.ts'
import type { Problem } from '@tutti/protocol/internal'
import type { Loop, LoopCondition, LoopTest } from './loop-settings.ts'

/** Type of a task's output: that of its schema, or text without one. */
type OutputOf<Schema> = Schema extends ToolSchema ? ValueOf<Schema> : string

/** Type of the output of a task for each item of a list, by its `forEach`. */
type EachOutput<Each, Output> = Each extends { readonly collect: ReduceOutputs<infer Reduced> }
  ? Reduced
  : Each extends { readonly collect: 'outputs' }
    ? Readonly<
        Record<string, Each extends { readonly onError: 'collect' } ? ItemOutcome<Output> : Output>
      >
    : Each extends { readonly onError: 'collect' }
      ? readonly ForEachOutcome<Output>[]
      : readonly Output[]

/** Type of the output of a task that is repeated, by its `result`. */
type LoopOutput<Result, Output> = Result extends 'all' ? readonly Output[] : Output

/** Settings of the repetition of a task with this output. */
interface Repeated<Output, Result> {
  readonly loop: Loop<Output> & { readonly result?: Result }
}

/** Definition of a task that waits for events. */
type WaitTaskDefinition = Omit<TaskDefinition<undefined>, 'handler' | 'output'>

/** Part of a copied task that determines the type of its output. */
type TaskCopy<Output> = Pick<Task<Output>, 'outputReader'>

// NOTE: TypeScript fixes the types of functions with the first overload that can match. So the overloads with more required
// fields come first, and those with all fields of an agent before those with fewer.
/**
 * Makes a task. A task is also a definition: `task({ ...research, maxIterations: 5 })` is a changed copy.
 *
 * @throws {TuttiError} CONFIG_INVALID, naming every problem.
 */
export function task<
  const Schema extends ToolSchema | undefined = undefined,
  Item = unknown,
  const Each extends object = object,
  Result extends 'last' | 'all' = 'last',
>(
  definition: TaskDefinition<Schema> &
    Repeated<OutputOf<Schema>, Result> & {
      readonly forEach: ForEach<Item> & Each
      readonly ensemble?: never
    },
): Task<EachOutput<Each, LoopOutput<Result, OutputOf<Schema>>>>
export function task<
  Output,
  const Sources,
  Item = unknown,
  const Each extends object = object,
  Result extends 'last' | 'all' = 'last',
  Chosen = Output,
>(
  definition: EnsembleTaskDefinition<Output, Sources, Chosen> &
    Repeated<Chosen, Result> & { readonly forEach: ForEach<Item> & Each },
): Task<EachOutput<Each, LoopOutput<Result, Chosen>>>
export function task<
  const Schema extends ToolSchema | undefined = undefined,
  Result extends 'last' | 'all' = 'last',
>(
  definition: TaskDefinition<Schema> &
    Repeated<OutputOf<Schema>, Result> & { readonly ensemble?: never },
): Task<LoopOutput<Result, OutputOf<Schema>>>
export function task<
  Output,
  const Sources,
  Result extends 'last' | 'all' = 'last',
  Chosen = Output,
>(
  definition: EnsembleTaskDefinition<Output, Sources, Chosen> & Repeated<Chosen, Result>,
): Task<LoopOutput<Result, Chosen>>
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
      readonly onError: 'collect'
      readonly collect: 'outputs'
    }
  },
): Task<Readonly<Record<string, ItemOutcome<OutputOf<Schema>>>>>
export function task<const Schema extends ToolSchema | undefined = undefined, Item = unknown>(
  definition: TaskDefinition<Schema> & {
    readonly forEach: ForEach<Item> & {
      readonly onError?: 'fail' | 'continue'
      readonly collect: 'outputs'
    }
  },
): Task<Readonly<Record<string, OutputOf<Schema>>>>
export function task<const Schema extends ToolSchema | undefined = undefined, Item = unknown>(
  definition: TaskDefinition<Schema> & {
    readonly forEach: ForEach<Item> & {
      readonly onError?: 'fail' | 'continue'
      readonly collect?: 'list'
    }
  },
): Task<readonly OutputOf<Schema>[]>
export function task<const Schema extends ToolSchema = Type.TUnknown>(
  definition: WaitTaskDefinition & {
    readonly waitFor: TaskWait<Schema> & { readonly event: EventsToAwait }
  },
): Task<WaitOutcome<ValueOf<Schema>>>
export function task<const Schema extends ToolSchema = Type.TUnknown>(
  definition: WaitTaskDefinition & {
    readonly waitFor: TaskWait<Schema> & {
      readonly event: { readonly all: readonly EventToAwait[] }
    }
  },
): Task<AllOutcome<ValueOf<Schema>>>
export function task<const Schema extends ToolSchema = Type.TUnknown>(
  definition: WaitTaskDefinition & { readonly waitFor: TaskWait<Schema> },
): Task<WaitOutcome<ValueOf<Schema>> | AllOutcome<ValueOf<Schema>>>
export function task<
  Output,
  const Sources,
  Item = unknown,
  const Each extends object = object,
  Chosen = Output,
>(
  definition: EnsembleTaskDefinition<Output, Sources, Chosen> & {
    readonly forEach: ForEach<Item> & Each
  },
): Task<EachOutput<Each, Chosen>>
export function task<Output, const Sources, Chosen = Output>(
  definition: EnsembleTaskDefinition<Output, Sources, Chosen>,
): Task<Chosen>
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
  readonly waitFor?: TaskWait
}

/**
 * Makes a task. One for each item of a list can be repeated for each of them.
 *
 * @param more further problems of its definition.
 */
function makeAnyTask(definition: AnyDefinition, more: readonly string[] = []): Task {
  // NOTE: the overloads allow no other objects; a copy of such a task has the plan of the task.
  const forEach = definition.forEach as ForEach<never> | ForEachPlan | undefined
  const loop = definition.loop as Loop<never> | LoopPlan | undefined
  if (forEach !== undefined && !('template' in forEach)) return makeForEachTask(definition, forEach)
  if (loop !== undefined && !('template' in loop)) return makeLoopTask(definition, loop, more)
  return makeOneTask(definition, more)
}

/** Makes a task that does not add others by a plan. */
function makeOneTask(definition: AnyDefinition, more: readonly string[] = []): Task {
  if (definition.waitFor !== undefined) return makeWaitTask(definition, definition.waitFor, more)
  if (!('ensemble' in definition)) return makeTask(definition, more)
  const { inputs = {}, output, ...settings } = definition
  const problems = [...findEnsembleTaskProblems(definition), ...more]
  if (!isResolved(definition.ensemble)) {
    // Its other options are checked with it.
    return makeTask({ description: 'unknown', ...pickHandlerOptions(definition) }, problems)
  }
  if (problems.length > 0) return createEnsembleTask({ ...settings, inputs: {} }, problems)
  return createEnsembleTask({
    ...settings,
    inputs: toMappedInputs(inputs),
    ...(output === undefined ? {} : { output: output.name }),
  })
}

/**
 * Makes a task that runs an ensemble, with sources of its inputs and an output that name tasks.
 *
 * @param problems further problems of its definition.
 * @throws {TuttiError} CONFIG_INVALID, naming every problem.
 */
export function createEnsembleTask(
  { inputs, output, ...definition }: NamedEnsembleTask,
  problems: readonly string[] = [],
): Task {
  const ensemble =
    output === undefined
      ? definition.ensemble
      : selectOutput(definition.ensemble, { outputTask: output, lastTasks: [output] })
  const handling = { ensemble, ...pickHandlerOptions(definition) }
  const made = makeTask(toHandlerDefinition(handling, { definition: ensemble, inputs }), problems)
  const { outputReader: reader } = ensemble
  return reader === undefined ? made : { ...made, outputReader: reader }
}

/** Makes a task that waits for events. A copy of one has its handler, which is made again. */
function makeWaitTask(
  definition: TaskDefinition | AnyEnsembleTaskDefinition,
  waitFor: TaskWait,
  more: readonly string[] = [],
): Task {
  const { handler, output }: Partial<TaskDefinition> = 'ensemble' in definition ? {} : definition
  const name = definition.name ?? deriveName(definition.description ?? '')
  assertDefinition(name, [
    ...more,
    ...findTaskWaitProblems(waitFor),
    ...(handler === undefined || isWaitHandler(handler)
      ? []
      : ['handler does not apply to a task with waitFor']),
    ...(output === undefined
      ? []
      : ['output does not apply to a task with waitFor: use its schema']),
    ...('ensemble' in definition ? ['ensemble does not apply to a task with waitFor'] : []),
  ])
  // NOTE: a task of an ensemble was refused above.
  const own = definition as TaskDefinition
  const made = makeTask({
    ...own,
    name,
    expectedOutput: own.expectedOutput ?? 'The outcome of the wait.',
    handler: createWaitHandler(waitFor),
  })
  return { ...made, waitFor, outputReader: createWaitReader(waitFor) }
}

/**
 * Makes a task that adds a task for each item of a list. Its definition is that of the tasks for the items, except for its
 * name and its context.
 */
function makeForEachTask(definition: AnyDefinition, forEach: ForEach<never>): Task {
  const { conditional, own } = splitConditional(definition)
  const { forEach: _, ...rest } = own
  const { over, collect = 'list', key, ...settings } = forEach
  const plan = {
    settings: collect === 'outputs' ? { ...settings, collect } : settings,
    ...(key === undefined ? {} : { key }),
    ...(typeof collect === 'object' && collect !== null ? { reduce: toReduceTask(collect) } : {}),
  }
  const template = makeAnyTask(rest, [
    ...findForEachOptionProblems(forEach),
    ...toOptionTexts('forEach', findForEachProblems(plan)),
  ])
  const isInput = typeof over === 'string'
  return createForEachTask(
    { ...plan, over: isInput ? over : over.name, isInput, template },
    conditional,
  )
}

/**
 * Makes the task of a plan, such as one of another task with other settings or with another task for the items.
 *
 * @param conditional its condition and its switch, which the tasks of the items do not have. @default none
 * @throws {TuttiError} CONFIG_INVALID, naming every problem.
 */
export function createForEachTask(
  plan: ForEachPlan,
  conditional: Pick<TaskDefinition, 'when' | 'switch'> = {},
): Task {
  const { over, isInput, settings, template, reduce } = plan
  const problems = [...findForEachProblems(plan), ...findLoopItemProblems(plan)]
  assertDefinition(template.name, toOptionTexts('forEach', problems))
  const context = [...template.context, ...(reduce?.task.context ?? [])]
  const reader = createForEachReader(template.outputReader, plan)
  const made = makeTask({
    name: template.name,
    description: escapeVariables(template.description, (name) => isItemVariable(name, settings.as)),
    expectedOutput: 'The outputs of all items.',
    context: isInput ? context : [...context, over],
    handler: createForEachHandler(plan),
    ...conditional,
    ...(template.version === undefined ? {} : { version: template.version }),
  })
  return { ...made, forEach: plan, ...(reader === undefined ? {} : { outputReader: reader }) }
}

/** Separates the condition and the switch of a task from what its parts have. */
function splitConditional({ when, switch: switchName, ...own }: AnyDefinition) {
  const conditional = {
    ...(when === undefined ? {} : { when }),
    ...(switchName === undefined ? {} : { switch: switchName }),
  }
  return { conditional, own }
}

/** Makes a task that is repeated. Its definition is that of a round, except for its name and its context. */
function makeLoopTask(definition: AnyDefinition, loop: Loop<never>, more: readonly string[]): Task {
  const { conditional, own } = splitConditional(definition)
  const { loop: _, ...rest } = own
  const { until, ...settings } = loop
  // NOTE: ChildTask leaves out the fields of a task whose types depend on handlers; only task() makes one.
  const judge = typeof until === 'object' && until !== null ? (until.judge as Task) : undefined
  const plan = {
    settings,
    // NOTE: the type of the condition follows from the body, which the overloads of task() check.
    ...(typeof until === 'function' ? { until: toLoopTest(until as LoopCondition<unknown>) } : {}),
    ...(isTask(judge) ? { judge } : {}),
  }
  const template = makeAnyTask(rest, [
    ...more,
    ...findLoopOptionProblems(loop),
    ...toOptionTexts('loop', findLoopSettingProblems(plan)),
  ])
  return createLoopTask({ ...plan, template }, conditional)
}

/** Returns a test that gives copies to the function, because its result is recorded and its changes are not. */
function toLoopTest(until: LoopCondition<unknown>): LoopTest {
  return {
    test: (_, state) => {
      const outputs = state.outputs.map(copyValue)
      return until(outputs.at(-1), { ...state, outputs })
    },
  }
}

/**
 * Makes the task of a plan, such as one of another task with other settings or with another body.
 *
 * @param conditional its condition and its switch, which the rounds do not have. @default none
 * @throws {TuttiError} CONFIG_INVALID, naming every problem.
 */
export function createLoopTask(
  plan: LoopPlan,
  conditional: Pick<TaskDefinition, 'when' | 'switch'> = {},
): Task {
  const { template, settings, judge } = plan
  assertDefinition(template.name, toOptionTexts('loop', findLoopProblems(plan)))
  const reader = createLoopReader(template.outputReader, settings)
  const made = makeTask({
    name: template.name,
    description: escapeVariables(template.description, isRoundVariable),
    expectedOutput:
      settings.result === 'all' ? 'The outputs of all rounds.' : 'The output of the last round.',
    context: [...template.context, ...(judge?.context ?? [])],
    handler: createLoopHandler(plan),
    ...conditional,
    ...(template.version === undefined ? {} : { version: template.version }),
  })
  return { ...made, loop: plan, ...(reader === undefined ? {} : { outputReader: reader }) }
}

function toOptionTexts(option: string, problems: readonly Problem[]): readonly string[] {
  return problems.map((problem) =>
    problem.path === '' ? `${option}: ${problem.message}` : `${option}.${toOptionText(problem)}`,
  )
}

function assertDefinition(name: string, problems: readonly string[]): void {
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

function makeTask(definition: TaskDefinition, more: readonly string[] = []): Task {
  const name = definition.name ?? deriveName(definition.description)
  const reader = compileReader(definition)
  assertDefinition(name, [...more, ...findTaskProblems(definition, name), ...reader.problems])
  const agent = chooseAgent(definition)
  const { handler, when, ...rest } = definition
  return {
    ...rest,
    ...(when === undefined ? {} : { when: toCondition(when) }),
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
