import type { LoggedRunEvent, RunEvent } from '@tutti/protocol'
import { RUN_EVENT_TYPES } from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import { eventOf } from '../../../../packages/protocol/test/run-events.ts'
import { findEventGroup, isFailure } from './event-kinds.ts'
import { summarizeEvent, findEventTask } from './event-summary.ts'

function logged(event: RunEvent): LoggedRunEvent {
  return { ...event, runId: 'r', seq: 1, id: 'r:1' }
}

/** Expected summaries of the golden events, by type. */
const LINES: Readonly<Partial<Record<RunEvent['type'], string>>> = {
  run_queued: 'research-brief · sequential · 2 tasks',
  run_resumed: 'epoch 2 · 1 task already completed',
  run_forked: 'from run-7f3a2b · after event 3',
  run_cancelling: 'requested · aborts work in flight',
  ensemble_started: 'research-brief · researcher, writer',
  task_started: 'Regulatory Researcher · Research AI safety focusing on EU regulation',
  task_input: 'tools: web_search, file_read · no context',
  llm_iteration_started: 'sonnet · call 1 · 3 messages',
  reasoning: '"The user asks for "',
  token: '"The EU AI Act"',
  llm_iteration_completed:
    'sonnet · call 1 · 1.7 s · 812 in 41 out · $0.0031 · requests web_search',
  llm_iteration_failed:
    'sonnet · MODEL_FAILED · Model "sonnet" answered with HTTP 529: overloaded · retry in 1.0 s',
  tool_progress: 'web_search · 60 % · Read 3 of 5 pages',
  tool_called: 'web_search · succeeded · 1.2 s · 1. Article 6 …',
  handler_step_ended: 'book hotel · failed · 1.0 s · try 2 · TASK_FAILED · No rooms · will retry',
  agent_tool_invoked: 'researcher · https://research-agent.example.com · streaming · a2a',
  agent_tool_progress: 'researcher · chunk 1 · {"text":"Found three sources","cost_usd":0.02}',
  agent_tool_turn: 'researcher · turn 1 · outbound · Draft: tides',
  agent_tool_completed: 'researcher · 1.2 s · $0.02 · {"summary":"Three sources agree"}',
  agent_tool_terminated:
    'researcher · budget exceeded · The agent has cost 0.6 USD, more than the 0.5 it may',
  agent_tool_error: 'researcher · connection lost · The connection was lost after 2 chunks',
  delegation_started: 'to Technical Writer · researcher/1 · Write an executive brief',
  delegation_completed: 'by Technical Writer · researcher/1 · 3.1 s',
  delegation_failed: 'to Technical Writer · No worker with role "Technical Writer"',
  task_completed: '8.2 s · 10.2k tokens · 5 tool calls · $0.06 · ## EU AI Act Analysis …',
  task_attempt_failed: 'MODEL_FAILED · Model "sonnet" gave no usable answer · will retry',
  task_failed: 'MODEL_FAILED · Model "sonnet" gave no usable answer',
  task_skipped: 'Task "researcher" failed',
  metrics_snapshot: '8000 in 2150 out · 2 model calls · $0.06',
  review_requested: 'task output',
  review_timed_out: 'exit early',
  review_decided: 'Rejected · by key:ops · Name the articles',
  review_withdrawn: 'Run was cancelled',
  directive_active: 'Focus on European regulations · to researcher · by ops',
  directive_delivered: 'Regulatory Researcher · call 2',
  file_changed: 'out/brief.md · created · +40 −0',
  model_switched: 'sonnet → haiku',
  ensemble_completed: 'completed · 11.3 s · 15.2k tokens · 7 tool calls',
  run_result: 'Completed · 11.3 s',
  event_unreadable: 'task_completed · Unexpected end of JSON input',
}

describe('summarizeEvent', () => {
  it.each(RUN_EVENT_TYPES.filter((type) => type in LINES))(
    'summarizeEvent summarizes the particulars of %s',
    (type) => {
      expect(summarizeEvent(logged(eventOf(type)))).toBe(LINES[type])
    },
  )

  it('summarizeEvent returns one line of limited length', () => {
    const long = 'word\n\t '.repeat(500_000)
    const line = summarizeEvent(logged(eventOf('tool_called', { toolResult: long })))
    expect(line).not.toMatch(/[\n\t]| {2}/)
    expect(line.length).toBeLessThanOrEqual(240)
    expect(summarizeEvent(logged(eventOf('token', { token: long }))).length).toBeLessThanOrEqual(
      240,
    )
  })

  it('summarizeEvent omits unknown values', () => {
    const event = eventOf('llm_iteration_completed', {
      costUsd: undefined,
      responseText: undefined,
      toolRequests: undefined,
      inputTokens: -1,
    })
    const line = summarizeEvent(logged(event))
    expect(line).toContain('— in')
    expect(line).not.toMatch(/undefined|null|\$|NaN/)
  })

  it('summarizeEvent lists the texts and numbers of a type without a summary', () => {
    const event = {
      type: 'dummy_noted',
      text: 'Hm',
      size: 3,
      parts: [],
      notedAt: 'x',
      taskName: 'a',
    }
    // NOTE: a type that a newer server has.
    expect(summarizeEvent({ ...event, runId: 'r', seq: 1, id: 'r:1' } as never)).toBe(
      'text: Hm · size: 3',
    )
  })

  it('summarizeEvent names the event that a wait is for', () => {
    const prompt = 'a wait for event "paid"'
    const event = eventOf('review_requested', { kind: 'EVENT', toolName: 'waitFor', prompt })
    expect(summarizeEvent(logged(event))).toBe(prompt)
  })

  it('summarizeEvent names the agent of a handoff', () => {
    expect(summarizeEvent(logged(eventOf('delegation_started', { handoff: true })))).toBe(
      'handoff to Technical Writer · researcher/1',
    )
  })

  it('summarizeEvent numbers model calls from 1, like the transcript', () => {
    const event = eventOf('llm_iteration_started', { iterationIndex: 0 })
    expect(summarizeEvent(logged(event))).toContain('call 1')
  })
})

describe('event metadata', () => {
  it('The metadata of events groups the types, and new types are in the group of the run', () => {
    const types = ['task_started', 'run_queued', 'model_switched'] as const
    expect(types.map(findEventGroup)).toEqual(['tasks', 'run', 'people'])
    // NOTE: a type that a newer server has.
    expect(findEventGroup('dummy_noted' as RunEvent['type'])).toBe('run')
  })

  it('The metadata of an event names its task, if it has one', () => {
    expect(findEventTask(logged(eventOf('token')))).toBe('researcher')
    expect(findEventTask(logged(eventOf('run_queued')))).toBeUndefined()
  })

  it('The metadata of an event marks failures', () => {
    const failures = RUN_EVENT_TYPES.filter((type) => isFailure(logged(eventOf(type))))
    expect(failures.toSorted()).toEqual([
      'agent_tool_error',
      'delegation_failed',
      'handler_step_ended',
      'llm_iteration_failed',
      'task_attempt_failed',
      'task_failed',
    ])
    expect(isFailure(logged(eventOf('tool_called', { outcome: 'FAILURE' })))).toBe(true)
    expect(isFailure(logged(eventOf('run_result', { status: 'FAILED' })))).toBe(true)
  })
})
