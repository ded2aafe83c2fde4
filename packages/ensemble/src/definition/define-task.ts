/** Makes tasks: fills in the defaults, compiles the output schema, and reports every problem at once. */
import { TuttiError } from '@tutti/core'
import { errorMessage, type ToolSchema, type ValueOf } from '@tutti/core/internal'

import { compileOutputReader, type OutputReader } from '../output/structured-output.ts'
import { synthesizeAgent, type Agent } from './agent.ts'
import { findEnsembleTaskProblems, isResolved, pickHandlerOptions } from './check-ensemble-task.ts'
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
  escapeItem,
  type ForEach,
  type ForEachOutcome,
  type ItemOutcome,
  type ReduceOutputs,
} from './for-each.ts'
import { HANDLER_ROLE, type Handler } from './handler.ts'
import { toOptionText } from './map-settings.ts'
import {
  DEFAULT_EXPECTED_OUTPUT,
  DEFAULT_MAX_ITERATIONS,
  DEFAULT_OUTPUT_RETRIES,
  type ForEachPlan,
  type Task,
  type TaskDefinition,
} from './task.ts'

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

/** Part of a copied task that determines the type of its output. */
type TaskCopy<Output> = Pick<Task<Output>, 'outputReader'>

/**
 * Makes a task. A task is also a definition: `task({ ...research, maxIterations: 5 })` is a changed copy.
 *
 * @throws {TuttiError} CONFIG_INVALID, naming every problem.
 */
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
export function task(
  definition: (TaskDefinition | AnyEnsembleTaskDefinition) & {
    readonly forEach?: object
  },
): Task {
  // NOTE: the overloads allow no other object; a copy of such a task has the plan of the task.
  const forEach = definition.forEach as ForEach<never> | ForEachPlan | undefined
  return forEach === undefined || 'template' in forEach
    ? makeOneTask(definition)
    : makeForEachTask(definition, forEach)
}

/** Makes a task that is not one for each item of a list. */
function makeOneTask(
  definition: TaskDefinition | AnyEnsembleTaskDefinition,
  more: readonly string[] = [],
): Task {
  if (!('ensemble' in definition)) return makeTask(definition, more)
  const { inputs = {}, ...settings } = definition
  const problems = [...findEnsembleTaskProblems(definition), ...more]
  if (!isResolved(definition.ensemble)) {
    // Its other options are checked with it.
    return makeTask({ description: 'unknown', ...pickHandlerOptions(definition) }, problems)
  }
  const known = problems.length === 0 ? toMappedInputs(inputs) : {}
  return createEnsembleTask({ ...settings, inputs: known }, problems)
}

/**
 * Makes a task that runs an ensemble, with sources of its inputs that name tasks.
 *
 * @param problems further problems of its definition.
 * @throws {TuttiError} CONFIG_INVALID, naming every problem.
 */
export function createEnsembleTask(
  { inputs, ...definition }: NamedEnsembleTask,
  problems: readonly string[] = [],
): Task {
  const { ensemble } = definition
  const handling = { ensemble, ...pickHandlerOptions(definition) }
  const made = makeTask(toHandlerDefinition(handling, { definition: ensemble, inputs }), problems)
  const { outputReader: reader } = ensemble
  return reader === undefined ? made : { ...made, outputReader: reader }
}

/**
 * Makes a task that adds a task for each item of a list. Its definition is that of the tasks for the items, except for its
 * name and its context.
 */
function makeForEachTask(
  definition: (TaskDefinition | AnyEnsembleTaskDefinition) & {
    readonly forEach?: unknown
  },
  forEach: ForEach<never>,
): Task {
  const { forEach: _, when, switch: switchName, ...rest } = definition
  const { over, collect = 'list', key, ...settings } = forEach
  const plan = {
    settings: collect === 'outputs' ? { ...settings, collect } : settings,
    ...(key === undefined ? {} : { key }),
    ...(typeof collect === 'object' && collect !== null ? { reduce: toReduceTask(collect) } : {}),
  }
  const template = makeOneTask(rest, [
    ...findForEachOptionProblems(forEach),
    ...findForEachProblems(plan).map((problem) => `forEach.${toOptionText(problem)}`),
  ])
  const isInput = typeof over === 'string'
  return createForEachTask(
    { ...plan, over: isInput ? over : over.name, isInput, template },
    {
      ...(when === undefined ? {} : { when }),
      ...(switchName === undefined ? {} : { switch: switchName }),
    },
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
  const problems = findForEachProblems(plan)
  assertDefinition(
    template.name,
    problems.map((problem) => `forEach.${toOptionText(problem)}`),
  )
  const context = [...template.context, ...(reduce?.task.context ?? [])]
  const reader = createForEachReader(template.outputReader, plan)
  const made = makeTask({
    name: template.name,
    description: escapeItem(template.description, settings.as),
    expectedOutput: 'The outputs of all items.',
    context: isInput ? context : [...context, over],
    handler: createForEachHandler(plan),
    ...conditional,
    ...(template.version === undefined ? {} : { version: template.version }),
  })
  return { ...made, forEach: plan, ...(reader === undefined ? {} : { outputReader: reader }) }
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
