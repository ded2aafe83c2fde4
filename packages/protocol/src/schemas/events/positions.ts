/**
 * The field groups that events share. A group is a plain object of properties, spread into
 * `Type.Object` after `type`, so that each shape is written once and `type` stays first.
 */
import Type from 'typebox'
import { Count, PositiveCount } from '../scalars.ts'

/** Which task, by name, and which try of it: on every event of a task (ours). */
export const taskAttempt = { taskName: Type.String(), attempt: PositiveCount }

/** The same with the task's number in its run, for events where AgentEnsemble has none (ours). */
export const taskPosition = { taskName: Type.String(), taskIndex: Count, attempt: PositiveCount }

/** AgentEnsemble's naming of a task: its description and the role that works on it. */
export const taskLabel = { taskDescription: Type.String(), agentRole: Type.String() }

/** A call that the model asked for, as `llm_iteration_*` carry it: the arguments are raw text. */
export const RequestedToolCall = Type.Object({
  name: Type.String(),
  arguments: Type.String(),
  /** The model's id of the call; ours always sends it. */
  id: Type.Optional(Type.String()),
})
export type RequestedToolCall = Type.Static<typeof RequestedToolCall>
