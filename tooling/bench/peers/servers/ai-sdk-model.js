/** A model of the AI SDK that asks for the tool and then answers at once. It keeps nothing. */
import { answerPieces, INPUT, TOOL } from './story.js'

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

/** Makes the model, in the version 3 of the model interface that `ai` 6 and Mastra take. */
export function scriptedModel() {
  return {
    specificationVersion: 'v3',
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: {},
    async doGenerate({ prompt }) {
      const output = outputIn(prompt)
      const content =
        output === undefined
          ? [toolCall()]
          : [{ type: 'text', text: answerPieces(output).join('') }]
      return { content, finishReason: finishReason(output), usage: USAGE, warnings: [] }
    },
    async doStream({ prompt }) {
      const parts = partsOf(outputIn(prompt))
      const stream = new ReadableStream({
        start(controller) {
          for (const part of parts) controller.enqueue(part)
          controller.close()
        },
      })
      return { stream }
    },
  }
}

/** What the tool gave, once it was called. */
function outputIn(prompt) {
  const last = prompt.at(-1)
  return last?.role === 'tool' ? String(last.content[0].output.value) : undefined
}

function partsOf(output) {
  const finish = { type: 'finish', finishReason: finishReason(output), usage: USAGE }
  const start = { type: 'stream-start', warnings: [] }
  if (output === undefined) return [start, toolCall(), finish]
  return [
    start,
    { type: 'text-start', id: 'text' },
    ...answerPieces(output).map((delta) => ({ type: 'text-delta', id: 'text', delta })),
    { type: 'text-end', id: 'text' },
    finish,
  ]
}

function toolCall() {
  const input = JSON.stringify(INPUT)
  return { type: 'tool-call', toolCallId: 'call', toolName: TOOL.name, input }
}

function finishReason(output) {
  const unified = output === undefined ? 'tool-calls' : 'stop'
  return { unified, raw: unified }
}
