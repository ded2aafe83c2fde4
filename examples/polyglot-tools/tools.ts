/** The tools of this example: Python programs, a Node program that is started once, and an HTTP service. */
import { fileURLToPath } from 'node:url'

import { Type } from '@tutti/core'
import { httpTool, processTool } from '@tutti/remote-tools'

/** A Python program that is started for each call. */
export const sentiment = processTool({
  name: 'sentiment',
  description: 'Counts which reviews are positive and which are negative',
  input: Type.Object({ reviews: Type.Array(Type.String()) }),
  output: Type.Object({ positive: Type.Integer(), negative: Type.Integer() }),
  command: 'python3',
  args: [toPath('sentiment.py')],
})

/** A Node program that is started once and answers many calls. */
export const countWords = processTool({
  name: 'count_words',
  description: 'Counts the words of a text',
  input: Type.Object({ text: Type.String() }),
  output: Type.Object({ words: Type.Integer(), calls: Type.Integer() }),
  command: process.execPath,
  args: [toPath('count-words.ts')],
  mode: 'worker',
})

/** Creates a tool for an operation of an HTTP service. An address that the author writes is trusted, also on this machine. */
export function createReviewsTool(service: string) {
  return httpTool({
    name: 'reviews_of',
    description: 'Gets the reviews of a product',
    method: 'GET',
    url: `${service}/reviews/{product}`,
    input: Type.Object({ product: Type.String() }),
    output: Type.Object({ product: Type.String(), reviews: Type.Array(Type.String()) }),
  })
}

/**
 * Creates a tool that reads any page. The model chooses the address, so a guard restricts it to this service and the public web.
 */
export function createPageTool(service: string) {
  return httpTool({
    name: 'read_page',
    description: 'Reads the page at an address',
    method: 'GET',
    url: '{page}',
    input: Type.Object({ page: Type.String() }),
    guard: { allow: [new URL(service).host] },
  })
}

/** Creates a tool that runs far too long, like the helper process that it starts. */
export function createSlowTool(service: string) {
  return processTool({
    name: 'slow',
    description: 'Takes ten minutes',
    input: Type.Object({}),
    command: 'python3',
    args: [toPath('slow.py')],
    env: { SERVICE: service },
    timeoutMs: 900_000,
  })
}

function toPath(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url))
}
