/** Server → client: replies and announcements between peer ensembles. AgentEnsemble's network wire. */
import Type from 'typebox'
import { Count, DurationMs, mapOf } from '../scalars.ts'
import { SharedCapability } from '../shared-capability.ts'

const peerReply = {
  requestId: Type.String(),
  status: Type.Enum(['COMPLETED', 'FAILED', 'REJECTED']),
  result: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
  durationMs: Type.Optional(DurationMs),
}

/** A `task_request` was taken; `task_response` follows. */
export const TaskAccepted = Type.Object({
  type: Type.Literal('task_accepted'),
  requestId: Type.String(),
  /** The run that does the task, by which it can be cancelled. Ours. */
  runId: Type.Optional(Type.String()),
  queuePosition: Type.Optional(Count),
  estimatedCompletion: Type.Optional(Type.String()),
})
export type TaskAccepted = Type.Static<typeof TaskAccepted>

/** How far a requested task has come. */
export const TaskProgress = Type.Object({
  type: Type.Literal('task_progress'),
  requestId: Type.String(),
  status: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
  percentComplete: Type.Optional(Type.Number({ minimum: 0, maximum: 100 })),
})
export type TaskProgress = Type.Static<typeof TaskProgress>

/** The end of a requested task. */
export const TaskResponse = Type.Object({ type: Type.Literal('task_response'), ...peerReply })
export type TaskResponse = Type.Static<typeof TaskResponse>

/** The end of a requested tool call. */
export const ToolResponse = Type.Object({ type: Type.Literal('tool_response'), ...peerReply })
export type ToolResponse = Type.Static<typeof ToolResponse>

/** Reply to `capability_query`. */
export const CapabilityResponse = Type.Object({
  type: Type.Literal('capability_response'),
  requestId: Type.String(),
  ensemble: Type.String(),
  capabilities: Type.Array(SharedCapability),
})
export type CapabilityResponse = Type.Static<typeof CapabilityResponse>

/**
 * Load of an ensemble: sent to connections that subscribed to it by name, at once and on every change. Our
 * server sends one for all its ensembles, with the name of the default one, and a status of AVAILABLE, BUSY,
 * DRAINING or STORE_UNAVAILABLE.
 */
export const CapacityUpdate = Type.Object({
  type: Type.Literal('capacity_update'),
  ensemble: Type.String(),
  realm: Type.String(),
  status: Type.String(),
  /** Share of the capacity in use, 0 to 1. */
  currentLoad: Type.Number({ minimum: 0 }),
  maxConcurrent: Count,
  shareable: Type.Boolean(),
})
export type CapacityUpdate = Type.Static<typeof CapacityUpdate>

/** A profile was applied; sent to connections that subscribed to it by name. */
export const ProfileApplied = Type.Object({
  type: Type.Literal('profile_applied'),
  profileName: Type.String(),
  /** Ensemble name → its capacity. */
  capacities: mapOf(
    Type.Object({ replicas: Count, maxConcurrent: Count, dormant: Type.Boolean() }),
  ),
  appliedAt: Type.String(),
  /** The run that it was applied to. Ours. */
  runId: Type.Optional(Type.String()),
})
export type ProfileApplied = Type.Static<typeof ProfileApplied>
