/**
 * A model that needs no key because it follows rules. It calls the tools as a real model would and fills in a letter, so
 * that you can try runs, events, reviews and the dashboard. Delete it when you use a real model.
 */
import { scriptedModel, type ScriptedReply } from '@tutti/testing'

import type { ChatModel, ModelRequest } from '@tutti/ensemble/adapter'
import type { Order } from './orders.ts'

const FREE = { inputPerMillion: 0, outputPerMillion: 0 }

/** Creates the model; `delayMs` is the delay between words, so that you can watch the text arrive. */
export function ruleModel({ delayMs = 20 } = {}): ChatModel {
  return scriptedModel(
    (request) => (request.tools.length > 0 ? investigate(request) : reply(request)),
    { provider: 'rules', name: 'no-key', price: FREE, delayMs },
  )
}

function investigate(request: ModelRequest): ScriptedReply {
  const [, email = '', message = ''] =
    /customer (\S+) wrote: "(.*)"/s.exec(findPrompt(request)) ?? []
  const found = findResult(request, 'find_orders')
  if (found === undefined) {
    return {
      text: `Let me look up the orders of ${email}.`,
      toolCalls: [{ name: 'find_orders', arguments: { email } }],
    }
  }
  const orders: readonly Order[] = JSON.parse(found)
  const order = orders.find(({ item }) => mentions(message, item)) ?? orders[0]
  if (order === undefined) return { text: `- We have no order of ${email}.` }
  const quote = findResult(request, 'quote_refund')
  if (quote === undefined) {
    return {
      text: `This is about the ${order.item.toLowerCase()}. What do our terms say?`,
      toolCalls: [{ name: 'quote_refund', arguments: { orderId: order.id } }],
    }
  }
  const { refundUsd, reason } = JSON.parse(quote)
  return {
    text: [
      `- Order ${order.id}: ${order.item}, delivered ${order.deliveredDaysAgo} days ago.`,
      `- We offer ${refundUsd} USD.`,
      `- ${reason}`,
    ].join('\n'),
  }
}

function reply(request: ModelRequest): ScriptedReply {
  const prompt = findPrompt(request)
  const findings = prompt.match(/(?<=^- ).+$/gm) ?? []
  const [, feedback] = /sent your last answer back: (.+)/.exec(prompt) ?? []
  return {
    text: [
      'Hello, and thank you for writing to us.',
      '',
      ...findings,
      ...(feedback === undefined ? [] : ['', `(Changed as requested: ${feedback})`]),
      '',
      'Your support desk',
    ].join('\n'),
  }
}

function findPrompt({ messages }: ModelRequest): string {
  return messages.find(({ role }) => role === 'user')?.content ?? ''
}

/** Returns the last result of a tool. */
function findResult({ messages }: ModelRequest, toolName: string): string | undefined {
  return messages.findLast((message) => message.role === 'tool' && message.toolName === toolName)
    ?.content
}

function mentions(message: string, item: string): boolean {
  return item.split(' ').some((word) => message.toLowerCase().includes(word.toLowerCase()))
}
