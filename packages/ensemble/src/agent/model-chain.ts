/** Selects the model of a task: its own or the target of a switch, then the fallback models. */
import { TuttiError } from '@tutti/core'

import { modelOfTask } from '../definition/model-of-task.ts'

import { EventMessages } from './event-messages.ts'

import type { Prices } from '../model/prices.ts'
import type { TaskScope } from '../scope/task-scope.ts'
import type { AppliedSwitch, ModelSwitches, NamedModel } from '../steering/models.ts'

/** Parts of a run that model calls use. */
export interface RunModels {
  readonly switches: ModelSwitches
  readonly prices: Prices | undefined
  /** Called with the time that a model call waited for its rate limit, in milliseconds. */
  readonly onRateLimitWait: ((waitedMs: number) => void) | undefined
}

/** Models of one attempt. A fallback model stays in use until the next switch. */
export class ModelChain {
  readonly #scope: TaskScope
  readonly run: RunModels
  /** Messages that the model calls of the attempt have shown in events. */
  readonly shown = new EventMessages()
  #switch: AppliedSwitch | undefined
  #index = 0

  constructor(scope: TaskScope, run: RunModels) {
    this.#scope = scope
    this.run = run
  }

  /**
   * Returns the current model.
   *
   * @throws {TuttiError} CONFIG_INVALID if the task has no model.
   */
  current(): NamedModel {
    this.#followSwitch()
    const model = this.#index === 0 ? this.#first() : this.#models()[this.#index]
    if (model !== undefined) return model
    throw new TuttiError('CONFIG_INVALID', `Task "${this.#scope.task.name}" has no model`)
  }

  /**
   * Moves to the next fallback model, or to the target of a new switch. Returns undefined if there is none.
   */
  next(): NamedModel | undefined {
    if (this.#followSwitch()) return this.current()
    const models = this.#models()
    if (this.#index + 1 >= models.length) return undefined
    this.#index += 1
    return models[this.#index]
  }

  /**
   * Starts again with the first model after a switch, also after one to the same model. Returns whether there
   * was a switch.
   */
  #followSwitch(): boolean {
    const made = this.run.switches.of(this.#scope.task.name)
    if (made === this.#switch) return false
    this.#switch = made
    this.#index = made?.to === 'FALLBACK' && this.#models().length > 1 ? 1 : 0
    return true
  }

  #first(): NamedModel | undefined {
    const { task, run } = this.#scope
    const to = this.#switch?.to
    if (typeof to === 'object') return to
    const model = modelOfTask(task, run.ensemble)
    return model === undefined ? undefined : this.run.switches.named(model)
  }

  #models(): readonly (NamedModel | undefined)[] {
    const { task, run } = this.#scope
    const fallbacks = task.fallbackModels ?? run.ensemble.fallbackModels ?? []
    return [this.#first(), ...fallbacks.map((model) => this.run.switches.named(model))]
  }
}
