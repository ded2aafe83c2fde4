/** Compares handoffs with those of `@openai/agents`: both get the same scripted answers, and send the same conversations. */
import {
  Agent,
  handoff as sdkHandoff,
  Runner,
  setTracingDisabled,
  tool as sdkTool,
  Usage,
  type AgentInputItem,
  type AgentOutputItem,
  type Model,
  type ModelRequest,
} from '@openai/agents'

import { defineTool, Type } from '@tutti/core'
import { agent, ensemble, handoff, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { expect, it } from 'vitest'

import type { Message } from '@tutti/ensemble/adapter'

setTracingDisabled(true)

type SdkFilter = NonNullable<NonNullable<Parameters<typeof sdkHandoff>[1]>['inputFilter']>

/** An answer of a model: text, calls as `[id, tool, arguments]`, or both. */
interface Answer {
  readonly text?: string
  readonly calls?: readonly (readonly [id: string, name: string, input: object])[]
}

/** A triage agent that hands off to two tutors. One of them has a tool, and may hand back. */
interface Example {
  readonly question: string
  readonly answers: readonly Answer[]
  /** Messages that the math tutor receives. @default all */
  readonly filter?: 'withoutTools' | 'last'
}

/** Request to a model: its system message, and the conversation. */
interface Sent {
  readonly system: string | undefined
  readonly items: readonly object[]
}

interface Outcome {
  readonly output: string | undefined
  /** Agent that gave the answer. */
  readonly lastAgent: string | undefined
  readonly sent: readonly Sent[]
}

const TRIAGE = "You determine which agent to use based on the user's homework question"
const HISTORY = 'You provide assistance with historical queries.'
const MATH = 'You provide help with math problems. Explain your reasoning at each step.'
const RECAP = 'Recap the conversation'

/** Schemas for the SDK, which needs them strict. */
const ADD = strictObject({ a: { type: 'number' }, b: { type: 'number' } })
const LOOK_UP = strictObject({ term: { type: 'string' } })
const TOPIC = strictObject({ topic: { type: 'string' } })

function strictObject(
  properties: Readonly<Record<string, { readonly type: 'number' | 'string' }>>,
) {
  const required = Object.keys(properties)
  return { type: 'object' as const, properties, required, additionalProperties: false as const }
}

async function runWithSdk({ question, answers, filter }: Example): Promise<Outcome> {
  const sent: Sent[] = []
  const model = createSdkModel(answers, sent)
  const add = sdkTool({
    name: 'add',
    description: 'Adds',
    parameters: ADD,
    strict: true,
    execute: (input) =>
      String(Number(Reflect.get(Object(input), 'a')) + Number(Reflect.get(Object(input), 'b'))),
  })
  const lookUp = sdkTool({
    name: 'look_up',
    description: 'Looks up',
    parameters: LOOK_UP,
    strict: true,
    execute: (input) => `About ${String(Reflect.get(Object(input), 'term'))}`,
  })
  const history = new Agent({ name: 'History Tutor', instructions: HISTORY, model })
  const math = new Agent({ name: 'Math Tutor', instructions: MATH, model, tools: [add] })
  const inputFilter = toSdkFilter(filter)
  const triage = Agent.create({
    name: 'Triage Agent',
    instructions: TRIAGE,
    model,
    tools: [lookUp],
    handoffs: [
      history,
      sdkHandoff(math, {
        inputType: TOPIC,
        onHandoff: () => undefined,
        ...(inputFilter === undefined ? {} : { inputFilter }),
      }),
    ],
  })
  math.handoffs = [triage]
  const { finalOutput, lastAgent } = await new Runner().run(triage, question)
  return { output: finalOutput, lastAgent: lastAgent?.name, sent }
}

function toSdkFilter(filter: Example['filter']): SdkFilter | undefined {
  if (filter === undefined) return undefined
  if (filter === 'withoutTools') return removeTools
  return (input) => ({
    ...input,
    inputHistory: [{ role: 'user', content: RECAP }],
    preHandoffItems: [],
  })
}

/** Does what `removeAllTools` of `@openai/agents-core/extensions` does, which `@openai/agents` does not export. */
const removeTools: SdkFilter = ({ preHandoffItems, newItems, ...rest }) => ({
  ...rest,
  preHandoffItems: preHandoffItems.filter(({ type }) => type === 'message_output_item'),
  newItems: newItems.filter(({ type }) => type === 'message_output_item'),
})

/** A model of the SDK with scripted answers. */
function createSdkModel(answers: readonly Answer[], sent: Sent[]): Model {
  return {
    async getResponse({ systemInstructions, input }: ModelRequest) {
      const { text, calls = [] } = answers[sent.length] ?? {}
      sent.push({ system: systemInstructions, items: toItems(input) })
      const output: AgentOutputItem[] = calls.map(([callId, name, args]) => ({
        type: 'function_call',
        callId,
        name,
        arguments: JSON.stringify(args),
        status: 'completed',
      }))
      if (text !== undefined) {
        const content = [{ type: 'output_text' as const, text }]
        output.unshift({ type: 'message', role: 'assistant', status: 'completed', content })
      }
      return { usage: new Usage(), output }
    },
    // oxlint-disable-next-line require-yield -- the runs do not stream
    async *getStreamedResponse() {
      throw new Error('Not used')
    },
  }
}

/** Returns the items of the SDK in a short form: a text with its author, a call, or its result. */
function toItems(input: string | readonly AgentInputItem[]): readonly object[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  return input.map((item) => {
    if (item.type === 'function_call') {
      const { callId, name, arguments: args } = item
      return { id: callId, name, arguments: args }
    }
    if (item.type === 'function_call_result') {
      return { id: item.callId, name: item.name, result: toText(item.output) }
    }
    if ('role' in item) return { role: item.role, content: toText(item.content) }
    throw new Error(`Unexpected item ${item.type}`)
  })
}

/** Returns the text of contents of the SDK. */
function toText(content: unknown): string {
  if (typeof content === 'string') return content
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content]
  return parts.map((part) => String(Reflect.get(Object(part), 'text'))).join('')
}

