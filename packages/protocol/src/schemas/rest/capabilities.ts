/** Capabilities of the server: tools, models, ensembles and shared capabilities. */
import Type from 'typebox'
import { Workflow } from '../enums.ts'
import { JsonObject } from '../scalars.ts'

import type { Static } from '../../static.ts'

const described = { name: Type.String(), description: Type.String() }

/** Tool of the catalog. */
export const ToolInfo = Type.Object({
  ...described,
  /** JSON Schema of the tool's input. */
  inputSchema: Type.Optional(JsonObject),
})
export type ToolInfo = Static<typeof ToolInfo>

/** Model of the catalog. */
export const ModelInfo = Type.Object({
  /** Name by which requests select the model. */
  alias: Type.String(),
  /** Provider of the model. */
  provider: Type.String(),
})
export type ModelInfo = Static<typeof ModelInfo>

/** Model tier that a run can be switched to, in addition to PRIMARY and FALLBACK. */
export const ModelTierInfo = Type.Object({
  name: Type.String(),
  /** Alias of its model. */
  model: Type.String(),
})
export type ModelTierInfo = Static<typeof ModelTierInfo>

/** Profile that can be applied. */
export const ProfileInfo = Type.Object({
  name: Type.String(),
  /** Tier that the profile switches runs to; absent for a profile that changes only the server. */
  modelTier: Type.Optional(Type.String()),
})
export type ProfileInfo = Static<typeof ProfileInfo>

/** Task or tool that peers can request. */
export const SharedInfo = Type.Object({
  ...described,
  /** Tags by which a `capability_query` finds it. */
  tags: Type.Optional(Type.Array(Type.String())),
})
export type SharedInfo = Static<typeof SharedInfo>

/** Task that is defined in the server's code. */
export const PreconfiguredTask = Type.Object({
  ...described,
  /** Names of the task's tools. */
  tools: Type.Array(Type.String()),
  /** Names of the template variables in its description and expected output. */
  variables: Type.Array(Type.String()),
})
export type PreconfiguredTask = Static<typeof PreconfiguredTask>

/** Ensemble that a run can select. */
export const EnsembleInfo = Type.Object({
  ...described,
  workflow: Workflow,
  /** Names of the template variables of all its tasks: the inputs that a run needs. */
  variables: Type.Array(Type.String()),
  /**
   * Names of further inputs that a run may have. With it, a run with any other input is refused; absent if its author
   * lists none.
   */
  inputs: Type.Optional(Type.Array(Type.String())),
  /** Tasks of the ensemble. */
  tasks: Type.Array(PreconfiguredTask),
})
export type EnsembleInfo = Static<typeof EnsembleInfo>

/** Response of `GET /api/capabilities`. */
export const Capabilities = Type.Object({
  /** Tools that requests can name. */
  tools: Type.Array(ToolInfo),
  /** Models that requests can name. */
  models: Type.Array(ModelInfo),
  modelTiers: Type.Array(ModelTierInfo),
  profiles: Type.Array(ProfileInfo),
  /** Tasks that peers can request. */
  sharedTasks: Type.Array(SharedInfo),
  /** Tools that peers can request. */
  sharedTools: Type.Array(SharedInfo),
  /** Tasks of the default ensemble. */
  preconfiguredTasks: Type.Array(PreconfiguredTask),
  /** All ensembles, the default one first. */
  ensembles: Type.Array(EnsembleInfo),
})
export type Capabilities = Static<typeof Capabilities>
