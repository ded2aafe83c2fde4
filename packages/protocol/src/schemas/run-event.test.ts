import { describe, expect, it } from 'vitest'
import { RUN_EVENT_TYPES, RunEvent } from './run-event.ts'

/** Pinned: stored logs and other programs contain these names. */
const TYPES = [
  'run_queued',
  'run_resumed',
  'run_forked',
  'run_cancelling',
  'ensemble_started',
  'task_started',
  'task_input',
  'llm_iteration_started',
  'reasoning',
  'token',
  'llm_iteration_completed',
  'llm_iteration_failed',
  'tool_progress',
  'tool_called',
  'agent_tool_invoked',
  'agent_tool_progress',
  'agent_tool_turn',
  'agent_tool_completed',
  'agent_tool_terminated',
  'agent_tool_error',
  'delegation_started',
  'delegation_completed',
  'delegation_failed',
  'task_completed',
  'task_attempt_failed',
  'task_failed',
  'task_skipped',
  'metrics_snapshot',
  'review_requested',
  'review_timed_out',
  'review_decided',
  'review_withdrawn',
  'directive_active',
  'directive_delivered',
  'file_changed',
  'model_switched',
  'ensemble_completed',
  'run_result',
  'event_unreadable',
]

describe('RunEvent', () => {
  it('has exactly the pinned types', () => {
    expect(RUN_EVENT_TYPES).toEqual(TYPES)
  })

  it('[E1] has its type first in every member', () => {
    for (const member of RunEvent.anyOf) {
      expect(Object.keys(member.properties)[0], member.properties.type.const).toBe('type')
    }
  })
})
