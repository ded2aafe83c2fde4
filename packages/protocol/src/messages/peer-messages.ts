/**
 * Messages from server to client: replies and announcements between peer ensembles.
 */
import Type from 'typebox'
import { Count, DurationMs, mapOf } from '../schemas/scalars.ts'
import { SharedCapability } from '../schemas/shared-capability.ts'

import type { Static } from '../static.ts'

const peerReply = {
  /** The request's id. */
  requestId: Type.String(),
  status: Type.Enum(['COMPLETED', 'FAILED', 'REJECTED']),
  /** Result; present with COMPLETED. */
  result: Type.Optional(Type.String()),
  /** Reason of the failure or rejection. */
  error: Type.Optional(Type.String()),
  /** Duration in milliseconds. */
  durationMs: Type.Optional(DurationMs),
}

/** A `task_request` was accepted; `task_response` follows. */
export const TaskAccepted = Type.Object({
  type: Type.Literal('task_accepted'),
  /** The request's id. */
  requestId: Type.String(),
  /** Run that executes the task; it can be cancelled by this id. */
  runId: Type.Optional(Type.String()),
  /** Position in the queue. */
  queuePosition: Type.Optional(Count),
  estimatedCompletion: Type.Optional(Type.String()),
})
export type TaskAccepted = Static<typeof TaskAccepted>

/** Progress of a requested task. */
export const TaskProgress = Type.Object({
  type: Type.Literal('task_progress'),
  /** The request's id. */
  requestId: Type.String(),
  status: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
  /** Completed part in percent. */
  percentComplete: Type.Optional(Type.Number({ minimum: 0, maximum: 100 })),
})
export type TaskProgress = Static<typeof TaskProgress>

/** End of a requested task. */
export const TaskResponse = Type.Object({ type: Type.Literal('task_response'), ...peerReply })
export type TaskResponse = Static<typeof TaskResponse>

/** End of a requested tool call. */
export const ToolResponse = Type.Object({ type: Type.Literal('tool_response'), ...peerReply })
export type ToolResponse = Static<typeof ToolResponse>

/** Reply to `capability_query`. */
export const CapabilityResponse = Type.Object({
  type: Type.Literal('capability_response'),
  /** The request's id. */
  requestId: Type.String(),
  /** Name of the ensemble that replies. */
  ensemble: Type.String(),
  /** Capabilities that match the query. */
  capabilities: Type.Array(SharedCapability),
})
export type CapabilityResponse = Static<typeof CapabilityResponse>

/**
 * Load of an ensemble, sent to connections that subscribed to it by name: at once and on every change. The server
 * sends one update for all its ensembles, with the name of the default one and a status of AVAILABLE, BUSY, DRAINING
 * or STORE_UNAVAILABLE.
 */
export const CapacityUpdate = Type.Object({
  type: Type.Literal('capacity_update'),
  ensemble: Type.String(),
  realm: Type.String(),
  status: Type.String(),
  /** Part of the capacity in use, from 0 to 1. */
  currentLoad: Type.Number({ minimum: 0, maximum: Number.MAX_VALUE }),
  /** Maximum number of concurrent runs. */
  maxConcurrent: Count,
  /** Whether requests of peers are accepted. */
  shareable: Type.Boolean(),
})
export type CapacityUpdate = Static<typeof CapacityUpdate>

/** A profile was applied; sent to connections that subscribed to it by name. */
export const ProfileApplied = Type.Object({
  type: Type.Literal('profile_applied'),
  profileName: Type.String(),
  /** Capacity by ensemble name. */
  capacities: mapOf(
    Type.Object({ replicas: Count, maxConcurrent: Count, dormant: Type.Boolean() }),
  ),
  appliedAt: Type.String(),
  /** Run that it was applied to. */
  runId: Type.Optional(Type.String()),
})
export type ProfileApplied = Static<typeof ProfileApplied>
