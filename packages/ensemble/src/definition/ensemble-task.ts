/**
 * Ensembles as tasks: such a task adds the tasks of another ensemble to its run, by their plan.
 *
 *   inputs, outputs ─▶ inputs of the sub-ensemble ─▶ Schedule.next ─▶ its tasks ─▶ … ─▶ output of the last one
 *
 * ENS-P14 A task with `ensemble` adds the tasks of that ensemble to its run, in the order of their plan and named below it. They
 *    get the settings of their ensemble and the outputs of its tasks only. Its output is that of the last one that completed, and
 *    the first failure fails it.
 * ENS-P29 `output` chooses the task of the ensemble whose output the task has. It fails with CONSTRAINT_VIOLATION if conditions
 *    skip that one, and has no output if the run ends early. The policy AFTER_LAST_TASK reviews the chosen one.
 * ENS-P30 A task of a sub-ensemble uses its own model, else that of its agent, of its ensemble, or of the ensemble that uses it.
 *    An ensemble in which a task has none of these is refused when it is started or registered by itself, with all such tasks.
 * ENS-P15 An input of a sub-ensemble is a text with variables, the output of an earlier task or a field of one; other variables
 *    are inputs of the run.
 */
import { TuttiError } from '@tutti/core'
import { TEMPLATE_VARIABLE } from '@tutti/protocol/internal'

import { mergeBudgets, type Budget } from '../usage/budget.ts'
import { chooseTask, unmatchedError } from './choose-task.ts'
import { inputVariables } from './inputs.ts'
import { listAllTasks } from './manager.ts'
import { Schedule } from './schedule.ts'
import { selectOutput } from './select-output.ts'
import {
  findSubEnsemble,
  markSubEnsemble,
  type MappedInput,
  type OutputReference,
  type SubEnsemble,
} from './sub-ensemble.ts'
import { renderTemplate, type Inputs } from './template.ts'
import { readJsonText, readPath, toValueInputs } from './value-inputs.ts'

import type { ResolvedEnsemble } from './ensemble-definition.ts'
import type { Handler, HandlerContext } from './handler.ts'
import type { ChildOptions, ChildTask } from './operations.ts'
import type { Choice } from './plan.ts'
import type { Task, TaskDefinition } from './task.ts'

/** Value of an input: a text with variables, the output of an earlier task, or a field of one. */
export type InputSource<Output> =
  | string
  | ChildTask<Output>
  | readonly [ChildTask<Output>, keyof Output & string]

/** The source of an input, with a field of any name. */
export type AnyInputSource = string | ChildTask<unknown> | readonly [ChildTask<unknown>, string]

/** Definition of a task that runs an ensemble in its run. */
export interface EnsembleTaskDefinition<Output, Sources, Chosen = Output> extends Pick<
  TaskDefinition,
  | 'expectedOutput'
  | 'context'
  | 'version'
  | 'guardrails'
  | 'beforeReview'
  | 'review'
  | 'timeoutMs'
  | 'retries'
  | 'switch'
  | 'when'
> {
  /** Ensemble whose tasks it adds, of any workflow, up to 5 deep. */
  readonly ensemble: ResolvedEnsemble<Output>
  /** @default the name of the ensemble */
  readonly name?: string
  /** @default the description of the ensemble */
  readonly description?: string
  /** Budget of all its tasks together; the smaller limits of this one and of the ensemble's own apply. */
  readonly budget?: Budget
  /**
   * Sources of its inputs by name: a text such as `'{city}'` or `'Brest'`, an earlier task for its output, or
   * `[task, 'field']`. A value that is not text becomes JSON. @default inputs of the run with the same names
   */
  readonly inputs?: { readonly [Name in keyof Sources]: InputSource<Sources[Name]> }
  /**
   * Task of the ensemble whose output it has; it fails if conditions skip that one. Not for HIERARCHICAL, where the manager has
   * the output. @default the last one that completed
   */
  readonly output?: ChildTask<Chosen>
}

/** A definition with any output and inputs. */
export type AnyEnsembleTaskDefinition = Omit<EnsembleTaskDefinition<unknown, unknown>, 'inputs'> & {
  readonly inputs?: object
}

/** A definition whose sources of inputs, and whose output, name tasks. */
export type NamedEnsembleTask = Omit<AnyEnsembleTaskDefinition, 'inputs' | 'output'> &
  Pick<SubEnsemble, 'inputs'> & {
    /** Name of a task of the ensemble. */
    readonly output?: string
  }

/** Returns the definition of a task with a handler that runs the ensemble. */
export function toHandlerDefinition(
  { ensemble, ...rest }: Omit<AnyEnsembleTaskDefinition, 'inputs' | 'output'>,
  subEnsemble: SubEnsemble,
): TaskDefinition {
  const about = ensemble.description.trim()
  const references = Object.values(subEnsemble.inputs).filter(
    (source) => typeof source === 'object',
  )
  return {
    expectedOutput: 'The output of its ensemble.',
    ...rest,
    name: rest.name ?? ensemble.name,
    description:
      rest.description ??
      escapeTemplate(about === '' ? `Run the ensemble "${ensemble.name}"` : about),
    context: [...(rest.context ?? []), ...references.map(({ task }) => task)],
    ...(rest.budget === undefined && ensemble.budget === undefined
      ? {}
      : { budget: mergeBudgets(rest.budget ?? {}, ensemble.budget ?? {}) }),
    handler: createHandler(subEnsemble),
  }
}

