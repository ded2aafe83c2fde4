/** Asks the server whether it takes a key, before the key is kept. */
import { createClient } from '@tutti/client'

import { failureCode, failureText } from './failure.ts'

/** Whoever waits for an answer to a key looks at the page. */
const TIMEOUT_MS = 10_000

/** What the server says to a key; `text` is for the reader. */
export type KeyTrial =
  | { readonly answer: 'taken' }
  | { readonly answer: 'refused' | 'away'; readonly text: string }

/** Tries a key. It goes in a header, as every later one does. */
export async function tryKey(key: string): Promise<KeyTrial> {
  if (!/^[\x21-\x7e]+$/.test(key)) {
    return { answer: 'refused', text: 'A key has letters, digits and signs only, and no spaces.' }
  }
  const client = createClient({ baseUrl: './', apiKey: key, timeoutMs: TIMEOUT_MS, maxRepeats: 0 })
  try {
    await client.status()
    return { answer: 'taken' }
  } catch (error) {
    return trialOf(error)
  }
}

function trialOf(error: unknown): KeyTrial {
  switch (failureCode(error)) {
    case 'UNAUTHORIZED':
      return { answer: 'refused', text: `The server refused this key: ${failureText(error)}` }
    case 'FORBIDDEN':
      return {
        answer: 'refused',
        text: 'The server knows this key, but it may not read runs (scope "runs:read").',
      }
    case 'CONNECTION_FAILED':
    case 'TIMED_OUT':
      return { answer: 'away', text: 'The server does not answer. The key was not tried.' }
    default:
      return { answer: 'away', text: `The key could not be tried: ${failureText(error)}` }
  }
}
