/** Clients of foreign chat APIs for tests. */
import {
  AbstractChat,
  DefaultChatTransport,
  type ChatInit,
  type ChatState,
  type UIMessage,
} from 'ai'
import OpenAI from 'openai'

/** State of a chat outside of React. */
class PlainState implements ChatState<UIMessage> {
  status: ChatState<UIMessage>['status'] = 'ready'
  error: Error | undefined
  messages: UIMessage[]

  constructor(messages: UIMessage[]) {
    this.messages = messages
  }

  pushMessage = (message: UIMessage): void => {
    this.messages = [...this.messages, message]
  }

  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1)
  }

  replaceMessage = (index: number, message: UIMessage): void => {
    this.messages = this.messages.with(index, structuredClone(message))
  }

  snapshot = <T>(thing: T): T => structuredClone(thing)
}

/** A chat of the AI SDK as `useChat` has it, without React. */
export class PlainChat extends AbstractChat<UIMessage> {
  constructor({ messages = [], ...init }: ChatInit<UIMessage>) {
    super({ ...init, state: new PlainState(messages) })
  }
}

/** Settings of a chat in addition to those of the AI SDK. */
export interface PlainChatSettings extends Omit<ChatInit<UIMessage>, 'transport'> {
  readonly model: string
  /** Tools of the client. @default none */
  readonly tools?: readonly object[]
}

/** Opens a chat with the server at a URL. */
export function openPlainChat(
  url: string,
  { model, tools = [], ...init }: PlainChatSettings,
): PlainChat {
  const transport = new DefaultChatTransport<UIMessage>({
    api: `${url}/api/chat`,
    body: { model, ...(tools.length === 0 ? {} : { tools }) },
  })
  return new PlainChat({ ...init, transport })
}

/** Opens a client of OpenAI's API that repeats no request. */
export function openAiClient(url: string): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 })
}
