/**
 * Tests that every protocol finds the same in a log.
 *
 * GW-AA1 All readers have the same output of a run, the same end and the same usage: those that its events state.
 */
import {
  readRunOutput,
  RunProjection,
  runStateAfter,
  toRunMessages,
  type LoggedRunEvent,
  type OutputBlock,
} from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { firstView, advanceView, toTaskState } from '../src/a2a/view.ts'
import { toWireTask } from '../src/a2a/to-task.ts'
import { TaskUpdates } from '../src/a2a/events.ts'
import { AguiRun } from '../src/ag-ui/events.ts'
import { ChatChunks } from '../src/ai-sdk/chunks.ts'
import { runAnswer } from '../src/mcp/answer.ts'
import { Completion } from '../src/openai/chat/completion.ts'
import { RunResponses } from '../src/openai/responses/run-responses.ts'
import { readItemText } from '../src/openai/responses/segment-items.ts'
import { toTaskEnd } from '../src/peer/events.ts'
import { taskLines } from '../src/tasks/events.ts'
import { readLog, STORY_NAMES } from './run-logs.ts'

import type { AguiEvent, AguiMessage } from '../src/ag-ui/wire.ts'
import type { ChatMetadata } from '../src/ai-sdk/wire.ts'

/** Findings of a reader in a log. */
interface Found {
  /** Whether it completed; absent for a cut answer of a protocol in which that is an end like others. */
  readonly isCompleted?: boolean
  /** Output, after the text before it in a protocol that does not separate them; present if it completed. */
  readonly output?: string | undefined
  /** Tokens of the run; absent if the protocol has none. */
  readonly tokens?: number
}

/** Returns the output that the end of a run states. */
function readOutput(events: readonly LoggedRunEvent[]): string | undefined {
  const end = events.find((event) => event.type === 'run_result')
  return end === undefined ? undefined : readRunOutput(end)
}

/** Returns the conversation of an AG-UI client after an event. */
function addMessage(messages: readonly AguiMessage[], event: AguiEvent): readonly AguiMessage[] {
  if (event.type === 'MESSAGES_SNAPSHOT') return event.messages
  if (event.type === 'TEXT_MESSAGE_START') {
    return [...messages, { id: event.messageId, role: 'assistant', content: '' }]
  }
  if (event.type !== 'TEXT_MESSAGE_CONTENT') return messages
  return messages.map((message) =>
    message.id === event.messageId
      ? { ...message, content: `${String(message.content)}${event.delta}` }
      : message,
  )
}

type Reader = (events: readonly LoggedRunEvent[]) => Found

const SHOWING = { modes: [], usage: true }
const IDENTITY = {
  id: 'run-1',
  contextId: 'c',
  asked: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Go' }] },
} as const

const lastOf = <T>(items: readonly T[]): T => items.at(-1) ?? expect.fail('found nothing')

