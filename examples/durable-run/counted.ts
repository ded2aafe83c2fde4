/** Keeps count in a file of every model call and tool call, over any number of processes. */
import { appendFileSync, readFileSync } from 'node:fs'
import { once } from 'node:events'

import type { ChatModel } from '@tutti/ensemble'

/** In the working directory of the server. */
const FILE = 'calls.log'

/** Writes a line into the file. */
export function note(line: string): void {
  appendFileSync(FILE, `${line}\n`)
}

/**
 * The same model, with a line when it is asked and one when it has answered. One that hangs says one word
 * the first time it is asked in all, and then nothing more: time to kill the server.
 */
export function counted(
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
      note(`asked     ${call}`)
      if (hangs !== undefined && countOf(`asked     ${call}`) === 1) {
        yield { type: 'text', text: 'Twice' }
        await once(options.signal, 'abort')
        options.signal.throwIfAborted()
      }
      for await (const chunk of model.stream(request, options)) {
        if (chunk.type === 'reply') note(`answered  ${call}`)
        yield chunk
      }
    },
  }
}

function countOf(line: string): number {
  return readFileSync(FILE, 'utf8')
    .split('\n')
    .filter((one) => one === line).length
}
