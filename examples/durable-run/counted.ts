/** Records every model call and tool call in a file, for any number of processes. */
import { appendFileSync, readFileSync } from 'node:fs'
import { once } from 'node:events'

import type { ChatModel } from '@tutti/ensemble/adapter'

/** File name in the server's working directory. */
const FILE = 'calls.log'

/** Appends a line to the file. */
export function record(line: string): void {
  appendFileSync(FILE, `${line}\n`)
}

/**
 * Wraps a model to record a line when a call starts and when it completes. With `hangs`, the first call of all streams
 * one word and then hangs, so that the server can be killed.
 */
export function recordCalls(
  name: string,
  model: ChatModel,
  { hangs }: { readonly hangs?: 'the first time' } = {},
): ChatModel {
  return {
    provider: model.provider,
    name: model.name,
    async *stream(request, options) {
      const turn = request.messages.filter(({ role }) => role === 'assistant').length + 1
      const call = `model ${name} ${turn}`
      record(`started   ${call}`)
      if (hangs !== undefined && countLines(`started   ${call}`) === 1) {
        yield { type: 'text', text: 'Twice' }
        await once(options.signal, 'abort')
        options.signal.throwIfAborted()
      }
      for await (const chunk of model.stream(request, options)) {
        if (chunk.type === 'reply') record(`completed ${call}`)
        yield chunk
      }
    },
  }
}

function countLines(line: string): number {
  return readFileSync(FILE, 'utf8')
    .split('\n')
    .filter((one) => one === line).length
}
