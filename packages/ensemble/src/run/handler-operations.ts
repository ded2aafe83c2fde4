/** The operations of a handler; see `HandlerOperations`. */
import { askQuestion } from './handler-question.ts'
import { performStep } from './handler-step.ts'
import { HandlerTasks } from './handler-tasks.ts'
import { callToolOperation } from './handler-tool.ts'
import { sleepUntil, waitForEvents } from './handler-wait.ts'
import { findEnsembleTool } from '../definition/sub-ensemble.ts'
import { reduceItems } from './reduce-items.ts'
import { Compensations } from './compensations.ts'
import { OperationFrame, type FrameSettings } from './operation-frame.ts'

import type {
  CallTool,
  HandlerOperations,
  MapItems,
  MapOptions,
  MapTemplate,
  QuestionOptions,
} from '../definition/operations.ts'
import type { EventsToAwait, WaitFor, WaitForOptions, WaitOutcome } from '../definition/wait.ts'
import type { TaskScope } from '../scope/task-scope.ts'
import type { AgentTool } from '@tutti/core'
import type { Answer, ToolSchema } from '@tutti/core/internal'

/** The operations of one attempt at a task with a handler, as functions that can be destructured. */
export class Operations implements HandlerOperations {
  readonly frame: OperationFrame
  readonly compensations: Compensations
  readonly #tasks: HandlerTasks

  constructor(scope: TaskScope, settings: FrameSettings) {
    this.frame = new OperationFrame(scope, settings)
    this.compensations = new Compensations(this.frame)
    this.#tasks = new HandlerTasks(this.frame)
  }

  readonly task: HandlerOperations['task'] = (child, options) =>
    this.frame.track(() => this.#tasks.run(child, options))

  readonly map: MapItems = <Item, Output>(
    items: readonly Item[],
    template: MapTemplate<Item, Output>,
    options?: MapOptions<Item>,
  ) =>
    // NOTE: the overloads of MapItems select the type of the list by `onError`.
    this.frame.track(() => this.#tasks.map(items, template, options)) as Promise<never>

  readonly reduce: HandlerOperations['reduce'] = (items, template, options) =>
    this.frame.track(() => reduceItems(this.map, items, { template, options }))

  readonly call: CallTool = (tool: AgentTool, input: unknown) =>
    // NOTE: the overloads of CallTool give a tool's result the type that its author declared.
    this.frame.track(() => {
      const added = findEnsembleTool(tool)?.task
      return added === undefined
        ? callToolOperation(this.frame, tool, input)
        : this.#tasks.call(tool, added, input)
    }) as Promise<never>

  readonly step: HandlerOperations['step'] = (name, work, options) =>
    this.frame.track(() => performStep(this.frame, name, { work, ...options }))

  readonly compensate: HandlerOperations['compensate'] = (name, work, options) => {
    this.compensations.add(name, { work, ...options })
  }

  readonly ask: HandlerOperations['ask'] = <Schema extends ToolSchema>(
    question: string,
    options: QuestionOptions<Schema> = {},
  ) =>
    // NOTE: the answer is read by the schema, so it has its type.
    this.frame.track(() => askQuestion(this.frame, question, options)) as Promise<Answer<never>>

  readonly waitFor: WaitFor = <Schema extends ToolSchema>(
    event: EventsToAwait,
    options: WaitForOptions<Schema> = {},
  ) =>
    // NOTE: the data is read by the schema, so it has its type.
    this.frame.track(() => waitForEvents(this.frame, event, options)) as Promise<WaitOutcome<never>>

  readonly sleep: HandlerOperations['sleep'] = (duration) =>
    this.frame.track(() => sleepUntil(this.frame, duration))
}