async function runWithTutti({ question, answers, filter }: Example): Promise<Outcome> {
  const sent: Sent[] = []
  const model = scriptedModel(({ messages }) => {
    const { text = '', calls = [] } = answers[sent.length] ?? {}
    const [first, ...rest] = messages
    sent.push({ system: first?.content, items: rest.flatMap(toMessageItems) })
    return { text, toolCalls: calls.map(([id, name, args]) => ({ id, name, arguments: args })) }
  })
  const add = defineTool({
    name: 'add',
    description: 'Adds',
    input: Type.Object({ a: Type.Number(), b: Type.Number() }),
    execute: ({ a, b }) => String(a + b),
  })
  const lookUp = defineTool({
    name: 'look_up',
    description: 'Looks up',
    input: Type.Object({ term: Type.String() }),
    execute: ({ term }) => `About ${term}`,
  })
  const history = agent({ role: 'History Tutor', instructions: HISTORY })
  const math = agent({
    role: 'Math Tutor',
    instructions: MATH,
    tools: [add],
    handoffs: ['Triage Agent'],
  })
  const triage = agent({
    role: 'Triage Agent',
    instructions: TRIAGE,
    tools: [lookUp],
    handoffs: [
      history,
      handoff(math, {
        input: Type.Object({ topic: Type.String() }),
        filter:
          filter === 'last'
            ? (messages) => [{ role: 'user', content: RECAP }, ...messages.slice(-2)]
            : (filter ?? 'all'),
      }),
    ],
  })
  const homework = task({ name: 'homework', description: '{question}', agent: triage })
  const team = ensemble({ name: 'school', model, tasks: [homework] })
  const { output, tasks } = await team.run({ question })
  const last = tasks.at(-1)?.taskName.split('/').at(-1)
  return { output, lastAgent: last === 'homework' ? triage.role : last, sent }
}

/** Returns a message in the form of {@link toItems}: the SDK has no turns, so the calls follow their text. */
function toMessageItems(message: Message): readonly object[] {
  const { role, content } = message
  if (role === 'tool') return [{ id: message.toolCallId, name: message.toolName, result: content }]
  const calls = role === 'assistant' ? message.toolCalls : []
  return role === 'assistant' && content === '' ? calls : [{ role, content }, ...calls]
}

const toMath = ['h1', 'transfer_to_Math_Tutor', { topic: 'sums' }] as const
const toHistory = ['h2', 'transfer_to_History_Tutor', {}] as const
const back = ['h3', 'transfer_to_Triage_Agent', {}] as const
const addition = ['t1', 'add', { a: 2, b: 3 }] as const
const lookUp = ['t2', 'look_up', { term: 'sums' }] as const

const EXAMPLES: Readonly<Record<string, Example>> = {
  'without a handoff': { question: 'Who are you?', answers: [{ text: 'A triage agent' }] },
  'to a tutor': {
    question: 'Who was the first president of the United States?',
    answers: [{ calls: [toHistory] }, { text: 'George Washington' }],
  },
  'to a tutor with a tool, after a tool call': {
    question: 'What is 2 + 3?',
    answers: [
      { text: 'I look that up', calls: [lookUp] },
      { text: 'For the math tutor', calls: [toMath] },
      { calls: [addition] },
      { text: '5' },
    ],
  },
  'beside a tool call': {
    question: 'What is 2 + 3?',
    answers: [{ calls: [lookUp, toMath] }, { text: '5' }],
  },
  'back, and to another tutor': {
    question: 'Who invented sums?',
    answers: [{ calls: [toMath] }, { calls: [back] }, { calls: [toHistory] }, { text: 'Many' }],
  },
  'with a filter that removes tools': {
    question: 'What is 2 + 3?',
    filter: 'withoutTools',
    answers: [
      { text: 'I look that up', calls: [lookUp] },
      { text: 'For the math tutor', calls: [toMath] },
      { calls: [addition] },
      { text: '5' },
    ],
  },
  'with a filter that replaces the history': {
    question: 'What is 2 + 3?',
    filter: 'last',
    answers: [{ calls: [lookUp] }, { calls: [toMath] }, { text: '5' }],
  },
}

it.each(Object.entries(EXAMPLES))(
  '[ENS-H9] A triage agent of @openai/agents has the same conversations and answer: %s',
  async (_, example) => {
    const theirs = await runWithSdk(example)
    expect(theirs.sent).toHaveLength(example.answers.length)
    expect(await runWithTutti(example)).toEqual(theirs)
  },
)
