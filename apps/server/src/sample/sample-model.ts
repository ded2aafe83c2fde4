/**
 * The model of the sample ensemble when no provider key is set. It follows the conversation by simple
 * rules: it calls the tools it is given and writes from what they say. It knows nothing else.
 */
import { scriptedModel, type ScriptedReply } from '@tutti/testing'

import type { ChatModel, ModelRequest, ToolMessage } from '@tutti/ensemble'

/** Wait between words, so that a person can watch them come: about as fast as a real model. */
const WORD_DELAY_MS = 15

/** Findings in the notes of the researcher, at most. */
const MAX_FINDINGS = 6

/** Points in the brief of the writer, at most. */
const MAX_POINTS = 5

/** Makes the model; `delayMs` is the wait between words. */
export function sampleModel({ delayMs = WORD_DELAY_MS } = {}): ChatModel {
  const price = { inputPerMillion: 0, outputPerMillion: 0 }
  const options = { provider: 'tutti', name: 'sample', price, delayMs, maxRequests: 0 }
  return scriptedModel(
    (request) => (hasTool(request, 'search_library') ? research(request) : write(request)),
    options,
  )
}

function research(request: ModelRequest): ScriptedReply {
  const topic = topicOf(request, /research (.+?) in the library/i)
  const found = resultsOf(request, 'search_library').at(-1)
  const articles = resultsOf(request, 'read_article')
  if (found === undefined) {
    return {
      text: `Let me see what the library has on ${topic}.`,
      toolCalls: [{ name: 'search_library', arguments: { query: topic, limit: 3 } }],
    }
  }
  const ids = [...found.content.matchAll(/"id":"([^"]+)"/g)].map(([, id = '']) => id)
  if (ids.length === 0) return { text: `- The library holds nothing on ${topic}.` }
  if (articles.length === 0) {
    return {
      text: 'These look right; I will read them.',
      toolCalls: ids.map((id) => ({ name: 'read_article', arguments: { id } })),
    }
  }
  const findings = articles.flatMap(({ content }) => sentencesOf(content).slice(0, 2))
  return {
    text: findings
      .slice(0, MAX_FINDINGS)
      .map((finding) => `- ${finding}`)
      .join('\n'),
  }
}

function write(request: ModelRequest): ScriptedReply {
  const topic = topicOf(request, /brief on (.+?) for a reader/i)
  const notes = request.messages.find(({ role }) => role === 'user')?.content ?? ''
  const points = [...new Set(notes.match(/^- .+$/gm))].slice(0, MAX_POINTS)
  const asked = feedbackOf(notes)
  const change = asked === undefined ? [] : ['', `Changed as asked: ${asked}`]
  const draft = [`# ${topic}: a brief`, '', ...points, ...change].join('\n')
  const measured = resultsOf(request, 'measure_text').at(-1)
  if (!hasTool(request, 'measure_text')) return { text: draft }
  if (measured === undefined) {
    return {
      text: 'Here is a draft; let me measure it.',
      toolCalls: [{ name: 'measure_text', arguments: { text: draft } }],
    }
  }
  const [, words = '?'] = /"words":(\d+)/.exec(measured.content) ?? []
  const [, seconds = '?'] = /"readingSeconds":(\d+)/.exec(measured.content) ?? []
  return { text: `${draft}\n\n${words} words, ${seconds} seconds to read.` }
}

/** What a reviewer who sent the last answer back wants. */
function feedbackOf(prompt: string): string | undefined {
  return /sent your last answer back: (.+)/.exec(prompt)?.[1]
}

function hasTool({ tools }: ModelRequest, name: string): boolean {
  return tools.some((tool) => tool.name === name)
}

function resultsOf({ messages }: ModelRequest, toolName: string): readonly ToolMessage[] {
  return messages.filter(
    (message): message is ToolMessage => message.role === 'tool' && message.toolName === toolName,
  )
}

/** The topic in the text of the task, the part after its heading. */
function topicOf({ messages }: ModelRequest, pattern: RegExp): string {
  const prompt = messages.find(({ role }) => role === 'user')?.content ?? ''
  const [, topic = 'the topic'] = pattern.exec(prompt.slice(prompt.lastIndexOf('## Task'))) ?? []
  return topic
}

function sentencesOf(article: string): readonly string[] {
  const [, ...lines] = article.split('\n')
  return (
    lines
      .join(' ')
      .match(/[^.!?]+[.!?]/g)
      ?.map((sentence) => sentence.trim()) ?? []
  )
}
