/** The tools of this example: a Python program, a Node program that stays, an HTTP service. */
import { fileURLToPath } from 'node:url'

import { Type } from '@tutti/core'
import { httpTool, processTool } from '@tutti/remote-tools'

/** A Python process, started anew for each call. */
export const sentiment = processTool({
  name: 'sentiment',
  description: 'Counts which reviews are positive and which are negative',
  input: Type.Object({ reviews: Type.Array(Type.String()) }),
  output: Type.Object({ positive: Type.Integer(), negative: Type.Integer() }),
  command: 'python3',
  args: [pathOf('sentiment.py')],
})

/** A Node process that is started once and answers many calls. */
export const countWords = processTool({
  name: 'count_words',
  description: 'Counts the words of a text',
  input: Type.Object({ text: Type.String() }),
  output: Type.Object({ words: Type.Integer(), calls: Type.Integer() }),
  command: process.execPath,
  args: [pathOf('count-words.ts')],
  mode: 'worker',
})

/** An operation of an HTTP service. What the author wrote as its address is trusted, also on this machine. */
export function reviewsOf(service: string) {
  return httpTool({
    name: 'reviews_of',
    description: 'Gets the reviews of a product',
    method: 'GET',
    url: `${service}/reviews/{product}`,
    input: Type.Object({ product: Type.String() }),
    output: Type.Object({ product: Type.String(), reviews: Type.Array(Type.String()) }),
  })
}

/** Any page. The model says where the request goes, so a guard says where it may: this service, and the public web. */
export function readPage(service: string) {
  return httpTool({
    name: 'read_page',
    description: 'Reads the page at an address',
    method: 'GET',
    url: '{page}',
    input: Type.Object({ page: Type.String() }),
    guard: { allow: [new URL(service).host] },
  })
}

/** A Python process that takes far too long, and has a helper that does so too. */
export function slow(service: string) {
  return processTool({
    name: 'slow',
    description: 'Takes ten minutes',
    input: Type.Object({}),
    command: 'python3',
    args: [pathOf('slow.py')],
    env: { SERVICE: service },
    timeoutMs: 900_000,
  })
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url))
}
