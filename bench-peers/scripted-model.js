/** A model of the AI SDK that answers immediately and records nothing. */
import { answerTo, ARGUMENTS, splitWords, TOOL } from '../tooling/bench/lib/story.ts'

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

/**
 * Creates the model, in version 3 of the interface of models, which `ai` 6 and Mastra take. `answer` returns the text
 * for a prompt; undefined for a call of the tool.
 */
export function scriptedModel(answer = answerOrder) {
  return {
    specificationVersion: 'v3',
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: {},
    async doGenerate({ prompt }) {
      const text = answer(prompt)
      const content = [text === undefined ? toolCall() : { type: 'text', text }]
      return { content, finishReason: finishReason(text), usage: USAGE, warnings: [] }
    },
    async doStream({ prompt }) {
      return { stream: ReadableStream.from(partsOf(answer(prompt))) }
    },
  }
}

/** Calls the tool, then repeats its output. */
function answerOrder(prompt) {
  const last = prompt.at(-1)
  return last?.role === 'tool' ? answerTo(String(last.content[0].output.value)) : undefined
}

function partsOf(text) {
  const finish = { type: 'finish', finishReason: finishReason(text), usage: USAGE }
  const start = { type: 'stream-start', warnings: [] }
  if (text === undefined) return [start, toolCall(), finish]
  return [
    start,
    { type: 'text-start', id: 'text' },
    ...splitWords(text).map((delta) => ({ type: 'text-delta', id: 'text', delta })),
    { type: 'text-end', id: 'text' },
    finish,
  ]
}

function toolCall() {
  return { type: 'tool-call', toolCallId: 'call', toolName: TOOL.name, input: ARGUMENTS }
}

function finishReason(text) {
  const unified = text === undefined ? 'tool-calls' : 'stop'
  return { unified, raw: unified }
}
