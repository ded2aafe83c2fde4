/** Groups the types of events for the filter. Pure. */
import { type LoggedRunEvent } from '@tutti/protocol'
import { isCommandEvent } from '@tutti/protocol/internal'

/** The groups, in the order of their buttons. */
export const EVENT_GROUPS = [
  { name: 'run', label: 'Run' },
  { name: 'tasks', label: 'Tasks' },
  { name: 'models', label: 'Model calls' },
  { name: 'tokens', label: 'Tokens' },
  { name: 'tools', label: 'Tools' },
  { name: 'agents', label: 'Agents' },
  { name: 'people', label: 'Reviews and steering' },
] as const

export type EventGroup = (typeof EVENT_GROUPS)[number]['name']

/** Groups by event type. Commands belong to `people`, and every other type that is missing to `run`. */
const GROUPS: Readonly<Partial<Record<LoggedRunEvent['type'], EventGroup>>> = {
  task_started: 'tasks',
  task_input: 'tasks',
  llm_iteration_started: 'models',
  reasoning: 'tokens',
  token: 'tokens',
  llm_iteration_completed: 'models',
  llm_iteration_failed: 'models',
  tool_progress: 'tools',
  tool_called: 'tools',
  agent_tool_invoked: 'agents',
  agent_tool_progress: 'agents',
  agent_tool_turn: 'agents',
  agent_tool_completed: 'agents',
  agent_tool_terminated: 'agents',
  agent_tool_error: 'agents',
  delegation_started: 'agents',
  delegation_completed: 'agents',
  delegation_failed: 'agents',
  task_completed: 'tasks',
  task_attempt_failed: 'tasks',
  task_failed: 'tasks',
  task_skipped: 'tasks',
  metrics_snapshot: 'tasks',
  review_requested: 'people',
  review_timed_out: 'people',
  review_withdrawn: 'people',
  directive_delivered: 'people',
  file_changed: 'tools',
}

/** Returns the group of an event type. */
export function groupOf(type: LoggedRunEvent['type']): EventGroup {
  return isCommandEvent(type) ? 'people' : (GROUPS[type] ?? 'run')
}

/** Whether an event reports a failure. */
export function isFailure(event: LoggedRunEvent): boolean {
  switch (event.type) {
    case 'llm_iteration_failed':
    case 'task_attempt_failed':
    case 'task_failed':
    case 'delegation_failed':
    case 'agent_tool_error':
      return true
    case 'tool_called':
      return event.outcome === 'FAILURE'
    case 'run_result':
      return event.status === 'FAILED'
    default:
      return false
  }
}
