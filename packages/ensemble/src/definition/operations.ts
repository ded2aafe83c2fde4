/**
 * Operations of a handler: side effects whose results are recorded, so that a handler which runs again after a crash
 * gets them back.
 */
import type { Inputs } from './template.ts'
import type { StepOptions } from './step-options.ts'
import type { WaitFor } from './wait.ts'
import type { OutputReader } from '../output/structured-output.ts'
import type { AgentTool, TuttiError, Type, TypedTool } from '@tutti/core'
import type { Answer, AnswerOptions, ToolSchema, ValueOf } from '@tutti/core/internal'

/** A task that a handler adds to its run; made by `task()`. */
export interface ChildTask<Output> {
  readonly name: string
  readonly description: string
  readonly expectedOutput: string
  readonly context: readonly string[]
  readonly outputReader?: OutputReader<Output>
}

/** Options of a task that a handler adds. */
export interface ChildOptions {
  /** Values of template variables, in addition to the inputs of the parent, which they replace. */
  readonly inputs?: Inputs
  /** Name below that of the parent, unique among the tasks that it adds. @default the name of the task */
  readonly key?: string
}

/** Settings of a map over items, apart from its items. */
export interface MapSettings {
  /** Maximum number of items, at least 1; more are refused before anything begins. @default 100 */
  readonly maxItems?: number
  /**
   * Maximum number of tasks at the same time, at least 1. Tasks that only wait for people do not count.
   * @default `maxConcurrentTasks` of the ensemble
   */
  readonly maxParallel?: number
  /** Maximum number of failed tasks with `continue` and `collect`, at least 0. @default no limit */
  readonly maxFailures?: number
  /** Ends the map as soon as this number of tasks is completed; the others are cancelled. @default all must end */
  readonly until?: { readonly succeeded: number }
  /**
   * Reaction to a failed task: `fail` cancels the others and throws its error, `continue` leaves it out, `collect` returns its
   * error instead of an output. @default fail
   */
  readonly onError?: 'fail' | 'continue' | 'collect'
  /** Form of the result: `outputs` is an object with what `list` has, by key, in which integer keys come first. @default list */
  readonly collect?: 'list' | 'outputs'
}

/** Options of a map over items. */
export interface MapOptions<Item> extends MapSettings {
  /** Name of the template variable for the item; fields of an item have names such as `item.title`. @default item */
  readonly as?: string
  /**
   * Returns the key of an item, 1 to 200 characters, unique among the tasks of the handler; or the path of the field that has it,
   * such as `author.id`: a text or a number. @default the name of the task, `-`, and the index
   */
  readonly key?: string | ((item: Item, index: number) => string)
}

/** Outcome of the task of one item. */
export type MapOutcome<Output> = { readonly key: string; readonly taskName: string } & (
  | { readonly ok: true; readonly output: Output }
  | { readonly ok: false; readonly error: TuttiError }
)

/** The task of all items, or a function that returns the task of one. */
export type MapTemplate<Item, Output> =
  | ChildTask<Output>
  | ((item: Item, index: number) => ChildTask<Output>)

/** Adds a task for each item; see {@link HandlerOperations.map}. */
export interface MapItems {
  <Item, Output>(
    items: readonly Item[],
    template: MapTemplate<Item, Output>,
    options: MapOptions<Item> & { readonly onError: 'collect'; readonly collect?: 'list' },
  ): Promise<readonly MapOutcome<Output>[]>
  <Item, Output>(
    items: readonly Item[],
    template: MapTemplate<Item, Output>,
    options: MapOptions<Item> & { readonly onError: 'collect'; readonly collect: 'outputs' },
  ): Promise<Readonly<Record<string, MapOutcome<Output>>>>
  <Item, Output>(
    items: readonly Item[],
    template: MapTemplate<Item, Output>,
    options: MapOptions<Item> & {
      readonly onError?: 'fail' | 'continue'
      readonly collect: 'outputs'
    },
  ): Promise<Readonly<Record<string, Output>>>
  <Item, Output>(
    items: readonly Item[],
    template: MapTemplate<Item, Output>,
    options?: MapOptions<Item> & {
      readonly onError?: 'fail' | 'continue'
      readonly collect?: 'list'
    },
  ): Promise<readonly Output[]>
}

/** Options of a reduction of many texts to one. */
export interface ReduceOptions {
  /** Maximum size of the texts that one task gets, in tokens of 4 characters, at least 1; a longer text is alone. */
  readonly maxTokens: number
  /** Name of the template variable for the texts. @default items */
  readonly as?: string
  /** Start of each key, before the level and the index. @default the name of the task */
  readonly key?: string
}

/** Context of a step of a handler. */
export interface StepContext {
  /** Aborts when the step must stop. */
  readonly signal: AbortSignal
  /** Key that is the same for every try at this step, so that a repeated call has its side effects only once. */
  readonly idempotencyKey: string
  /** Number of tries so far, with this one. An interrupted try does not count. */
  readonly tries: number
}

/** Schema, time limit and reviewers of a question. */
export type QuestionOptions<Schema extends ToolSchema> = Omit<
  AnswerOptions<Schema>,
  'clientTool' | 'signal'