/** Returns a copy of a task that runs an ensemble, with another version of that ensemble and the output of the same task. */
export function changeSubEnsemble(task: Task, definition: ResolvedEnsemble): Task {
  const subEnsemble = findSubEnsemble(task)
  if (subEnsemble === undefined) return task
  const changed = selectOutput(definition, subEnsemble.definition.plan)
  // NOTE: the output is checked by its schema at run time.
  const handler = createHandler({ ...subEnsemble, definition: changed }) as Handler<never>
  return { ...task, handler }
}

/** Returns the sources of inputs with references to tasks by name. */
export function toMappedInputs(sources: object): Readonly<Record<string, MappedInput>> {
  return Object.fromEntries(
    Object.entries<AnyInputSource>({ ...sources }).map(([name, source]) => [
      name,
      toMappedInput(source),
    ]),
  )
}

function toMappedInput(source: AnyInputSource): MappedInput {
  if (typeof source === 'string') return source
  if (!isFieldSource(source)) return { task: source.name }
  const [{ name: task }, field] = source
  return { task, field }
}

/** Whether the source is a field of an output. */
export function isFieldSource(
  source: Exclude<AnyInputSource, string>,
): source is readonly [ChildTask<unknown>, string] {
  return Array.isArray(source)
}

/** Returns a template that renders as `text`. */
function escapeTemplate(text: string): string {
  return text.replaceAll(TEMPLATE_VARIABLE, (whole: string) => `{${whole}}`)
}

/** Returns a handler that adds the tasks of the ensemble as they become ready. */
function createHandler(subEnsemble: SubEnsemble): (context: HandlerContext) => Promise<unknown> {
  const { definition } = subEnsemble
  const handler = (context: HandlerContext): Promise<unknown> => {
    const inputs = readInputs(subEnsemble, context)
    return new Promise((resolve, reject) => {
      new PlanRun(definition, {
        inputs: { ...context.inputs, ...inputs },
        add: (task, mayBegin) => {
          const options: PlannedChildOptions = { inputs, mayBegin }
          return context.task(task, options)
        },
        choose: (name, choose) => context.step(name, choose),
        resolve,
        reject,
      }).advance()
    })
  }
  markSubEnsemble(handler, subEnsemble)
  return handler
}

/** Options of a task that a sub-ensemble or a loop adds. */
export interface PlannedChildOptions extends ChildOptions {
  /** Whether it may still begin when it has a slot. @default it may */
  readonly mayBegin?: () => boolean
  /** Whether a cancel in mode `boundary` keeps it from beginning: it is a round of a loop. @default false */
  readonly isRound?: boolean
}

/** Functions that add the tasks of a plan and receive its end, and the inputs of its conditions. */
interface PlanEffects {
  readonly inputs: Inputs
  readonly add: (task: Task, mayBegin: () => boolean) => Promise<unknown>
  /** Records the result of a choice. */
  readonly choose: (name: string, choose: () => string | null) => Promise<string | null>
  readonly resolve: (output: unknown) => void
  readonly reject: (failure: unknown) => void
}

/** Errors that end the whole run. */
const ENDS_RUN: ReadonlySet<string> = new Set(['EXIT_EARLY', 'REPLAY_MISMATCH'])

/**
 * Runs the tasks of a plan. Ends, with the output of the plan or the first failure, when all that began have ended.
 */
class PlanRun {
  readonly #definition: ResolvedEnsemble
  readonly #schedule: Schedule
  readonly #tasks: ReadonlyMap<string, Task>
  readonly #failsFast: boolean
  readonly #effects: PlanEffects
  readonly #failures: unknown[] = []
  /** Outputs of the completed tasks. */
  readonly #outputs = new Map<string, unknown>()
  #running = 0
  #isStopped = false

  constructor(definition: ResolvedEnsemble, effects: PlanEffects) {
    this.#definition = definition
    // Which tasks are added follows from the ends of others alone, also when some wait for people: slots limit their starts.
    this.#schedule = new Schedule(definition.plan, { ...definition, maxConcurrentTasks: Infinity })
    this.#failsFast = definition.errorStrategy === 'FAIL_FAST'
    this.#tasks = new Map(listAllTasks(definition).map((task) => [task.name, task]))
    this.#effects = effects
  }

