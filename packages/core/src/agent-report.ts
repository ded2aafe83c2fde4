/** What a tool that asks another agent tells of it. */
import type { RunEventOf } from '@tutti/protocol'

/** An event of a call to another agent, as the log of a run keeps it. */
export type AgentToolEvent = RunEventOf<
  | 'agent_tool_invoked'
  | 'agent_tool_progress'
  | 'agent_tool_turn'
  | 'agent_tool_completed'
  | 'agent_tool_terminated'
  | 'agent_tool_error'
>

/** Where a call belongs, which only whoever makes it knows. */
type CallField = Exclude<keyof AgentToolEvent & keyof RunEventOf<'tool_progress'>, 'type'>

type WithoutCallFields<E> = E extends AgentToolEvent ? Omit<E, CallField | 'timestamp_ms'> : never

/** The same as the tool tells it: its place and its time are added. */
export type AgentReport = WithoutCallFields<AgentToolEvent>

/** The same with its time, as whoever made the call is told. */
export type TimedAgentReport = AgentReport & Pick<AgentToolEvent, 'timestamp_ms'>
