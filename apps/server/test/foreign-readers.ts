/** Clients of other protocols, which describe a run in the terms of their library. */
import { HttpAgent, type RunAgentParameters } from '@ag-ui/client'
import { APIError, type OpenAI } from 'openai'

import {
  openAiClient,
  openPlainChat,
  type PlainChat,
} from '../../../packages/control-api/test/plain-chat.ts'
import { fetchUntilLost } from './fetch-until-lost.ts'

import type { ForeignProtocol } from '../../../tooling/reference/foreign-cases.ts'
import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources'
import type {
  Response,
  ResponseInputItem,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses'

/** A client, with the run that it reads. */
export interface ForeignReader {
  /** Asks a model or an ensemble, with a tool of the client. Returns what the client sees at the end. */
  ask(model: string): Promise<string>
  /** Sends the result of the call for which the run waits. */
  answer(): Promise<string>
  /** Approves the review for which the run waits. */
  approve(): Promise<string>
  /** Joins the run after its connection was lost. */
  join(): Promise<string>
  /** Continues with the server at another address. */
  move(url: string): void
}

const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } }
const RESULT = 'Sunny'

function joinParts(...parts: readonly (string | null | undefined)[]): string {
  return parts.filter((part) => typeof part === 'string' && part !== '').join(', ')
}

/** Opens a reader of each protocol. */
export function openReaders(url: string): Readonly<Record<ForeignProtocol, ForeignReader>> {
  return {
    responses: new ResponsesReader(url),
    chat: new ChatReader(url),
    aiSdk: new AiSdkReader(url),
    agUi: new AgUiReader(url),
  }
}

const tools: ChatCompletionTool[] = [
  {
    type: 'function',
    function: { name: 'weather', description: 'Returns the weather', parameters: PARAMETERS },
  },
]

class ResponsesReader implements ForeignReader {
  #client: OpenAI
  #model = ''
  #seen = -1
  #response: Response | undefined

  constructor(url: string) {
    this.#client = openAiClient(url)
  }

  ask(model: string) {
    this.#model = model
    return this.#create('tea')
  }

  answer() {
    const call = this.#response?.output.find((item) => item.type === 'function_call')
    const { call_id: id = '' } = call ?? {}
    return this.#create([{ type: 'function_call_output', call_id: id, output: RESULT }])
  }

  approve() {
    const request = this.#response?.output.find((item) => item.type === 'mcp_approval_request')
    const { id = '' } = request ?? {}
    return this.#create([{ type: 'mcp_approval_response', approval_request_id: id, approve: true }])
  }

  join() {
    const { id = '' } = this.#response ?? {}
    const after = { stream: true, starting_after: this.#seen } as const
    return this.#read(() => this.#client.responses.retrieve(id, after))
  }

  move(url: string) {
    this.#client = openAiClient(url)
  }

  #create(input: string | ResponseInputItem[]) {
    const previous = this.#response?.id ?? null
    const weather = {
      name: 'weather',
      type: 'function',
      parameters: PARAMETERS,
      strict: false,
    } as const
    return this.#read(() =>
      this.#client.responses.create({
        model: this.#model,
        input,
        stream: true,
        previous_response_id: previous,
        tools: this.#model === 'caller' ? [weather] : [],
      }),
    )
  }

  async #read(open: () => Promise<AsyncIterable<ResponseStreamEvent>>) {
    try {
      for await (const event of await open()) {
        this.#seen = event.sequence_number
        if ('response' in event) this.#response = event.response
      }
    } catch (error) {
      return describeError(error)
    }
    const { status, error, incomplete_details: incomplete, output = [] } = this.#response ?? {}
    const last = output.at(-1)
    const kind = last?.type === 'message' ? last.content.at(-1)?.type : last?.type
    const ends = status === 'completed' ? kind : (error?.code ?? incomplete?.reason)
    const reasons = output.some(({ type }) => type === 'reasoning')
    return joinParts(status, reasons ? 'reasoning' : '', ends)
  }
}

class ChatReader implements ForeignReader {
  #client: OpenAI
  #model = ''
  #messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'tea' }]
  readonly #key = crypto.randomUUID()
  #waiting: Promise<string> | undefined

  constructor(url: string) {
    this.#client = openAiClient(url)
  }

  async ask(model: string) {
    this.#model = model
    if (model !== 'panel') return this.join()
    // The API has no way to show a review: the request waits for a reviewer.
    this.#waiting = this.join()
    return 'waits'
  }

  answer() {
    const last = this.#messages.at(-1)
    const [call] = last?.role === 'assistant' ? (last.tool_calls ?? []) : []
    this.#messages.push({ role: 'tool', tool_call_id: call?.id ?? '', content: RESULT })
    return this.#create({})
  }

  approve() {
    return this.#waiting ?? Promise.resolve('no request')
  }

  join() {
    return this.#create({ 'idempotency-key': this.#key })
  }

  move(url: string) {
    this.#client = openAiClient(url)
  }

