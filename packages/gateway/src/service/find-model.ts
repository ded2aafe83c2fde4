/**
 * Pure: models as clients of other APIs name them.
 *
 * GW-Z1 The name of a shared ensemble is a model; its inputs are read from the newest message. Any other name is the
 *    alias of a shared model of the catalog, which then answers alone, in a run of one task.
 * GW-Z2 An ensemble takes precedence over an alias of the same name.
 * GW-Z3 A run of an alias has the limits of the first shared ensemble, as tasks of a request have.
 * GW-Z4 The text of a message never becomes a template.
 */
import { TuttiError } from '@tutti/core'
import type { Ensemble } from '@tutti/ensemble'
import { inputVariables, listWorkingTasks } from '@tutti/ensemble/internal'
import {
  unknownName,
  type ClientToolBody,
  type HistoryMessage,
  type TaskDefinitionBody,
} from '@tutti/protocol/internal'

import { badRequest } from '../http/api-error.ts'
import { parseInputs } from './inputs-in-text.ts'
import { sharedEnsembles, sharedModels } from './sharing.ts'

import type { Sharing } from '../gateway-options.ts'
import type { BeginRequest } from './gateway-service.ts'

/** An ensemble, or a model of the catalog with the ensemble whose limits apply to it. */
export type FoundModel =
  | { readonly kind: 'ensemble'; readonly ensemble: Ensemble }
  | { readonly kind: 'alias'; readonly alias: string; readonly template: Ensemble }

/** A model as lists show it. */
export interface ListedModel {
  readonly name: string
  /** `tutti` for an ensemble, otherwise the provider. */
  readonly owner: string
}

/** Returns the models that clients may name, ensembles first. */
export function listSharedModels(sharing: Sharing): readonly ListedModel[] {
  const ensembles = sharedEnsembles(sharing).map(({ name }) => ({ name, owner: 'tutti' }))
  if (ensembles.length === 0) return []
  const aliases = [...sharedModels(sharing)].map(([name, { provider }]) => ({
    name,
    owner: provider,
  }))
  const names = new Set(ensembles.map(({ name }) => name))
  return [...ensembles, ...aliases.filter(({ name }) => !names.has(name))]
}

/**
 * Finds a model by its name.
 *
 * @throws {TuttiError} INVALID_MODEL, suggesting a similar name.
 */
export function findSharedModel(sharing: Sharing, name: string): FoundModel {
  const ensembles = sharedEnsembles(sharing)
  const ensemble = ensembles.find((one) => one.name === name)
  if (ensemble !== undefined) return { kind: 'ensemble', ensemble }
  const [template] = ensembles
  if (template !== undefined && sharedModels(sharing).has(name)) {
    return { kind: 'alias', alias: name, template }
  }
  const known = listSharedModels(sharing).map((model) => model.name)
  throw new TuttiError('INVALID_MODEL', unknownName('model', name, known))
}

/** A conversation, and what the client asks of the answer. */
export interface AskedModel {
  /** Newest message of the user. */
  readonly text: string
  /** The other messages, oldest first. @default none */
  readonly history?: readonly HistoryMessage[]
  /** Tools that the client executes. @default none */
  readonly clientTools?: readonly ClientToolBody[]
  /** System message. Agents of an ensemble get it in addition to their own. @default none */
  readonly instructions?: string | undefined
  /** JSON Schema of the answer. */
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined
  /** Maximum number of output tokens of an answer. @default the setting of the model */
  readonly maxOutputTokens?: number | undefined
}

/** Name of the input that contains the message to an alias. */
const MESSAGE = 'message'

/** Fields of a run that answers a conversation. */
export type ModelRun = Pick<
  BeginRequest,
  'ensemble' | 'inputs' | 'tasks' | 'taskOverrides' | 'history' | 'clientTools'
>

/**
 * Returns the run that answers a conversation.
 *
 * @throws {TuttiError} BAD_REQUEST naming the needed inputs, or for a setting that only a model has.
 */
export function toModelRun(found: FoundModel, asked: AskedModel): ModelRun {
  const run = found.kind === 'alias' ? askAlias(found, asked) : askEnsemble(found.ensemble, asked)
  return { ...run, clientTools: asked.clientTools ?? [] }
}

function askAlias(
  { alias, template }: FoundModel & { readonly kind: 'alias' },
  { text, history = [], instructions = '', outputSchema, maxOutputTokens }: AskedModel,
): ModelRun {
  const task: TaskDefinitionBody = {
    name: 'answer',
    description: `{${MESSAGE}}`,
    instructions,
    model: alias,
    ...(outputSchema === undefined ? {} : { outputSchema: { ...outputSchema } }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
  }
  return { ensemble: template, inputs: { [MESSAGE]: text }, tasks: [task], history }
}

function askEnsemble(
  ensemble: Ensemble,
  { text, history = [], instructions = '', outputSchema, maxOutputTokens }: AskedModel,
): ModelRun {
  const settings = { 'output schema': outputSchema, 'output token limit': maxOutputTokens }
  const problems = Object.entries(settings)
    .filter(([, value]) => value !== undefined)
    .map(([setting]) => ({
      path: '/model',
      message: `must be a model for a request with an ${setting}: "${ensemble.name}" is an ensemble`,
    }))
  if (problems.length > 0) throw badRequest('request', problems)
  const agents = ensemble.tasks.filter((task) => listWorkingTasks(task)[0]?.handler === undefined)
  const overrides = agents.map(({ name }) => [name, { additionalContext: instructions }])
  const more =
    instructions.trim() === '' || overrides.length === 0
      ? {}
      : { taskOverrides: Object.fromEntries(overrides) }
  if (inputVariables(ensemble.tasks).length > 0) {
    return { ensemble, inputs: parseInputs(ensemble, text), history, ...more }
  }
  // Without variables, the agents get the text as a message of the conversation.
  const asked = text.trim() === '' ? [] : [{ role: 'user', content: text } as const]
  return { ensemble, inputs: {}, history: [...history, ...asked], ...more }
}
