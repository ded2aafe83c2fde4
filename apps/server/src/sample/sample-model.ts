/**
 * The model of the sample ensembles when no provider key is set. It follows the conversation by simple rules: it hands off once
 * if it can, calls its tools, and writes from their results.
 */
import { scriptedModel, type ScriptedReply } from '@tutti/testing'

import type { ChatModel, ModelRequest } from '@tutti/ensemble/adapter'
import type { ToolMessage } from '@tutti/ensemble/internal'

/** Delay between words, in milliseconds: about as fast as a real model, so that people can watch. */
const WORD_DELAY_MS = 15

/** Maximum number of findings in the notes of the researcher. */
const MAX_FINDINGS = 6

/** Maximum number of points in the brief of the writer. */
const MAX_POINTS = 5

/** Creates the model; `delayMs` is the delay between words. */
export function sampleModel({ delayMs = WORD_DELAY_MS } = {}): ChatModel {
  const price = { inputPerMillion: 0, outputPerMillion: 0 }
  const options = { provider: 'tutti', name: 'sample', price, delayMs, maxRequests: 0 }
  return scriptedModel(
    (request) =>
      handOff(request) ?? (hasTool(request, 'search_library') ? research(request) : write(request)),
    options,
  )
}

/** Hands the conversation off once, to the first agent that has a default tool name. */
function handOff({ tools, messages }: ModelRequest): ScriptedReply | undefined {
  const isHandoff = (name: string): boolean => name.startsWith('transfer_to_')
  const next = tools.find(({ name }) => isHandoff(name))
  const isDone = messages.some((message) => message.role === 'tool' && isHandoff(message.toolName))
  return next === undefined || isDone
    ? undefined
    : { toolCalls: [{ name: next.name, arguments: {} }] }
}

function research(request: ModelRequest): ScriptedReply {
  const topic = findTopic(request, /research (.+?) in the library/i)
  const found = listResults(request, 'search_library').at(-1)
  const articles = listResults(request, 'read_article')
  if (found === undefined) {
    return {
      text: `Let me search the library for ${topic}.`,
      toolCalls: [{ name: 'search_library', arguments: { query: topic, limit: 3 } }],
    }
  }
  const ids = [...found.content.matchAll(/"id":"([^"]+)"/g)].map(([, id = '']) => id)
  if (ids.length === 0) return { text: `- The library has nothing on ${topic}.` }
  if (articles.length === 0) {
    return {
      text: 'These look relevant. I will read them.',
      toolCalls: ids.map((id) => ({ name: 'read_article', arguments: { id } })),
    }
  }
  const findings = articles.flatMap(({ content }) => listSentences(content).slice(0, 2))
  return {
    text: findings
      .slice(0, MAX_FINDINGS)
      .map((finding) => `- ${finding}`)
      .join('\n'),
  }
}

function write(request: ModelRequest): ScriptedReply {
  const topic = findTopic(request, /brief on (.+?) for a reader/i)
  const notes = request.messages.find(({ role }) => role === 'user')?.content ?? ''
  const points = [...new Set(notes.match(/^- .+$/gm))].slice(0, MAX_POINTS)
  const feedback = findFeedback(notes)
  const change = feedback === undefined ? [] : ['', `Changed as requested: ${feedback}`]
  const draft = [`# ${topic}: a brief`, '', ...points, ...change].join('\n')
  const measured = listResults(request, 'measure_text').at(-1)
  if (!hasTool(request, 'measure_text')) return { text: draft }
  if (measured === undefined) {
    return {
      text: 'Here is a draft. Let me measure it.',
      toolCalls: [{ name: 'measure_text', arguments: { text: draft } }],
    }
  }
  const [, words = '?'] = /"words":(\d+)/.exec(measured.content) ?? []
  const [, seconds = '?'] = /"readingSeconds":(\d+)/.exec(measured.content) ?? []
  return { text: `${draft}\n\n${words} words, ${seconds} seconds to read.` }
}

/** Returns the feedback of a reviewer who sent the last answer back. */
function findFeedback(prompt: string): string | undefined {
  return /sent your last answer back: (.+)/.exec(prompt)?.[1]
}

function hasTool({ tools }: ModelRequest, name: string): boolean {
  return tools.some((tool) => tool.name === name)
}

function listResults({ messages }: ModelRequest, toolName: string): readonly ToolMessage[] {
  return messages.filter(
    (message): message is ToolMessage => message.role === 'tool' && message.toolName === toolName,
  )
}

/** Finds the topic in the text of the task, after its heading. */
function findTopic({ messages }: ModelRequest, pattern: RegExp): string {
  const prompt = messages.find(({ role }) => role === 'user')?.content ?? ''
  const [, topic = 'the topic'] = pattern.exec(prompt.slice(prompt.lastIndexOf('## Task'))) ?? []
  return topic
}

function listSentences(article: string): readonly string[] {
  const [, ...lines] = article.split('\n')
  return (
    lines
      .join(' ')
      .match(/[^.!?]+[.!?]/g)
      ?.map((sentence) => sentence.trim()) ?? []
  )
}