>

/** Calls a tool; see {@link HandlerOperations.call}. */
export interface CallTool {
  <Output, Source>(tool: TypedTool<unknown, Output, Source>, input: Source): Promise<Output>
  (tool: AgentTool & { readonly '~standard'?: never }, input: unknown): Promise<unknown>
}

/**
 * Operations with recorded results. Between them a handler must do the same each time it runs: only then does it ask for the
 * same operations in the same order. One that asks for others fails with REPLAY_MISMATCH. Operations that are in flight when
 * the handler ends are cancelled.
 */
export interface HandlerOperations {
  /**
   * Adds a task to the run and returns its output. The task has its own events, retries, reviews and budget; its name is
   * that of the parent, `/`, and the key. At most `maxConcurrentTasks` of the ensemble run at the same time for one parent.
   *
   * @throws {TuttiError} the failure of the task; CONFIG_INVALID if the task cannot run, its name is taken, an option is
   * unknown, or the task cannot read an input of `inputs`.
   */
  readonly task: <Output>(task: ChildTask<Output>, options?: ChildOptions) => Promise<Output>
  /**
   * Adds a task for each item, and returns their outputs in the order of the items, or by key. The tasks are one operation:
   * nothing begins before all of them are valid and the budgets have room for one call of each.
   *
   * @throws {TuttiError} CONSTRAINT_VIOLATION for more than `maxItems` items, an item without a key or invalid options;
   * CONFIG_INVALID; BUDGET_EXCEEDED; the failure of a task with `onError: 'fail'`, else TASK_FAILED when too many fail.
   */
  readonly map: MapItems
  /**
   * Reduces outputs to one in levels of tasks. A task gets as many outputs as fit into `maxTokens`. Values that are not texts are
   * JSON for the tasks.
   *
   * @throws {TuttiError} the errors of {@link map}; CONSTRAINT_VIOLATION without items, after a level whose outputs are neither
   * fewer nor shorter, or after ten levels.
   */
  readonly reduce: <Output>(
    items: readonly unknown[],
    template: ChildTask<Output>,
    options: ReduceOptions,
  ) => Promise<Output>
  /**
   * Calls a tool and returns its value, or its text if it declares none. Approval, budgets and events are those of a call
   * by an agent.
   *
   * @throws {TuttiError} TOOL_FAILED with the reason of a failed call; INTERRUPTED for an interrupted call of a tool that is
   * not idempotent.
   */
  readonly call: CallTool
  /**
   * Performs a side effect and records its result, which must be JSON, or its failure. A failed try is retried up to `retries`
   * times, also after a restart; an interrupted one is repeated. All tries have the same idempotency key. `work` cannot use
   * operations, because it does not run again once its result is recorded.
   *
   * @throws {TuttiError} TASK_FAILED with what `work` threw, or if the result is not JSON; TASK_TIMEOUT after `timeoutMs`;
   * CONFIG_INVALID within a step or for invalid options.
   */
  readonly step: <Value>(
    name: string,
    work: (context: StepContext) => Value | Promise<Value>,
    options?: StepOptions,
  ) => Promise<Value>
  /**
   * Adds a compensation: work that undoes what the handler has done. If the handler fails or is stopped, by a cancel, a time
   * limit or a budget, its compensations run in reverse order before the task ends, each as a step. A compensation has 2 retries
   * and 60,000 ms for each try by default. After a failed one the others run, and the task fails with COMPENSATION_FAILED. Up to
   * 1,000 per attempt.
   *
   * @throws {TuttiError} CONFIG_INVALID within a step, for invalid options or for too many compensations.
   */
  readonly compensate: (
    name: string,
    work: (context: StepContext) => unknown,
    options?: StepOptions,
  ) => void
  /**
   * Asks the reviewers of the run a question and waits; a run that only waits occupies no worker. The answer matches
   * `schema`, or is marked as missing when a reviewer continues without one or the time passes with `onTimeout: 'CONTINUE'`.
   *
   * @throws {TuttiError} REVIEW_REJECTED, REVIEW_TIMEOUT or EXIT_EARLY; CONFIG_INVALID without a reviewer.
   */
  readonly ask: <Schema extends ToolSchema = Type.TString>(
    question: string,
    options?: QuestionOptions<Schema>,
  ) => Promise<Answer<ValueOf<Schema>>>
  /**
   * Waits for an external event, by its name and key, for at most the time limit; a run that only waits occupies no worker.
   * With `{ any: [...] }`, the first of several events counts. An event is delivered to one wait, also one that came before it.
   *
   * @throws {TuttiError} CONFIG_INVALID, naming every problem, or if nothing can deliver events to the run; REVIEW_REJECTED or
   * EXIT_EARLY by a person, if `review` lets people answer.
   */
  readonly waitFor: WaitFor
  /**
   * Waits for a duration in milliseconds, or until a time. A run that only sleeps occupies no worker, and a resumed one
   * sleeps for the time that is left.
   *
   * @throws {TuttiError} CONFIG_INVALID for an invalid time.
   */
  readonly sleep: (duration: number | { readonly until: Date | string | number }) => Promise<void>
}
