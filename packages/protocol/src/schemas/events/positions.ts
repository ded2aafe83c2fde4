/**
 * Groups of fields that events share.
 *
 * A group is a plain object of properties, spread into `Type.Object` after `type`, so that each shape is written once
 * and `type` stays first.
 */
import Type from 'typebox'
import { Count, PositiveCount } from '../scalars.ts'

import type { Static } from '../../static.ts'

/** Task and attempt of an event, by name. */
export const taskAttempt = {
  /** Name of the task; unique in its run. */
  taskName: Type.String(),
  /** Attempt of the task, from 1. */
  attempt: PositiveCount,
}

/** Task and attempt of an event, by name and number. */
export const taskPosition = {
  /** Name of the task; unique in its run. */
  taskName: Type.String(),
  /** Number of the task in its run, from 1. */
  taskIndex: Count,
  /** Attempt of the task, from 1. */
  attempt: PositiveCount,
}

/** Fields by which readers without task names identify a task. */
export const taskLabel = {
  /** Description of the task, with its inputs filled in. */
  taskDescription: Type.String(),
  /** Role of the agent that works on the task. */
  agentRole: Type.String(),
}

/** Reasoning of an answered model call. */
export const turnReasoning = {
  /** Part of `outputTokens` that the model used to reason; absent when the provider does not report it. */
  reasoningTokens: Type.Optional(Count),
  /** Readable reasoning of the model before and between the parts of its answer; absent when there is none. */
  reasoning: Type.Optional(Type.String()),
  /** True when the reasoning was longer than 256 KiB and `reasoning` is only its start. */
  reasoningTruncated: Type.Optional(Type.Literal(true)),
}

/** Tool call that a model requested. */
export const RequestedToolCall = Type.Object({
  name: Type.String(),
  /** Arguments as the model wrote them: JSON text. */
  arguments: Type.String(),
  /** The model's id of the call; the server always sends it. */
  id: Type.Optional(Type.String()),
})
export type RequestedToolCall = Static<typeof RequestedToolCall>
