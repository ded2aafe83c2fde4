/** The allow-list of models that requests may name by alias. */
import { TuttiError } from '@tutti/core'

import type { ChatModel } from './chat-model.ts'

/** Models by alias. */
export interface ModelCatalog {
  readonly models: ReadonlyMap<string, ChatModel>
  /** The model of that alias, or undefined. */
  find(alias: string): ChatModel | undefined
  /**
   * The model of that alias.
   *
   * @throws {TuttiError} INVALID_MODEL, listing the known aliases, when there is none.
   */
  resolve(alias: string): ChatModel
}

/** Makes a catalog of models from a record of alias to model. */
export function modelCatalog(models: Readonly<Record<string, ChatModel>>): ModelCatalog {
  const byAlias = new Map(Object.entries(models))
  return {
    models: byAlias,
    find: (alias) => byAlias.get(alias),
    resolve(alias) {
      const model = byAlias.get(alias)
      if (model !== undefined) return model
      const known = [...byAlias.keys()].join(', ')
      throw new TuttiError('INVALID_MODEL', `Unknown model '${alias}'. Available: [${known}]`)
    },
  }
}
