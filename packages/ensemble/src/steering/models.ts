/** The current model of each task: from the last switch for it, else its own. */
import { TuttiError } from '@tutti/core'

import type { ChatModel } from '../model/chat-model.ts'
import type { BuiltInTier, ModelCatalog } from '../model/model-catalog.ts'

/** A model and its label. */
export interface NamedModel {
  /** Alias in the catalog, or `provider:name`. */
  readonly label: string
  readonly model: ChatModel
}

/** A switch. Each is a new object, so that a switch to the same model is also noticed. */
export interface AppliedSwitch {
  /** A model, or a tier in which each task has its own model. */
  readonly to: NamedModel | BuiltInTier
}

/** Returns the label of a model without an alias. */
export function toModelLabel({ provider, name }: Pick<ChatModel, 'provider' | 'name'>): string {
  return `${provider}:${name}`
}

/** Switches of one run. */
export class ModelSwitches {
  readonly #catalog: ModelCatalog | undefined
  #runWide: AppliedSwitch | undefined
  readonly #byTask = new Map<string, AppliedSwitch>()

  constructor(catalog: ModelCatalog | undefined) {
    this.#catalog = catalog
  }

  /** Models that switches can name; undefined in a run without a catalog. */
  get catalog(): ModelCatalog | undefined {
    return this.#catalog
  }

  /**
   * Returns the model with this alias, or the passed model, with its label.
   *
   * @throws {TuttiError} INVALID_MODEL if the catalog of the run does not have the alias.
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

  /** Returns a model with its label: its first alias in the catalog, else `provider:name`. */
  named(model: ChatModel): NamedModel {
    for (const [alias, known] of this.#catalog?.models ?? []) {
      if (known === model) return { label: alias, model }
    }
    return { label: toModelLabel(model), model }
  }

  /** Switches one task, or the whole run. A switch of the run replaces earlier switches of single tasks. */
  switch(to: AppliedSwitch['to'], taskName?: string): void {
    if (taskName === undefined) {
      this.#runWide = { to }
      this.#byTask.clear()
    } else {
      this.#byTask.set(taskName, { to })
    }
  }

  /** Returns the switch that applies to a task, or to the whole run; undefined if there is none. */
  of(taskName: string | undefined): AppliedSwitch | undefined {
    return (taskName === undefined ? undefined : this.#byTask.get(taskName)) ?? this.#runWide
  }
}