  /**
   * Adds the tasks that are ready. When the handler runs again, tasks end in the recorded order, and so are added in it. After a
   * stop, a task that is not recorded fails at once.
   */
  advance(): void {
    while (!this.#isStopped) {
      for (const choice of this.#schedule.takeChoices()) this.#choose(choice)
      const excluded = this.#schedule.takeExcluded()
      if (excluded !== undefined) {
        this.#exclude(excluded.name)
        continue
      }
      const { start, skip } = this.#schedule.next()
      for (const name of skip.keys()) this.#schedule.set(name, 'skipped')
      for (const name of start) this.#begin(name)
      if (!this.#schedule.hasChoices) break
    }
    if (this.#running === 0) this.#end()
  }

  #end(): void {
    const { plan, name } = this.#definition
    const last = plan.lastTasks.findLast((taskName) => this.#outputs.has(taskName))
    if (this.#failures.length > 0) this.#effects.reject(this.#failures[0])
    else if (last !== undefined) this.#effects.resolve(this.#outputs.get(last))
    else {
      const message =
        this.#outputs.size === 0
          ? `No task of ensemble "${name}" ran: their conditions skip all of them`
          : `Ensemble "${name}" has no output: conditions skip its task "${plan.outputTask}"`
      this.#effects.reject(new TuttiError('CONSTRAINT_VIOLATION', message))
    }
  }

  /** Makes a choice and skips the tasks that it does not let run. */
  #choose(choice: Choice): void {
    const { names, switchName } = choice
    const isOpen = names.some((name) => !this.#schedule.isExcluded(name))
    if (!isOpen) return
    this.#running += 1
    const label = switchName === undefined ? `when ${names.join()}` : `switch ${switchName}`
    this.#effects
      .choose(label, () => this.#findChosen(choice))
      .then(
        (chosen) => {
          this.#running -= 1
          this.#settleChoice(choice, chosen)
          this.advance()
        },
        (error: unknown) => {
          this.#running -= 1
          for (const name of names) if (!this.#schedule.isExcluded(name)) this.#fail(name, error)
          this.advance()
        },
      )
  }

  #findChosen(choice: Choice): string | null {
    const chosen = chooseTask(choice, (name) => this.#tasks.get(name), {
      inputs: this.#effects.inputs,
      outputOf: (name) => this.#outputs.get(name),
    })
    if (typeof chosen === 'object') throw chosen.error
    return chosen ?? null
  }

  #settleChoice(choice: Choice, chosen: string | null): void {
    const { names, switchName } = choice
    if (chosen === null && switchName !== undefined) {
      for (const name of this.#schedule.listDependents(names)) {
        this.#fail(name, unmatchedError(name, choice))
      }
    }
    if (chosen !== null) this.#schedule.choose(chosen)
    for (const name of names) if (name !== chosen) this.#exclude(name)
  }

  #exclude(name: string): void {
    this.#schedule.exclude(name)
    this.#schedule.set(name, 'skipped')
  }

  /** Whether a task that waits for a slot may begin. */
  readonly #mayBegin = (): boolean =>
    !this.#isStopped && !(this.#failsFast && this.#failures.length > 0)

  #begin(name: string): void {
    const task = this.#tasks.get(name)
    if (task === undefined) return
    this.#running += 1
    this.#schedule.set(name, 'running')
    const context = task.context.filter((wanted) => this.#outputs.has(wanted))
    this.#effects.add({ ...task, context }, this.#mayBegin).then(
      (output) => {
        this.#running -= 1
        this.#outputs.set(name, output)
        this.#schedule.set(name, 'completed')
        this.advance()
      },
      (error: unknown) => {
        this.#running -= 1
        this.#isStopped ||= TuttiError.isInstance(error) && ENDS_RUN.has(error.code)
        this.#fail(name, error)
        this.advance()
      },
    )
  }

  #fail(name: string, error: unknown): void {
    this.#failures.push(error)
    this.#schedule.set(name, 'failed')
  }
}

/** Returns the values of the mapped inputs. */
function readInputs(
  { definition, inputs: sources }: SubEnsemble,
  { inputs, context }: Pick<HandlerContext, 'inputs' | 'context'>,
): Inputs {
  const variables = inputVariables(definition.tasks)
  const values = new Map<string, string>()
  for (const [name, source] of Object.entries(sources)) {
    if (typeof source === 'string') {
      values.set(name, renderTemplate(source, inputs))
      continue
    }
    const text = context.find(({ taskName }) => taskName === source.task)?.output
    if (text === undefined) {
      throw new TuttiError(
        'CONSTRAINT_VIOLATION',
        `Input "${name}" is the output of task "${source.task}", which is not completed`,
      )
    }
    const value =
      source.field === undefined ? readJsonText(text) : readFieldOf(text, source, source.field)
    const read = Object.entries(toValueInputs(name, value, variables))
    for (const [variable, one] of read) values.set(variable, one)
    if (source.field === undefined) values.set(name, text)
  }
  return Object.fromEntries(values)
}

function readFieldOf(text: string, { task }: OutputReference, field: string): unknown {
  const found = readPath(readJsonText(text), [field])
  if (found !== undefined) return found
  throw new TuttiError(
    'CONSTRAINT_VIOLATION',
    `The output of task "${task}" has no field "${field}", which an input of a sub-ensemble needs`,
  )
}
