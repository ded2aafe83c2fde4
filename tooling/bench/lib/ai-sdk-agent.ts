/** The agent of the AI SDK, on its published test model. */
import { answerTo, pieces, PROMPT, ROLE } from './agent-story.ts'
import { ORDER, order, ORDER_ARGUMENTS, orderZodSchema } from './order-tool.ts'
import { importPeer } from './peers.ts'

import type { Runner } from './runners.ts'

/** Used parts of the AI SDK. */
interface AiSdk {
  tool(definition: object): unknown
  readonly ToolLoopAgent: new (settings: object) => ToolLoopAgent
}

interface ToolLoopAgent {
  generate(call: object): Promise<{ readonly text: string }>
  stream(call: object): Promise<{
    readonly fullStream: AsyncIterable<{ readonly type: string; readonly text?: string }>
  }>
}

interface AiSdkTest {
  readonly MockLanguageModelV4: new (settings: object) => unknown
  convertArrayToReadableStream(parts: readonly object[]): unknown
}

interface Call {
  readonly prompt: readonly { readonly role: string; readonly content: unknown }[]
}

/** `content` of a message of the role `tool`. */
type ToolContent = readonly { readonly output: { readonly value: string } }[]

const USAGE = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
const CALLED = { finishReason: { unified: 'tool-calls', raw: 'tool_calls' }, usage: USAGE }
const STOPPED = { finishReason: { unified: 'stop', raw: 'stop' }, usage: USAGE }
const TOOL_CALL = {
  type: 'tool-call',
  toolCallId: 'call',
  toolName: ORDER.name,
  input: ORDER_ARGUMENTS,
}

/** Returns `ToolLoopAgent.stream`, read to its end, and `ToolLoopAgent.generate`. */
export async function aiSdkAgents(): Promise<readonly [stream: Runner, generate: Runner]> {
  const { tool, ToolLoopAgent } = await importPeer<AiSdk>('ai')
  const { MockLanguageModelV4, convertArrayToReadableStream } =
    await importPeer<AiSdkTest>('ai/test')
  const tools = {
    [ORDER.name]: tool({ ...ORDER, inputSchema: await orderZodSchema(), execute: order }),
  }
  const makeAgent = (): ToolLoopAgent => {
    const model = new MockLanguageModelV4({
      doGenerate: (call: Call) => Promise.resolve(generated(outputIn(call))),
      doStream: (call: Call) =>
        Promise.resolve({ stream: convertArrayToReadableStream(streamed(outputIn(call))) }),
    })
    return new ToolLoopAgent({ model, instructions: `You are ${ROLE}.`, tools })
  }
  let agent = makeAgent()
  const prepare = (): void => {
    agent = makeAgent()
  }
  const stream: Runner = {
    name: 'AI SDK ToolLoopAgent.stream',
    prepare,
    async run() {
      let text = ''
      const { fullStream } = await agent.stream({ prompt: PROMPT })
      for await (const part of fullStream) if (part.type === 'text-delta') text += part.text ?? ''
      return text
    },
  }
  const generate: Runner = {
    name: 'AI SDK ToolLoopAgent.generate',
    prepare,
    async run() {
      const { text } = await agent.generate({ prompt: PROMPT })
      return text
    },
  }
  return [stream, generate]
}

/** Returns the output of the tool, once it was called. */
function outputIn({ prompt }: Call): string | undefined {
  const last = prompt.at(-1)
  // NOTE: the AI SDK uses this form for tool messages, version 4 of its prompt.
  return last?.role === 'tool' ? (last.content as ToolContent)[0]?.output.value : undefined
}

function generated(output: string | undefined): object {
  if (output === undefined) return { content: [TOOL_CALL], ...CALLED, warnings: [] }
  return { content: [{ type: 'text', text: answerTo(output) }], ...STOPPED, warnings: [] }
}

function streamed(output: string | undefined): readonly object[] {
  const start = { type: 'stream-start', warnings: [] }
  if (output === undefined) return [start, TOOL_CALL, { type: 'finish', ...CALLED }]
  return [
    start,
    { type: 'text-start', id: 'text' },
    ...pieces(answerTo(output)).map((delta) => ({ type: 'text-delta', id: 'text', delta })),
    { type: 'text-end', id: 'text' },
    { type: 'finish', ...STOPPED },
  ]
}