  async #create(headers: Record<string, string>) {
    const settings = this.#model === 'caller' ? { tools } : {}
    const body = { model: this.#model, messages: this.#messages, ...settings }
    try {
      const { choices } = await this.#client.chat.completions.create(body, { headers })
      const [choice] = choices
      if (choice === undefined) return 'no choice'
      this.#messages.push(choice.message)
      const { refusal } = choice.message
      return joinParts(
        choice.finish_reason,
        typeof refusal === 'string' ? 'refusal' : '',
        'reasoning_content' in choice.message ? 'reasoning_content' : '',
      )
    } catch (error) {
      return describeError(error)
    }
  }
}

class AiSdkReader implements ForeignReader {
  readonly #id = crypto.randomUUID()
  #model = ''
  #url: string
  #chat: PlainChat | undefined
  #finish: string | undefined

  constructor(url: string) {
    this.#url = url
  }

  ask(model: string) {
    this.#model = model
    return this.#read((chat) => chat.sendMessage({ text: 'tea' }))
  }

  answer() {
    const part = this.#chat?.lastMessage?.parts.findLast((one) => 'toolCallId' in one)
    const toolCallId = part !== undefined && 'toolCallId' in part ? part.toolCallId : ''
    return this.#read(async (chat) => {
      await chat.addToolOutput({ tool: 'weather', toolCallId, output: RESULT })
      await chat.sendMessage()
    })
  }

  approve() {
    const part = this.#chat?.lastMessage?.parts.findLast((one) => 'toolCallId' in one)
    const id = part !== undefined && 'approval' in part ? (part.approval?.id ?? '') : ''
    return this.#read(async (chat) => {
      await chat.addToolApprovalResponse({ id, approved: true })
      await chat.sendMessage()
    })
  }

  join() {
    return this.#read((chat) => chat.resumeStream())
  }

  move(url: string) {
    this.#url = url
  }

  async #read(act: (chat: PlainChat) => Promise<unknown>) {
    const weather = { name: 'weather', inputSchema: PARAMETERS }
    const chat = openPlainChat(this.#url, {
      id: this.#id,
      model: this.#model,
      tools: this.#model === 'caller' ? [weather] : [],
      messages: this.#chat?.messages ?? [],
      onFinish: ({ finishReason, isAbort, isDisconnect, isError }) => {
        const kinds = { isAbort, isDisconnect, isError }
        const flag = Object.entries(kinds).flatMap(([name, isSet]) => (isSet ? [name] : []))
        this.#finish = joinParts(isError ? '' : finishReason, ...flag)
      },
    })
    this.#chat = chat
    this.#finish = undefined
    await act(chat)
    const last = chat.lastMessage?.parts.findLast((part) => 'toolCallId' in part)
    const state = last !== undefined && 'toolCallId' in last ? last.state : ''
    const isOpen = this.#finish === 'tool-calls'
    const reasons = chat.lastMessage?.parts.some(({ type }) => type === 'reasoning') === true
    return joinParts(chat.status, this.#finish, isOpen ? state : '', reasons ? 'reasoning' : '')
  }
}

class AgUiReader implements ForeignReader {
  readonly #runId = crypto.randomUUID()
  #agent: HttpAgent
  #model = ''

  constructor(url: string) {
    this.#agent = this.#open(url, '')
  }

  ask(model: string) {
    this.#model = model
    this.#agent = this.#open(this.#url, model)
    return this.#read(model === 'crew' ? { runId: this.#runId } : {})
  }

  answer() {
    const call = this.#agent.messages.flatMap((message) =>
      message.role === 'assistant' ? (message.toolCalls ?? []) : [],
    )[0]
    const toolCallId = call?.id ?? ''
    this.#agent.addMessage({ id: crypto.randomUUID(), role: 'tool', toolCallId, content: RESULT })
    return this.#read({})
  }

  approve() {
    const resume = this.#agent.pendingInterrupts.map(({ id: interruptId }) => ({
      interruptId,
      status: 'resolved' as const,
      payload: { approved: true },
    }))
    return this.#read({ resume })
  }

  join() {
    return this.#read({ runId: this.#runId })
  }

  #url = ''

  move(url: string) {
    this.#url = url
    this.#agent.url = `${url}/agui/${this.#model}`
  }

  #open(url: string, model: string): HttpAgent {
    this.#url = url
    return new HttpAgent({
      url: `${url}/agui/${model}`,
      initialMessages: [{ id: 'question', role: 'user', content: 'tea' }],
      fetch: fetchUntilLost,
    })
  }

  async #read(parameters: RunAgentParameters) {
    let last: string | undefined
    const weather = { name: 'weather', description: 'Returns the weather', parameters: PARAMETERS }
    const offered = this.#model === 'caller' ? { tools: [weather] } : {}
    await this.#agent.runAgent(
      { ...parameters, ...offered },
      {
        onRunFinishedEvent: ({ event: { outcome, metadata } }) => {
          last = joinParts('RUN_FINISHED', outcome?.type, Object.values(metadata ?? {}).join())
        },
        onRunErrorEvent: ({ event: { code } }) => {
          last = joinParts('RUN_ERROR', code)
        },
      },
    )
    const reasons = this.#agent.messages.some(({ role }) => role === 'reasoning')
    return joinParts(last ?? 'AbortError', reasons ? 'reasoning' : '')
  }
}

function describeError(error: unknown): string {
  if (!(error instanceof APIError)) return error instanceof Error ? error.name : String(error)
  const { status, code } = error
  return joinParts(error.constructor.name, status === undefined ? '' : String(status), code)
}
