/** What this server can do: its tools, models, ensembles and shared capabilities. */
import Type from 'typebox'
import { Workflow } from '../enums.ts'
import { JsonObject } from '../scalars.ts'

const described = { name: Type.String(), description: Type.String() }

/** A tool of the catalog. Control API seed §4.3; its input schema is ours. */
export const ToolInfo = Type.Object({
  ...described,
  /** JSON Schema of the tool's input. */
  inputSchema: Type.Optional(JsonObject),
})
export type ToolInfo = Type.Static<typeof ToolInfo>

/** A model of the catalog. Control API seed §4.3. */
export const ModelInfo = Type.Object({ alias: Type.String(), provider: Type.String() })
export type ModelInfo = Type.Static<typeof ModelInfo>

/** A tier of models that a run can be switched to, besides PRIMARY and FALLBACK. Ours. */
export const ModelTierInfo = Type.Object({
  name: Type.String(),
  /** Alias of its model. */
  model: Type.String(),
})
export type ModelTierInfo = Type.Static<typeof ModelTierInfo>

/** A profile that can be applied. Ours. */
export const ProfileInfo = Type.Object({
  name: Type.String(),
  /** The tier that it switches runs to; absent for one that changes only the server. */
  modelTier: Type.Optional(Type.String()),
})
export type ProfileInfo = Type.Static<typeof ProfileInfo>

/** A task or tool that peers may ask for. Control API seed §4.3. */
export const SharedInfo = Type.Object({
  ...described,
  /** Tags by which a `capability_query` finds it. Ours. */
  tags: Type.Optional(Type.Array(Type.String())),
})
export type SharedInfo = Type.Static<typeof SharedInfo>

/** A task as the server's code defines it. Control API seed §4.3. */
export const PreconfiguredTask = Type.Object({
  ...described,
  tools: Type.Array(Type.String()),
  /** Names of the template variables in its description and expected output. */
  variables: Type.Array(Type.String()),
})
export type PreconfiguredTask = Type.Static<typeof PreconfiguredTask>

/** An ensemble that a run can choose. Ours. */
export const EnsembleInfo = Type.Object({
  ...described,
  workflow: Workflow,
  /** Names of the template variables of all its tasks: the inputs that a run needs. */
  variables: Type.Array(Type.String()),
  tasks: Type.Array(PreconfiguredTask),
})
export type EnsembleInfo = Type.Static<typeof EnsembleInfo>

/** Answer to `GET /api/capabilities`. Control API seed §4.3; `ensembles` is ours. */
export const Capabilities = Type.Object({
  tools: Type.Array(ToolInfo),
  models: Type.Array(ModelInfo),
  /** Servers of earlier versions lack it. Ours. */
  modelTiers: Type.Optional(Type.Array(ModelTierInfo)),
  /** Servers of earlier versions lack it. Ours. */
  profiles: Type.Optional(Type.Array(ProfileInfo)),
  sharedTasks: Type.Array(SharedInfo),
  sharedTools: Type.Array(SharedInfo),
  /** Tasks of the default ensemble. */
  preconfiguredTasks: Type.Array(PreconfiguredTask),
  /** Every ensemble, the default one first. */
  ensembles: Type.Array(EnsembleInfo),
})
export type Capabilities = Type.Static<typeof Capabilities>
