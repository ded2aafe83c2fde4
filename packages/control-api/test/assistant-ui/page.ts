/** A chat of assistant-ui over the AI SDK, for a browser. It stores its messages for the time after a reload. */
import { useChat } from '@ai-sdk/react'
import {
  AssistantRuntimeProvider,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
  type TextMessagePartProps,
  type ToolCallMessagePartProps,
} from '@assistant-ui/react'
import { useAISDKRuntime } from '@assistant-ui/react-ai-sdk'
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'
import { createElement as h, useEffect, type ReactNode } from 'react'
import { createRoot } from 'react-dom/client'

const CHAT = 'assistant-ui'

function Chat(): ReactNode {
  const chat = useChat({
    id: CHAT,
    messages: JSON.parse(sessionStorage.getItem(CHAT) ?? '[]'),
    resume: true,
    transport: new DefaultChatTransport({ api: '/api/chat', body: { model: 'player' } }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  })
  useEffect(() => sessionStorage.setItem(CHAT, JSON.stringify(chat.messages)), [chat.messages])
  const runtime = useAISDKRuntime(chat)
  return h(
    AssistantRuntimeProvider,
    { runtime },
    h(
      ThreadPrimitive.Root,
      null,
      h(ThreadPrimitive.Messages, { components: { Message } }),
      h(
        ComposerPrimitive.Root,
        null,
        h(ComposerPrimitive.Input, { 'aria-label': 'Message' }),
        h(ComposerPrimitive.Send, null, 'Send'),
      ),
    ),
    h('output', null, chat.error?.message ?? chat.status),
  )
}

function Message(): ReactNode {
  const parts = h(MessagePrimitive.Parts, { components: { Text, tools: { Fallback: ToolCall } } })
  return h(MessagePrimitive.Root, { role: 'article' }, parts)
}

function Text({ text }: TextMessagePartProps): ReactNode {
  return h('p', null, text)
}

function ToolCall(part: ToolCallMessagePartProps): ReactNode {
  const { toolName, argsText, result, approval, respondToApproval } = part
  const isAsked = result === undefined && approval !== undefined && approval.approved === undefined
  return h(
    'p',
    null,
    `${toolName} ${argsText} ${result === undefined ? 'runs' : JSON.stringify(result)}`,
    isAsked &&
      h('button', { onClick: () => void respondToApproval({ approved: true }) }, 'Approve'),
  )
}

const main = document.querySelector('main')
if (main !== null) createRoot(main).render(h(Chat))
