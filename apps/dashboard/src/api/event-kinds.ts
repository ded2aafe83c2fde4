/** Kinds of events, to filter a log, to step through it and to mark it. Pure. */
import type { LoggedRunEvent } from '@tutti/protocol'
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

/** Subject of a key event. */
export type KeySubject = 'task' | 'tool' | 'review' | 'steering' | 'failed'

type Kind = readonly [group: EventGroup, subject?: KeySubject]

/**
 * Groups of event types, with the subjects of key events. Commands belong to `people`, and every
 * other type that is missing to `run`.
 */
const KINDS: Readonly<Partial<Record<LoggedRunEvent['type'], Kind>>> = {
  run_resumed: ['run', 'steering'],
  task_started: ['tasks', 'task'],
  task_input: ['tasks'],
  llm_iteration_started: ['models'],
  reasoning: ['tokens'],
  token: ['tokens'],
  llm_iteration_completed: ['models'],
  llm_iteration_failed: ['models'],
  tool_progress: ['tools'],
  tool_called: ['tools', 'tool'],
  handler_step_ended: ['tools', 'tool'],
  agent_tool_invoked: ['agents'],
  agent_tool_progress: ['agents'],
  agent_tool_turn: ['agents'],
  agent_tool_completed: ['agents'],
  agent_tool_terminated: ['agents'],
  agent_tool_error: ['agents'],
  delegation_started: ['agents'],
  delegation_completed: ['agents'],
  delegation_failed: ['agents'],
  task_completed: ['tasks', 'task'],
  task_attempt_failed: ['tasks', 'task'],
  task_failed: ['tasks', 'task'],
  task_skipped: ['tasks', 'task'],
  metrics_snapshot: ['tasks'],
  review_requested: ['people', 'review'],
  review_decided: ['people', 'review'],
  review_timed_out: ['people', 'review'],
  review_withdrawn: ['people', 'review'],
  directive_active: ['people', 'steering'],
  directive_delivered: ['people', 'steering'],
  model_switched: ['people', 'steering'],
  run_cancelling: ['people', 'steering'],
  file_changed: ['tools'],
  run_result: ['run', 'task'],
}

/** Returns the group of an event type. */
export function findEventGroup(type: LoggedRunEvent['type']): EventGroup {
  return KINDS[type]?.[0] ?? (isCommandEvent(type) ? 'people' : 'run')
}

/** Returns the subject of an event; undefined if it is not a key event. */
export function findKeySubject(event: LoggedRunEvent): KeySubject | undefined {
  const subject = KINDS[event.type]?.[1]
  return subject !== undefined && isFailure(event) ? 'failed' : subject
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
    case 'handler_step_ended':
      return event.reason !== undefined
    case 'run_result':
      return event.status === 'FAILED'
    default:
      return false
  }
}