const READERS: Readonly<Record<string, Reader>> = {
  'the run state (client, React, dashboard)': (events) => {
    const state = runStateAfter(events)
    return {
      isCompleted: state.status === 'COMPLETED',
      output: toRunMessages(state).assistantMessage,
      tokens: state.totals.totalTokens,
    }
  },
  'the blocks of the projection': (events) => {
    const run = new RunProjection()
    const texts = new Map<OutputBlock, string>()
    let isCompleted = false
    for (const operation of events.flatMap((event) => run.take(event))) {
      if (operation.type === 'block_closed' && operation.block.kind !== 'reasoning') {
        if (operation.toolNames.length === 0) texts.set(operation.block, operation.text)
      }
      if (operation.type === 'withdrawn') {
        for (const block of operation.blocks) texts.delete(block)
      }
      if (operation.type === 'ended') isCompleted = operation.status === 'COMPLETED'
    }
    // The text of these blocks is the output itself, not only its end.
    const output = [...texts.values()].join('')
    if (isCompleted) expect(output).toBe(readOutput(events))
    return { isCompleted, output, tokens: run.usage.tokens }
  },
  useChat: (events) => {
    const chat = new ChatChunks('run-1')
    let output = ''
    let metadata: Partial<ChatMetadata> = {}
    for (const chunk of events.flatMap((event) => chat.after(event))) {
      if (chunk.type === 'reset-step') output = ''
      if (chunk.type === 'text-delta') output += chunk.delta
      if ('messageMetadata' in chunk) metadata = chunk.messageMetadata
    }
    const tokens = metadata.usage?.totalTokens ?? 0
    return { isCompleted: metadata.status === 'COMPLETED', output, tokens }
  },
  'a chat completion': (events) => {
    const completion = new Completion({ answered: [], streamsText: true })
    for (const event of events) completion.take(event)
    const { end, usage } = completion
    const isMessage = end?.kind === 'message' && end.refusal === undefined
    const isCut = isMessage && end.finish === 'length'
    return {
      ...(isCut ? {} : { isCompleted: isMessage }),
      ...(isMessage ? { output: end.content } : {}),
      tokens: usage.total_tokens,
    }
  },
  'the responses': (events) => {
    const options = { runId: 'run-1', createdAt: 0, background: false, isStructured: false }
    const responses = new RunResponses(options)
    for (const event of events) responses.after(event)
    const states = Array.from({ length: responses.newest + 1 }, (_, at) => responses.stateOf(at))
    const { status, output } = lastOf(states)
    const text = output.map(readItemText).join('')
    const tokens = states.reduce((sum, { usage }) => sum + (usage?.total_tokens ?? 0), 0)
    const isCompleted = status === 'completed' && text !== ''
    return { ...(status === 'incomplete' ? {} : { isCompleted }), output: text, tokens }
  },
  'AG-UI': (events) => {
    const decided = events.flatMap((event) =>
      event.type === 'review_decided' ? event.reviewId : [],
    )
    let messages: readonly AguiMessage[] = []
    const segments = ['', ...decided].map((reviewId) => {
      const run = new AguiRun({
        ids: { threadId: 't', runId: 'r' },
        run: { runId: 'run-1', ensemble: 'team' },
        state: undefined,
        messages,
        answered: new Set(reviewId === '' ? [] : [reviewId]),
      })
      const sent = [...run.start(), ...run.after(events)]
      messages = sent.reduce(addMessage, messages)
      const last = lastOf(sent)
      if (last.type === 'RUN_FINISHED' || last.type === 'RUN_ERROR') return last
      return expect.fail(last.type)
    })
    const end = lastOf(segments)
    const usages = segments.flatMap(({ usage }) => usage ?? [])
    return {
      isCompleted: end.type === 'RUN_FINISHED' && end.outcome?.type === 'success',
      output: String(messages.findLast(({ role }) => role === 'assistant')?.content),
      tokens: usages.reduce((sum, { totalTokens = 0 }) => sum + totalTokens, 0),
    }
  },
  'an A2A task': (events) => {
    const view = events.reduce(advanceView, firstView({ createdAt: 0 }))
    const { artifacts = [] } = toWireTask(IDENTITY, view, SHOWING)
    return {
      isCompleted: toTaskState(view) === 'TASK_STATE_COMPLETED',
      output: artifacts.at(-1)?.parts[0]?.text,
      tokens: view.usage.tokens,
    }
  },
  'an A2A stream': (events) => {
    const updates = new TaskUpdates(IDENTITY, firstView({ createdAt: 0 }), SHOWING)
    let output = ''
    for (const item of events.flatMap((event) => [...updates.after(event)])) {
      if (!('artifactUpdate' in item)) continue
      const { artifact, append } = item.artifactUpdate
      const text = artifact.parts[0]?.text ?? ''
      output = append ? output + text : text
    }
    const state = toTaskState(updates.view)
    return {
      isCompleted: state === 'TASK_STATE_COMPLETED',
      output,
      tokens: updates.view.usage.tokens,
    }
  },
  'a task of /tasks': (events) => {
    const lines = taskLines({ id: 'run-1', stopFrom: 0 })
    const {
      status,
      output,
      total_tokens: tokens,
    } = lastOf(events.flatMap((event) => lines(event).end ?? []))
    return { isCompleted: status === 'completed', output: output ?? '', tokens }
  },
  'a peer': (events) => {
    const end = events.find((event) => event.type === 'run_result') ?? expect.fail('no end')
    const { status, result } = { result: undefined, ...toTaskEnd(end) }
    return { isCompleted: status === 'COMPLETED', output: result }
  },
  MCP: (events) => {
    const answer = runAnswer('run-1', undefined)
    for (const event of events) answer.add(event)
    const { structuredContent } = answer.result() ?? expect.fail('no answer')
    expect(structuredContent).toMatchObject({ status: expect.any(String) })
    // NOTE: the fields are those of the output schema of a run.
    const { status, output } = structuredContent as {
      readonly status: string
      readonly output: string
    }
    return { isCompleted: status === 'COMPLETED', output }
  },
}

describe.each(STORY_NAMES)('a run with %s', (story) => {
  it.each(Object.keys(READERS))(
    '[GW-AA1] A run has the same output, end and usage for %s',
    async (name) => {
      const { events, status, output } = await readLog(story)
      const end = lastOf(events)
      expect(end).toMatchObject({ type: 'run_result', status })
      const read = READERS[name] ?? expect.fail(name)
      const found = read(events)
      const isCompleted = status === 'COMPLETED'
      if (found.isCompleted !== undefined) expect(found.isCompleted).toBe(isCompleted)
      if (isCompleted) expect(found.output).toMatch(new RegExp(`${output}$`))
      const { totalTokens } = (end.type === 'run_result' ? end.metrics : undefined) ?? {
        totalTokens: 0,
      }
      if (found.tokens !== undefined) expect(found.tokens).toBe(totalTokens)
    },
  )
})
