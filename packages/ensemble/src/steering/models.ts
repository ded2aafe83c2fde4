/** Which model answers the next call of a task: the last switch that concerns it, else its own. */
import { TuttiError } from '@tutti/core'

import type { ChatModel } from '../model/chat-model.ts'
import type { BuiltInTier, ModelCatalog } from '../model/model-catalog.ts'

/** A model under the name by which it was asked for. */
export interface NamedModel {
  /** Its alias in the catalog, or `provider:name`. */
  readonly label: string
  readonly model: ChatModel
}

/** One switch. Each is an object of its own, so that readers notice a switch to what they have already. */
export interface MadeSwitch {
  /** A model, or a tier in which each task has a model of its own. */
  readonly to: NamedModel | BuiltInTier
}

/** The name of a model that has no alias. */
export function modelLabel({ provider, name }: Pick<ChatModel, 'provider' | 'name'>): string {
  return `${provider}:${name}`
}

/** The switches of one run. */
export class ModelSwitches {
  readonly #catalog: ModelCatalog | undefined
  #runWide: MadeSwitch | undefined
  readonly #byTask = new Map<string, MadeSwitch>()

  constructor(catalog: ModelCatalog | undefined) {
    this.#catalog = catalog
  }

  /** The models that switches name; undefined in a run without a catalog. */
  get catalog(): ModelCatalog | undefined {
    return this.#catalog
  }

  /**
   * The model of an alias, or a model itself.
   *
   * @throws {TuttiError} INVALID_MODEL when the catalog of the run does not have the alias.
   */
  resolve(model: string | ChatModel): NamedModel {
    if (typeof model !== 'string') return this.named(model)
    if (this.#catalog === undefined) {
      throw new TuttiError(
        'INVALID_MODEL',
        `Unknown model '${model}': the run has no catalog of models`,
      )
    }
    return { label: model, model: this.#catalog.resolve(model) }
  }

  /** A model under its first alias in the catalog, else as `provider:name`. */
  named(model: ChatModel): NamedModel {
    for (const [alias, known] of this.#catalog?.models ?? []) {
      if (known === model) return { label: alias, model }
    }
    return { label: modelLabel(model), model }
  }

  /** Switches one task, or the run: then what single tasks were switched to before no longer counts. */
  switch(to: MadeSwitch['to'], taskName?: string): void {
    if (taskName === undefined) {
      this.#runWide = { to }
      this.#byTask.clear()
    } else {
      this.#byTask.set(taskName, { to })
    }
  }

  /** The switch that counts for a task, or for the whole run; undefined when there was none. */
  of(taskName: string | undefined): MadeSwitch | undefined {
    return (taskName === undefined ? undefined : this.#byTask.get(taskName)) ?? this.#runWide
  }
}
