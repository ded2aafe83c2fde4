/**
 * A model that needs no key: it follows rules. It calls the tools as a real model would and fills in the
 * blanks of a letter, so that runs, events, reviews and the dashboard can be tried. Delete it when you have a real one.
 */
import { scriptedModel, type ScriptedReply } from '@tutti/testing'

import type { ChatModel, ModelRequest } from '@tutti/ensemble'
import type { Order } from './orders.ts'

const FREE = { inputPerMillion: 0, outputPerMillion: 0 }

/** `delayMs` is the wait between words, so that a person can watch them come. */
export function ruleModel({ delayMs = 20 } = {}): ChatModel {
  return scriptedModel(
    (request) => (request.tools.length > 0 ? investigate(request) : reply(request)),
    { provider: 'rules', name: 'no-key', price: FREE, delayMs },
  )
}

function investigate(request: ModelRequest): ScriptedReply {
  const [, email = '', message = ''] = /customer (\S+) wrote: "(.*)"/s.exec(promptOf(request)) ?? []
  const found = resultOf(request, 'find_orders')
  if (found === undefined) {
    return {
      text: `Let me see what ${email} has ordered.`,
      toolCalls: [{ name: 'find_orders', arguments: { email } }],
    }
  }
  const orders: readonly Order[] = JSON.parse(found)
  const order = orders.find(({ item }) => mentions(message, item)) ?? orders[0]
  if (order === undefined) return { text: `- We have no order of ${email}.` }
  const quote = resultOf(request, 'quote_refund')
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
  const prompt = promptOf(request)
  const facts = prompt.match(/(?<=^- ).+$/gm) ?? []
  const [, wish] = /sent your last answer back: (.+)/.exec(prompt) ?? []
  return {
    text: [
      'Hello, and thank you for writing to us.',
      '',
      ...facts,
      ...(wish === undefined ? [] : ['', `(Changed as asked: ${wish})`]),
      '',
      'Your support desk',
    ].join('\n'),
  }
}

function promptOf({ messages }: ModelRequest): string {
  return messages.find(({ role }) => role === 'user')?.content ?? ''
}

/** What a tool answered last. */
function resultOf({ messages }: ModelRequest, toolName: string): string | undefined {
  return messages.findLast((message) => message.role === 'tool' && message.toolName === toolName)
    ?.content
}

function mentions(message: string, item: string): boolean {
  return item.split(' ').some((word) => message.toLowerCase().includes(word.toLowerCase()))
}
