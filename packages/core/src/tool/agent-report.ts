/** Reports of a tool that calls another agent. */
import type { RunEventOf } from '@tutti/protocol'

/** Event of a call to another agent, as stored in the log of a run. */
export type AgentToolEvent = RunEventOf<
  | 'agent_tool_invoked'
  | 'agent_tool_progress'
  | 'agent_tool_turn'
  | 'agent_tool_completed'
  | 'agent_tool_terminated'
  | 'agent_tool_error'
>

/** Fields that place a call in its run; only the caller of the tool knows them. */
type CallField = Exclude<keyof AgentToolEvent & keyof RunEventOf<'tool_progress'>, 'type'>

type WithoutCallFields<E> = E extends AgentToolEvent ? Omit<E, CallField | 'timestamp_ms'> : never

/** The same event as a tool reports it, without its context and time. */
export type AgentReport = WithoutCallFields<AgentToolEvent>

/** The same report with its time, as the caller of the tool receives it. */
export type TimedAgentReport = AgentReport & Pick<AgentToolEvent, 'timestamp_ms'>
