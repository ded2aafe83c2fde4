/** A chat with `useChat`. The server streams, resumes and cancels; the page stores what the user sees. */
import { useChat } from '@ai-sdk/react'
import {
  DefaultChatTransport,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai'
import { createElement as h, useEffect, useState, type ReactNode } from 'react'
import { createRoot } from 'react-dom/client'

const API = '/api/chat'
const CHAT = sessionStorage.getItem('chat') ?? crypto.randomUUID()
sessionStorage.setItem('chat', CHAT)

function Chat(): ReactNode {
  const [text, setText] = useState('')
  const { messages, status, error, sendMessage, stop, addToolApprovalResponse } = useChat({
    id: CHAT,
    messages: readMessages(),
    // Joins the stream of the newest message after a reload.
    resume: true,
    transport: new DefaultChatTransport({ api: API, body: { model: 'teacher' } }),
    // Sends approvals as soon as all are answered.
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  })
  useEffect(() => sessionStorage.setItem('messages', JSON.stringify(messages)), [messages])

  const cancel = async (): Promise<void> => {
    // `stop` only closes the connection, as a reload does. This request cancels the run.
    await fetch(`${API}/${CHAT}/stop`, { method: 'POST' })
    await stop()
  }
  const send = (): void => {
    void sendMessage({ text })
    setText('')
  }
  return h(
    'div',
    null,
    ...messages.map((message) => h(Message, { key: message.id, message, addToolApprovalResponse })),
    h('input', {
      'aria-label': 'Question',
      value: text,
      onChange: ({ target }: { target: HTMLInputElement }) => setText(target.value),
    }),
    h('button', { onClick: send, disabled: status !== 'ready' }, 'Send'),
    h('button', { onClick: () => void cancel() }, 'Stop'),
    h('output', null, error?.message ?? status),
  )
}

interface MessageProps {
  readonly message: UIMessage
  readonly addToolApprovalResponse: (answer: { id: string; approved: boolean }) => unknown
}

function Message({ message, addToolApprovalResponse }: MessageProps): ReactNode {
  const parts = message.parts.map((part, index) => {
    if (part.type === 'text') return h('p', { key: index }, part.text)
    if (part.type === 'reasoning') {
      return h('details', { key: index }, h('summary', null, 'Reasoning'), part.text)
    }
    if (!isToolUIPart(part)) return null
    const label = `${part.type} ${part.state}`
    if (part.state !== 'approval-requested') return h('p', { key: index }, label)
    const { id } = part.approval
    const answer = (approved: boolean) => () => void addToolApprovalResponse({ id, approved })
    return h(
      'p',
      { key: index },
      label,
      h('button', { onClick: answer(true) }, 'Approve'),
      h('button', { onClick: answer(false) }, 'Deny'),
    )
  })
  return h('section', { 'aria-label': message.role }, ...parts)
}

function readMessages(): UIMessage[] {
  return JSON.parse(sessionStorage.getItem('messages') ?? '[]')
}

const main = document.querySelector('main')
if (main !== null) createRoot(main).render(h(Chat))
